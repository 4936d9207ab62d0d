#include "options.h"

#include <map>

#include <fmt/core.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/option_checks.h>
#include <halfgrad/programs/record_options.h>
#include <halfgrad/programs/suggestion.h>

namespace hg = halfgrad;

namespace {

hg::Device choose_device(const std::string& name) {
  if (name == "cpu" || (name == "auto" && !hg::cuda::is_available())) return hg::kCPU;
  if (!hg::cuda::is_available())
    throw CLI::ValidationError(
        "--device cuda: this build or this machine has no CUDA; use --device cpu");
  return hg::kCUDA;
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const Precision& precision : kPrecisions) names.emplace_back(precision.name);
  names.emplace_back("all");
  return names;
}

// Parses a list. CLI11's own lists silently skip empty items between two commas.
std::vector<std::int64_t> layer_sizes(const std::string& text) {
  constexpr std::int64_t kLargest = 1 << 20;
  std::vector<std::int64_t> sizes;
  for (const std::string& item : CLI::detail::split(text + ',', ',')) {
    std::int64_t size = 0;
    if (!CLI::detail::lexical_cast(item, size) || size < 1 || size > kLargest) {
      throw CLI::ValidationError(
          fmt::format("--hidden: expected sizes in [1, {}], got \"{}\"", kLargest, item));
    }
    sizes.push_back(size);
  }
  return sizes;
}

