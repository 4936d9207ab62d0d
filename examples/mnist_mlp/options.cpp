#include "options.h"

#include <cstdlib>

#include <halfgrad/core/thread_pool.h>
#include <CLI/CLI.hpp>

namespace hg = halfgrad;

namespace {

hg::Device choose_device(const std::string& name) {
  if (name == "cpu" || (name == "auto" && !hg::cuda::is_available())) return hg::kCPU;
  if (!hg::cuda::is_available())
    throw CLI::ValidationError(
        "--device cuda: this build or this machine has no CUDA; use "
        "--device cpu");
  return hg::kCUDA;
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const Precision& precision : kPrecisions) names.emplace_back(precision.name);
  names.emplace_back("all");
  return names;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  std::string precision = "all", device = "auto";
  int threads = hg::get_num_threads();
  CLI::App app(
      "Trains a multilayer perceptron on handwritten digits in several precisions, side by side, "
      "and then one whose gradients underflow in fp16.");
  app.option_defaults()->always_capture_default();
  app.add_option("--task", options.task, "What to train on")
      ->check(CLI::IsMember({"digits", "underflow", "all"}));
  app.add_option("--precision", precision, "How to train")->check(CLI::IsMember(precision_names()));
  app.add_option("--steps", options.steps, "End each training after so many steps")
      ->check(CLI::PositiveNumber)
      ->always_capture_default(false);
  app.add_option("--device", device, "Where to compute")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  app.add_option("--threads", threads, "Threads on the CPU")->check(CLI::Range(1, 1024));
  app.add_option("--seed", options.seed, "Of weights and order");
  app.add_option("--json", options.json, "Write the results to this file, too")
      ->type_name("FILE")
      ->always_capture_default(false);

  const std::string digits = "Digits task";
  app.add_option("--data", options.data,
                 "Folder of MNIST's IDX files, gzipped or not, instead of digits drawn in code")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR")
      ->always_capture_default(false)
      ->group(digits);
  app.add_option("--hidden", options.hidden, "Sizes of the hidden layers")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->group(digits);
  app.add_option("--epochs", options.epochs)->check(CLI::PositiveNumber)->group(digits);
  app.add_option("--batch", options.batch, "Images in a batch")
      ->check(CLI::PositiveNumber)
      ->group(digits);
  app.add_option("--lr", options.lr, "Learning rate")->check(CLI::PositiveNumber)->group(digits);
  app.add_option("--optimizer", options.optimizer)
      ->check(CLI::IsMember({"sgd", "adam", "adamw"}))
      ->group(digits);
  app.add_option("--seeds", options.seeds, "Train with so many seeds and report means")
      ->check(CLI::Range(1, 1000))
      ->group(digits);

  try {
    app.parse(argc, argv);
    options.device = choose_device(device);
    const auto folder = options.json.parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      throw CLI::ValidationError("--json: create the folder " + folder.string() + " first");
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  for (const Precision& known : kPrecisions)
    if (precision == known.name || precision == "all") options.precisions.push_back(known);
  hg::set_num_threads(threads);
  return options;
}
