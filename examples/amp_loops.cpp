// One training loop of mixed precision: the pages in amp_loops/. See --help.
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "amp_loops/loops.h"

namespace {

/// The number as it prints: a NaN without its sign, which differs from machine to machine.
double printed(double x) { return std::isnan(x) ? std::abs(x) : x; }

void run(const Loop& loop, std::int64_t steps) {
  fmt::print("{}: {}\n", loop.name, loop.shows);
  fmt::print("{:>5}  {:>12}  {:>10}  {:<8}  {}\n", "step", "loss", "scale", "", loop.seen);
  const Trace trace = loop.run(steps);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Step& step = trace[i];
    fmt::print("{:>5}  {:>12.5g}  {:>10g}  {:<8}", i, printed(step.loss), step.scale,
               step.skipped ? "skipped" : "");
    if (!loop.seen.empty()) fmt::print("  {:.5g}", printed(step.seen));
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs a training loop of mixed precision and shows its scale.");
  std::string description = "Which loop; all of them if not given:";
  std::vector<std::string> names;
  for (const Loop& loop : kLoops) {
    names.emplace_back(loop.name);
    description += fmt::format("\n  {:<17} {}", loop.name, loop.shows);
  }
  std::string name;
  std::int64_t steps = 24;
  app.add_option("--loop", name, description)->check(CLI::IsMember(names))->option_text("NAME");
  app.add_option("--steps", steps, "How many steps")->check(CLI::Range(1, 100000));
  CLI11_PARSE(app, argc, argv);
  try {
    for (const Loop& loop : kLoops) {
      if (name.empty() || name == loop.name) run(loop, steps);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "amp_loops: {}\n", error.what());
    return 1;
  }
}
