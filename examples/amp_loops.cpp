// Runs the training loops of mixed precision in amp_loops/, one page each. See --help.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/record_options.h>
#include <halfgrad/programs/table.h>
#include <halfgrad/programs/terminal.h>

#include "amp_loops/loops.h"

namespace {

constexpr std::int64_t kObserved = 8;  // steps of a loop whose gradients a report keeps

void run(const Loop& loop, std::int64_t steps) {
  programs::print_wrapped(fmt::format("{}: {}\n", loop.name, loop.shows), 2);
  std::vector<programs::Column> columns{{.header = "step", .width = 5},
                                        {.header = "loss", .width = 12},
                                        {.header = "scale", .width = 10},
                                        {.header = "", .width = 8, .is_text = true}};
  if (!loop.heading.empty()) {
    columns.push_back({.header = std::string(loop.heading), .is_text = true});
  }
  const programs::Table table(columns);
  table.print_header();
  const halfgrad::RunScope scope(page, {.name = std::string(loop.name),
                                        .score = std::string(loop.heading),
                                        .every = std::max<std::int64_t>(2, steps / kObserved)});
  const Trace trace = loop.run(steps);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Step& step = trace[i];
    table.print_row({std::to_string(i), fmt::format("{:.5g}", programs::printed(step.loss)),
                     fmt::format("{:.8g}", step.scale), step.skipped ? "skipped" : "",
                     fmt::format("{:.5g}", programs::printed(step.seen))});
  }
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app("amp_loops",
                            "Runs a training loop of mixed precision and shows its scale.");
  std::string description = "The loop to run; default: all of them:";
  std::vector<std::string> names;
  for (const Loop& loop : kLoops) {
    names.emplace_back(loop.name);
    description += fmt::format("\n{}: {}", loop.name, loop.shows);
  }
  std::string name;
  std::int64_t steps = 24;
  app.add_option("--loop", name, description)
      ->transform(programs::one_of(names))
      ->option_text("NAME");
  app.add_option("--steps", steps, "Number of steps")->check(CLI::Range(1, 100000));
  std::filesystem::path file;
  programs::add_report(app, file, "Also write a page with charts to this file");
  app.parse_or_exit(argc, argv);
  return programs::run("amp_loops", [&] {
    std::optional<halfgrad::RunReport> report;
    if (!file.empty()) {
      programs::remember_interrupts();
      report.emplace(file);
      report->describe("amp_loops: training loops of mixed precision",
                       programs::command_again({argv, argv + argc}, {}, {}));
      page = &*report;
    }
    for (const Loop& loop : kLoops) {
      if (programs::is_interrupted()) break;
      if (name.empty() || name == loop.name) run(loop, steps);
    }
    if (report) {
      if (programs::is_interrupted()) report->set_interrupted();
      report->finish();
      fmt::print("\nReport: {}\n", file.string());
    }
    return programs::interrupted_status();
  });
}
