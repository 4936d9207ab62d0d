// Trains one MLP in fp32, fp16 without and with a GradScaler, bf16, and with fp16 weights; then a
// network whose gradients underflow in fp16. See --help.
#include <cstdio>
#include <optional>
#include <span>

#include <fmt/core.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/outputs.h>
#include <nlohmann/json.hpp>

#include "mnist_mlp/distributed.h"
#include "mnist_mlp/launches.h"
#include "mnist_mlp/options.h"
#include "mnist_mlp/tasks.h"

namespace {

using nlohmann::ordered_json;

ordered_json number(std::optional<double> value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json to_json(const TrainingReport& report) {
  ordered_json epochs = ordered_json::array();
  for (const EpochReport& epoch : report.epochs)
    epochs.push_back({{"loss", epoch.loss},
                      {"score", epoch.score},
                      {"scale", number(epoch.scale)},
                      {"skipped_steps", epoch.skipped}});
  return {{"precision", report.precision},
          {"seed", report.seed},
          {"test_score", report.test_score},
          {"final_loss", report.last().loss},
          {"init_scale", number(report.init_scale)},
          {"final_scale", number(report.last().scale)},
          {"skipped_steps", report.last().skipped},
          {"median_step_seconds", report.median_step},
          {"peak_memory_bytes", report.peak_bytes},
          {"moved_weights", number(report.moved_weights)},
          {"steps", report.steps},
          {"steps_left", report.steps_left},
          {"epochs", epochs}};
}

ordered_json to_json(const UnderflowReport& report) {
  ordered_json json = to_json(report.training);
  json["flushed_gradients_first_epoch"] = report.first_flushed;
  json["flushed_gradients_last_epoch"] = report.last_flushed;
  return json;
}

template <class Report>
ordered_json to_json(const std::vector<Report>& reports) {
  ordered_json list = ordered_json::array();
  for (const Report& report : reports) list.push_back(to_json(report));
  return list;
}

/// Prints what was saved at an interrupt, and the command that resumes the training.
void explain_interrupt(const Options& options, const std::vector<TrainingReport>& digits) {
  if (options.save.empty() || digits.empty()) {
    fmt::print(stderr,
               "mnist_mlp: interrupted; nothing is saved without --save FILE, which takes --task "
               "digits, one --precision and one seed\n");
    return;
  }
  const TrainingReport& report = digits.back();
  const auto saved = report.saves.saved_step();
  fmt::print(stderr, "mnist_mlp: interrupted after step {}, ", report.steps);
  if (!saved) {
    fmt::print(stderr, "nothing is saved\n");
    return;
  }
  fmt::print(stderr, "{} {}\n", *saved == report.steps ? "saved in" : "an earlier step is in",
             options.save.string());
  const std::int64_t steps_left = report.steps_left + report.steps - *saved;
  if (steps_left == 0) return;
  std::vector<std::string> added{"--resume", options.save.string()};
  if (options.limits_steps()) {
    added.insert(added.end(), {"--steps", std::to_string(steps_left)});
  }
  fmt::print(stderr, "Resume it with\n  {}\n",
             programs::command_again(options.command, {"--resume", "--steps"}, added));
}

int run(const Options& options) {
  programs::remember_interrupts();
  fmt::print("Device: {}, {} threads.\n", options.device.str(), halfgrad::get_num_threads());
  ordered_json results{{"device", options.device.str()}, {"threads", halfgrad::get_num_threads()}};
  std::vector<halfgrad::report::Launches> launches;
  if (!options.launches.empty()) launches = read_launches(options.launches);
  std::optional<halfgrad::RunReport> page;
  if (!options.report.empty()) {
    page.emplace(options.report);
    page->describe("mnist_mlp: one network in several precisions",
                   programs::command_again(options.command, {}, {}));
  }
  halfgrad::RunReport* const record = page ? &*page : nullptr;
  std::vector<TrainingReport> digits;
  if (options.runs("digits")) results["digits"] = to_json(digits = run_digits(options, record));
  if (options.runs("underflow") && !programs::is_interrupted()) {
    if (options.task == "all") fmt::print("\n\n");
    results["underflow"] = to_json(run_underflow(options, record));
  }
  results["interrupted"] = programs::is_interrupted();
  int status = digits.empty() ? 0 : digits.back().saves.conclude();
  if (programs::is_interrupted()) {
    explain_interrupt(options, digits);
    status = programs::interrupted_status();
  }
  programs::Outputs outputs("mnist_mlp");
  if (options.traces) outputs.write([&] { options.traces->finish(); });
  if (!options.json.empty()) {
    const std::string text = results.dump(2) + "\n";
    outputs.write(
        [&] { halfgrad::files::replace_file(options.json, std::as_bytes(std::span(text))); });
  }
  if (page) {
    if (programs::is_interrupted()) page->set_interrupted();
    if (!launches.empty()) page->launches(launches);
    outputs.write([&] {
      page->finish();
      fmt::print("\nReport: {}\n", page->file().string());
    });
  }
  return outputs.conclude(status);
}

}  // namespace

int main(int argc, char** argv) {
  return programs::run("mnist_mlp", [&] {
    const Options options = parse_options(argc, argv);
    return options.distributed ? run_distributed(options) : run(options);
  });
}
