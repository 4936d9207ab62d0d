// Grades exercise 6: every transition of every short trace, and of long ones, against amp::next().
#include "grade.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <halfgrad/amp/scale_update.h>

#include "exercise.h"
namespace amp = halfgrad::amp;

namespace {

using Trace = std::vector<bool>;  // found_inf of each step

struct Machine {
  Options options;
  float init_scale = 65536;
};

std::string words(const Trace& trace, std::size_t steps) {
  std::string text;
  for (std::size_t i = 0; i < steps; ++i) text += trace[i] ? " bad" : " good";
  return text;
}

/// Runs both machines over the trace. At the first step whose states differ, reports it and returns
/// false.
bool agree(grade::Grader& grader, const std::string& check, const Machine& machine,
           const Trace& trace) {
  const amp::GradScalerOptions right{.init_scale = machine.init_scale,
                                     .growth_factor = machine.options.growth_factor,
                                     .backoff_factor = machine.options.backoff_factor,
                                     .growth_interval = machine.options.growth_interval};
  amp::LossScale expected = amp::initial_scale(right);
  State got{machine.init_scale, 0};
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const State before = got;
    expected = amp::next(expected, trace[i], right).state;
    got = next(got, trace[i], machine.options);
    if (static_cast<double>(got.scale) == expected.scale && got.good_steps == expected.good_steps) {
      continue;
    }
    const std::size_t shown = i < 12 ? 0 : i - 11;
    const Trace last(trace.begin() + static_cast<std::ptrdiff_t>(shown),
                     trace.begin() + static_cast<std::ptrdiff_t>(i + 1));
    grader.hint("element 0 is the scale, element 1 is good_steps");
    grader.same(check,
                "growth_interval " + std::to_string(machine.options.growth_interval) + ", trace" +
                    (shown == 0 ? "" : " ...") + words(last, last.size()) + "; step " +
                    std::to_string(i + 1) + " goes from scale " +
                    grade::shown(static_cast<double>(before.scale)) + ", good_steps " +
                    std::to_string(before.good_steps),
                {expected.scale, static_cast<double>(expected.good_steps)},
                {static_cast<double>(got.scale), static_cast<double>(got.good_steps)},
                {.absolute = 0});
    return false;
  }
  return true;
}

/// Tries all traces of 1, 2, ... 10 steps, so that the first difference is on the shortest trace.
void check_short_traces(grade::Grader& grader, int interval) {
  const std::string check = "all traces, growth_interval " + std::to_string(interval);
  for (int length = 1; length <= 10; ++length) {
    for (int bits = 0; bits < 1 << length; ++bits) {
      Trace trace;
      for (int i = length - 1; i >= 0; --i) trace.push_back((bits >> i & 1) != 0);
      if (!agree(grader, check, {.options = {.growth_interval = interval}}, trace)) return;
    }
  }
  grader.yes(check, "the states of amp::next()", true);
}

void check_long_trace(grade::Grader& grader, const std::string& check, const Machine& machine,
                      const Trace& trace) {
  if (agree(grader, check, machine, trace)) grader.yes(check, "the states of amp::next()", true);
}

Trace random_trace(std::uint64_t seed, std::size_t steps, double bad) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution is_bad(bad);
  Trace trace(steps);
  for (std::size_t i = 0; i < steps; ++i) trace[i] = is_bad(random);
  return trace;
}

}  // namespace

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  for (const int interval : {1, 2, 3, 4}) check_short_traces(grader, interval);
  check_long_trace(grader, "PyTorch's defaults, 20,000 steps", {},
                   random_trace(grader.seed(), 20000, 0.0003));
  check_long_trace(grader, "other factors",
                   {.options = {.growth_factor = 1.7, .backoff_factor = 0.3, .growth_interval = 5}},
                   random_trace(grader.seed() + 1, 1000, 0.1));
  check_long_trace(grader, "growth to the largest float",
                   {.options = {.growth_interval = 2}, .init_scale = 0x1p125F}, Trace(12, false));
  check_long_trace(grader, "back-off to the smallest float", {.init_scale = 0x1p-145F},
                   Trace(8, true));
  return grader.finish();
}
