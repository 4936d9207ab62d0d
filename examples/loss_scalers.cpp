// Replays an overflow trace with the loss scalers of several frameworks, and prints how many steps
// each one wastes and its final scale.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <halfgrad/amp/loss_scalers/loss_scalers.h>
#include <halfgrad/amp/loss_scalers/replay.h>
#include <halfgrad/amp/scale_update.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/option_checks.h>
#include <halfgrad/programs/record_options.h>
#include <halfgrad/programs/suggestion.h>
#include <halfgrad/programs/table.h>
#include <halfgrad/programs/terminal.h>
#include <halfgrad/report/run_report.h>
namespace hg = halfgrad;

namespace {

/// For each step, the largest loss scale without overflow; NaN if every scale overflows.
using Trace = hg::amp::OverflowTrace;

Trace start_too_high() { return Trace(10000, 0x1p10); }

Trace one_in_1000() {
  Trace limits(20000, 0x1p16);
  for (std::size_t step = 999; step < limits.size(); step += 1000) limits[step] = NAN;
  return limits;
}

Trace permanent() { return Trace(200, NAN); }

const std::map<std::string, Trace (*)()> kSynthetic{
    {"start-too-high", start_too_high}, {"one-in-1000", one_in_1000}, {"permanent", permanent}};

Trace read_trace(const std::string& path) {
  std::ifstream file(path);
  Trace limits;
  for (std::string word; file >> word;) {
    char* end = nullptr;
    limits.push_back(std::strtod(word.c_str(), &end));
    if (*end != '\0') throw std::invalid_argument(path + ": expected decimal numbers, got " + word);
  }
  if (limits.empty()) throw std::invalid_argument(path + ": expected one number a step, got none");
  return limits;
}

/// Returns what is wrong with the name of a trace, or an empty string.
std::string trace_fault(const std::string& name) {
  if (kSynthetic.contains(name) || CLI::ExistingFile(name).empty()) return "";
  std::vector<std::string> names;
  for (const auto& [known, trace] : kSynthetic) names.push_back(known);
  return "expected start-too-high, one-in-1000, permanent or a file, got " + name +
         programs::did_you_mean(name, names);
}

/// Prints a power of two as 2^k, other scales in decimal.
std::string text_of(double scale) {
  int exponent = 0;
  const bool is_power = std::frexp(scale, &exponent) == 0.5;
  return is_power ? fmt::format("2^{}", exponent - 1) : fmt::format("{:.6g}", scale);
}

using Row = std::vector<std::string>;

/// Prints a table: on a terminal the columns that fit, elsewhere Markdown.
void print(const std::vector<programs::Column>& columns, const std::vector<Row>& rows) {
  if (programs::columns() != programs::kNoLimit) {
    const programs::Table table(columns);
    table.print_header();
    for (const Row& row : rows) table.print_row(row);
    table.print_left_out();
    return;
  }
  for (const programs::Column& column : columns) fmt::print("| {} ", column.header);
  fmt::print("|\n");
  for (std::size_t i = 0; i < columns.size(); ++i) fmt::print("|---");
  fmt::print("|\n");
  for (const Row& row : rows) fmt::print("| {} |\n", fmt::join(row, " | "));
}

void print_constants() {
  std::vector<Row> rows;
  int widest_name = 0, widest_source = 0;
  for (const auto& [name, source, o] : hg::amp::loss_scalers()) {
    rows.push_back({std::string(name), text_of(o.init_scale), fmt::format("{}", o.growth_factor),
                    fmt::format("{}", o.backoff_factor), std::to_string(o.growth_interval),
                    text_of(o.min_scale), text_of(o.max_scale), std::to_string(o.hysteresis),
                    std::string(source)});
    widest_name = std::max(widest_name, programs::width(name));
    widest_source = std::max(widest_source, programs::width(source));
  }
  print({{.header = "system", .width = widest_name, .is_text = true},
         {.header = "first scale"},
         {.header = "growth", .rank = 2},
         {.header = "back-off", .rank = 3},
         {.header = "interval", .rank = 1},
         {.header = "smallest", .rank = 5},
         {.header = "largest", .rank = 6},
         {.header = "hysteresis", .rank = 4},
         {.header = "read from", .width = widest_source, .rank = 7, .is_text = true}},
        rows);
}

void print_replay(const Trace& trace) {
  std::vector<Row> rows;
  int widest_name = 0;
  for (const hg::amp::LossScaler& scaler : hg::amp::loss_scalers()) {
    const hg::amp::ReplayResult result = hg::amp::replay(scaler.options, trace);
    rows.push_back({std::string(scaler.name), std::to_string(result.wasted),
                    std::to_string(result.below), text_of(result.final_scale)});
    widest_name = std::max(widest_name, programs::width(scaler.name));
  }
  print({{.header = "system", .width = widest_name, .is_text = true},
         {.header = "steps wasted"},
         {.header = "steps below the useful scale", .rank = 1},
         {.header = "final scale"}},
        rows);
}

/// Writes a page with the scale of each system over the steps of the trace.
void write_report(const std::filesystem::path& file, const std::string& command,
                  const std::string& name, const Trace& trace) {
  hg::RunReport page(file);
  page.describe("loss_scalers: one trace of overflows, the scalers of the field", command);
  for (const hg::amp::LossScaler& scaler : hg::amp::loss_scalers()) {
    page.begin_run({.name = std::string(scaler.name),
                    .task = "Trace " + name,
                    .every = 0,
                    .is_training = false});
    hg::amp::LossScale state = hg::amp::initial_scale(scaler.options);
    for (const double limit : trace) {
      const bool overflows = !(state.scale <= limit);
      const hg::amp::LossScale next = hg::amp::next(state, overflows, scaler.options).state;
      page.step({.scale = state.scale, .next_scale = next.scale, .skipped = overflows});
      state = next;
    }
    const hg::amp::ReplayResult result = hg::amp::replay(scaler.options, trace);
    page.result("steps wasted", static_cast<double>(result.wasted));
    page.result("steps below the useful scale", static_cast<double>(result.below));
  }
  page.finish();
  fmt::print("\nReport: {}\n", file.string());
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app(
      "loss_scalers", "Replays an overflow trace with the dynamic loss scalers of the field.");
  std::string name = "start-too-high";
  app.add_option("--trace", name,
                 "start-too-high, one-in-1000, permanent, or a file with one number per step: the "
                 "largest scale without overflow, nan if every scale overflows, inf if none does")
      ->check(trace_fault)
      ->capture_default_str();
  std::size_t steps = std::numeric_limits<std::size_t>::max();
  app.add_option("--steps", steps, "Replay only the first N steps")
      ->check(checks::positive)
      ->option_text("N [all]");
  bool constants = false;
  app.add_flag("--constants", constants, "Print the constants of each loss scaler instead");
  std::filesystem::path report;
  programs::add_report(app, report, "Also write a page with the scales over time to this file");
  app.parse_or_exit(argc, argv);
  return programs::run("loss_scalers", [&] {
    const auto synthetic = kSynthetic.find(name);
    if (constants) {
      print_constants();
    } else {
      Trace trace = synthetic != kSynthetic.end() ? synthetic->second() : read_trace(name);
      trace.resize(std::min(trace.size(), steps));
      print_replay(trace);
      if (!report.empty()) {
        write_report(report, programs::command_again({argv, argv + argc}, {}, {}), name, trace);
      }
    }
    return 0;
  });
}
