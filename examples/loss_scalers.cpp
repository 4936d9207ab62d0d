// Replays an overflow trace with every loss scaler of the field: what each wastes, and where it
// ends.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <halfgrad/amp/loss_scalers.h>
#include <halfgrad/amp/scale_policy.h>
#include <CLI/CLI.hpp>

#include "option_checks.h"
namespace hg = halfgrad;

namespace {

/// For each step the largest loss scale with which no gradient overflows; NaN where all of them do.
using Trace = std::vector<double>;

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
    if (*end != '\0') throw std::invalid_argument(path + ": expected numbers, got " + word);
  }
  if (limits.empty()) throw std::invalid_argument(path + ": expected one number a step, got none");
  return limits;
}

/// The scale that half of the steps can bear; 0 if no step can bear any.
double useful_scale(Trace limits) {
  std::erase_if(limits, [](double limit) { return std::isnan(limit); });
  if (limits.empty()) return 0;
  const auto middle = limits.begin() + std::ssize(limits) / 2;
  std::nth_element(limits.begin(), middle, limits.end());
  return *middle;
}

struct Result {
  std::size_t wasted = 0;  // steps that overflowed
  std::size_t below = 0;   // steps with at most half of the useful scale
  double final_scale = 0;
};

Result replay(const hg::amp::GradScalerOptions& options, const Trace& limits) {
  const double useful = useful_scale(limits);
  Result result;
  hg::amp::LossScale state = hg::amp::initial_scale(options);
  for (const double limit : limits) {
    const bool found_inf = !(state.scale <= limit);
    if (found_inf) ++result.wasted;
    if (useful > 0 && state.scale <= useful / 2) ++result.below;
    state = hg::amp::next(state, found_inf, options).state;
  }
  result.final_scale = state.scale;
  return result;
}

/// 2^k for a power of two.
std::string text_of(double scale) {
  int exponent = 0;
  const bool is_power = std::frexp(scale, &exponent) == 0.5;
  return is_power ? fmt::format("2^{}", exponent - 1) : fmt::format("{:.6g}", scale);
}

void print_constants() {
  fmt::print(
      "| system | first scale | growth | back-off | interval | smallest | largest | hysteresis "
      "| read from |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [name, source, o] : hg::amp::loss_scalers()) {
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, text_of(o.init_scale),
               o.growth_factor, o.backoff_factor, o.growth_interval, text_of(o.min_scale),
               text_of(o.max_scale), o.hysteresis, source);
  }
}

void print_replay(const Trace& trace) {
  fmt::print("| system | steps wasted | steps below the useful scale | final scale |\n");
  fmt::print("|---|---|---|---|\n");
  for (const hg::amp::LossScaler& scaler : hg::amp::loss_scalers()) {
    const Result result = replay(scaler.options, trace);
    fmt::print("| {} | {} | {} | {} |\n", scaler.name, result.wasted, result.below,
               text_of(result.final_scale));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Replays an overflow trace with every dynamic loss scaler of the field.");
  std::string name = "start-too-high";
  app.add_option("--trace", name,
                 "start-too-high, one-in-1000, permanent, or a file with one number a step: the\n"
                 "largest scale without overflow, nan where every scale overflows, inf where none")
      ->capture_default_str();
  std::size_t steps = std::numeric_limits<std::size_t>::max();
  app.add_option("--steps", steps, "Replay the first N steps of it")
      ->check(checks::positive)
      ->option_text("N [all]");
  bool constants = false;
  app.add_flag("--constants", constants, "Print what each is made of instead");
  CLI11_PARSE(app, argc, argv);

  try {
    const auto synthetic = kSynthetic.find(name);
    if (constants) {
      print_constants();
    } else {
      Trace trace = synthetic != kSynthetic.end() ? synthetic->second() : read_trace(name);
      trace.resize(std::min(trace.size(), steps));
      print_replay(trace);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "loss_scalers: {}\n", error.what());
    return 1;
  }
}
