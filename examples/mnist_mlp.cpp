// One MLP trained in fp32, fp16 without and with a GradScaler, bf16, and fp16 weights alone; then a
// task whose gradients underflow in fp16. See --help.
#include <cstdio>
#include <exception>
#include <optional>
#include <span>

#include <fmt/core.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/files/replace_file.h>
#include <nlohmann/json.hpp>

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
          {"final_scale", number(report.last().scale)},
          {"skipped_steps", report.last().skipped},
          {"median_step_seconds", report.median_step},
          {"peak_memory_bytes", report.peak_bytes},
          {"moved_weights", report.moved_weights},
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

void run(const Options& options) {
  fmt::print("Device: {}, {} threads.\n", options.device.str(), halfgrad::get_num_threads());
  ordered_json results{{"device", options.device.str()}, {"threads", halfgrad::get_num_threads()}};
  if (options.runs("digits")) results["digits"] = to_json(run_digits(options));
  if (options.task == "all") fmt::print("\n\n");
  if (options.runs("underflow")) results["underflow"] = to_json(run_underflow(options));
  if (options.json.empty()) return;
  const std::string text = results.dump(2) + "\n";
  halfgrad::files::replace_file(options.json, std::as_bytes(std::span(text)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse_options(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mnist_mlp: {}\n", error.what());
    return 1;
  }
}
