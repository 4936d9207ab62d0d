// Exam 6: a test of a loss scaler.
#include <cmath>
#include <limits>

#include "exam.h"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// solution begin

/// Makes an iteration with one list of one weight and this gradient.
void iterate(Scaler& scaler, double gradient) {
  Vector weights{1}, gradients{gradient};
  scaler.step(weights, gradients, 0.1);
  scaler.update();
}

std::string test_step() {
  const Options options{.init_scale = 8};
  Scaler scaler(options);
  if (scaler.scaled(3) != 24) return "scaled(3) with scale 8 is not 24";
  Vector weights{1, 2}, gradients{8, 16};
  if (!scaler.step(weights, gradients, 0.5)) return "a good step is skipped";
  if (weights != Vector{0.5, 1}) return "the weights are not those of unscaled gradients";

  for (const double bad : {kInf, -kInf, std::nan("")}) {
    for (const std::size_t place : {0, 1, 2}) {
      Scaler other(options);
      Vector kept{1, 2, 3}, broken{8, 16, 24};
      broken[place] = bad;
      if (other.step(kept, broken, 0.5)) return "step() says that it made a bad step";
      if (kept != Vector{1, 2, 3}) return "a bad step changes weights";
      for (std::size_t i = 0; i < 3; ++i) {
        if (i != place && broken[i] != static_cast<double>(i + 1)) {
          return "a gradient beside a bad one is not unscaled";
        }
      }
      other.update();
      if (other.scale() != 4) return "a bad step does not halve the scale";
    }
  }
  return "";
}

std::string test_lists() {
  for (const bool bad_first : {true, false}) {
    Scaler scaler({.init_scale = 8});
    Vector weights{1}, bad{kInf}, good{8};
    if (bad_first) scaler.step(weights, bad, 0.5);
    if (!scaler.step(weights, good, 0.5)) return "a bad list skips another";
    if (!bad_first) scaler.step(weights, bad, 0.5);
    scaler.update();
    if (scaler.scale() != 4) return "a bad list does not lower the scale";
    iterate(scaler, 1);
    if (scaler.scale() != 4) return "found_inf survives update()";
  }
  return "";
}

std::string test_machine() {
  Scaler scaler(
      {.init_scale = 64, .growth_factor = 4, .backoff_factor = 0.5, .growth_interval = 3});
  struct Expected {
    double gradient, scale;
    int good_steps;
  };
  const Expected steps[] = {{1, 64, 1},   {1, 64, 2},   {1, 256, 0},    {1, 256, 1},    {1, 256, 2},
                            {1, 1024, 0}, {1, 1024, 1}, {1, 1024, 2},   {kInf, 512, 0}, {1, 512, 1},
                            {1, 512, 2},  {1, 2048, 0}, {kInf, 1024, 0}};
  for (const Expected& expected : steps) {
    iterate(scaler, expected.gradient);
    if (scaler.scale() != expected.scale) return "the trace has another scale";
    if (scaler.good_steps() != expected.good_steps) return "the trace has another good_steps";
  }
  return "";
}

std::string test_limits() {
  Scaler low({.init_scale = 4, .min_scale = 2});
  for (int i = 0; i < 3; ++i) iterate(low, kInf);
  if (low.scale() != 2) return "min_scale is no limit";
  Scaler high({.init_scale = 0x1p1023, .growth_interval = 1});
  iterate(high, 1);
  if (high.scale() != 0x1p1023) return "the scale grows to infinity";
  return "";
}
// solution end

}  // namespace

std::string test() {
  // solution begin
  // blank: Scaler scaler({.init_scale = 8});
  // blank: Vector weights{1}, gradients{kInf};
  // blank: if (scaler.step(weights, gradients, 0.5)) return "a step with an inf is made";
  // blank: return "";
  for (const auto& part : {test_step, test_lists, test_machine, test_limits}) {
    const std::string wrong = part();
    if (!wrong.empty()) return wrong;
  }
  return "";
  // solution end
}