InitScale init_scale(const std::string& text) {
  if (text == "recommended" || text == "auto") return {.is_recommended = true};
  if (checks::positive(text).empty()) return {.value = checks::number(text)};
  throw CLI::ValidationError("--init-scale: expected a finite number above 0 or recommended, got " +
                             text + programs::did_you_mean(text, {"recommended"}));
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  std::string precision = "all", device = "auto";
  int threads = hg::get_num_threads();
  options.command.assign(argv, argv + argc);
  programs::CommandLine app(
      "mnist_mlp",
      "Trains a multilayer perceptron on handwritten digits in several precisions, side by side, "
      "and then a network whose gradients underflow in fp16.");
  const auto one_of = [](const std::vector<std::string>& names, const std::string& chosen) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : "|") + name;
    return text + " [" + chosen + "]";
  };
  const auto add_choice = [&](const std::string& name, std::string& chosen,
                              const std::vector<std::string>& names, const std::string& meaning,
                              const std::map<std::string, std::string>& aliases = {}) {
    return app.add_option(name, chosen, meaning)
        ->transform(programs::one_of(names, aliases))
        ->option_text(one_of(names, chosen));
  };
  CLI::Option* const task =
      add_choice("--task", options.task, {"digits", "underflow", "all"}, "Task to train on");
  CLI::Option* const chosen_precision =
      add_choice("--precision", precision, precision_names(),
                 "Precision to train in; fp16, bf16: autocast, fp16 with a GradScaler; "
                 "fp16-noscale: fp16 without one; fp16-pure: weights in fp16; fp16-masters: "
                 "weights in fp16 with fp32 masters",
                 programs::precision_aliases());
  add_choice("--device", device, {"auto", "cpu", "cuda"}, "Device to compute on");
  app.add_option("--threads", threads, "Threads on the CPU")
      ->check(CLI::Range(1, 1024))
      ->option_text(fmt::format("N [{}]", threads));
  app.add_option("--steps", options.steps, "End each training after N steps")
      ->check(checks::positive)
      ->option_text("N");
  app.add_option("--seed", options.seed, "Seed of the weights and of the order of samples")
      ->check(checks::seed)
      ->option_text("N [0]");
  app.add_option_function<std::string>(
         "--init-scale", [&](const std::string& text) { options.init_scale = init_scale(text); },
         "First loss scale of fp16 and fp16-masters; recommended: the largest power of two that "
         "the gradients of the first batches allow")
      ->option_text("X|recommended [65536]");
  app.add_option("--json", options.json, "Also write the results to this file")
      ->check(checks::writable)
      ->option_text("FILE");
  const programs::TraceOptions traces(app);
  CLI::Option* const report =
      programs::add_report(app, options.report, "Also write a page with charts to this file");
  app.add_option("--launches", options.launches,
                 "Show in the report the launches that halfgrad-emulate --json counted")
      ->check(CLI::ExistingFile)
      ->needs(report)
      ->option_text("FILE.json");

  const std::string digits = "Digits task";
  app.add_option("--data", options.data,
                 "Folder of MNIST's IDX files, plain or .gz; default: synthetic digits")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR")
      ->group(digits);
  app.add_option_function<std::string>(
         "--hidden", [&](const std::string& text) { options.hidden = layer_sizes(text); },
         "Sizes of the hidden layers")
      ->option_text("N,... [512,512]")
      ->group(digits);
  app.add_option("--epochs", options.epochs, "Passes over the training images")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text(fmt::format("N [{}]", options.epochs))
      ->group(digits);
  app.add_option("--batch", options.batch, "Images in a batch")
      ->check(checks::positive)
      ->option_text("N [128]")
      ->group(digits);
  app.add_option("--lr", options.lr, "Learning rate")
      ->check(checks::positive)
      ->option_text("X [1e-3]")
      ->group(digits);
  add_choice("--optimizer", options.optimizer, {"sgd", "adam", "adamw"}, "sgd has momentum 0.9")
      ->group(digits);
  CLI::Option* const save =
      app.add_option("--save", options.save,
                     "Save a checkpoint to this file after each epoch and at the end of --steps")
          ->check(checks::writable)
          ->option_text("FILE")
          ->group(digits);
  app.add_option("--save-every", options.save_every, "Also save it after every N steps")
      ->check(checks::positive)
      ->needs(save)
      ->option_text("N")
      ->group(digits);
  app.add_option("--resume", options.resume,
                 "Continue from this checkpoint, until --epochs in total")
      ->check(CLI::ExistingFile)
      ->option_text("FILE")
      ->group(digits);
  app.add_flag(
         "--graph", options.graph,
         "Capture a whole step in a CUDA graph and replay it; gives the same results, also on "
         "the CPU")
      ->group(digits);
  app.add_flag("--distributed", options.distributed,
               "Train on all ranks of mpirun, each with its part of every batch; in fp16 unless "
               "--precision says otherwise")
      ->group(digits);
  app.add_option("--seeds", options.seeds, "Train with N seeds and report the means")
      ->check(CLI::Range(1, 1000))
      ->option_text("N [1]")
      ->group(digits);

  app.parse_or_exit(argc, argv, [&] {
    options.device = choose_device(device);
    if (options.distributed && task->count() == 0) options.task = "digits";
    if (options.distributed && chosen_precision->count() == 0) precision = "fp16";
    const bool is_one_training =
        options.task == "digits" && precision != "all" && options.seeds == 1;
    if (options.graph && traces.has_trace())
      throw CLI::ValidationError(
          "--trace: expected steps whose ops can be timed, got --graph, which replays them as one");
    if (!(options.save.empty() && options.resume.empty()) && !is_one_training)
      throw CLI::ValidationError(
          "--save and --resume: choose --task digits, one --precision and one seed");
    if (options.distributed && !is_one_training)
      throw CLI::ValidationError(
          "--distributed: choose --task digits, one --precision and one seed");
    const bool wants_more = options.graph || traces.has_trace() || traces.has_tensorboard() ||
                            !options.json.empty() || !options.report.empty() || options.init_scale;
    if (options.distributed && wants_more)
      throw CLI::ValidationError(
          "--distributed: leave out --graph, --json, --report, --trace, --tensorboard and "
          "--init-scale");
    checks::different_files({{"--save", options.save},
                             {"--json", options.json},
                             {"--report", options.report},
                             {"--trace", traces.trace()}});
    checks::different_files({{"--resume", options.resume},
                             {"--launches", options.launches},
                             {"--json", options.json},
                             {"--report", options.report},
                             {"--trace", traces.trace()}});
    for (const Precision& known : kPrecisions)
      if (precision == known.name || precision == "all") options.precisions.push_back(known);
    if (options.init_scale && !options.scales_a_loss())
      throw CLI::ValidationError(
          "--init-scale: expected --precision fp16, fp16-masters or all, got " + precision +
          ", which has no GradScaler");
    if (options.init_scale && !options.resume.empty())
      throw CLI::ValidationError(
          "--init-scale: a checkpoint has its own scale; leave out --resume");
  });
  options.traces = traces.open();
  hg::set_num_threads(threads);
  return options;
}
