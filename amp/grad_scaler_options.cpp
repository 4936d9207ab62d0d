#include <halfgrad/amp/grad_scaler_options.h>

#include <algorithm>
#include <cmath>

#include <halfgrad/core/fail.h>

namespace halfgrad::amp {
namespace {

void expect(bool valid, const std::string& where, const char* expected, double got) {
  if (!valid) halfgrad::detail::fail(where, "expected {}, got {}", expected, got);
}

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

void check_scale(double scale, const GradScalerOptions& options, const std::string& where) {
  const auto rounded = static_cast<float>(scale);
  expect(is_positive(rounded), where, "a positive and finite float32", scale);
  const bool inside = rounded >= static_cast<float>(options.min_scale) &&
                      rounded <= static_cast<float>(options.max_scale);
  expect(inside, where, "a scale between min_scale and max_scale", scale);
}

void check_reachable(double scale, const GradScalerOptions& options, const std::string& where) {
  const ScaleRule& rule = options.rule;
  const auto rounded = static_cast<float>(scale);
  const bool vanished = rounded == 0 && !std::signbit(scale) && options.min_scale == 0;
  const bool infinite =
      rounded > 0 && std::isinf(rounded) && rule.grows_to_infinity && std::isinf(options.max_scale);
  if (vanished || infinite) return;
  GradScalerOptions reached = options;
  if (rule.growth == ScaleRule::Growth::by_two) {  // it compares with max_scale before it grows
    reached.max_scale = std::max(options.max_scale + 2, options.max_scale * options.growth_factor);
  }
  check_scale(scale, reached, where);
}

void check_options(const GradScalerOptions& o, const std::string& where) {
  expect(o.growth_factor > 1 && std::isfinite(o.growth_factor), where,
         "growth_factor > 1 and finite", o.growth_factor);
  expect(o.backoff_factor > 0 && o.backoff_factor < 1, where, "backoff_factor in (0, 1)",
         o.backoff_factor);
  expect(o.growth_interval >= 1, where, "growth_interval >= 1", o.growth_interval);
  expect(o.hysteresis >= 1, where, "hysteresis >= 1", o.hysteresis);
  expect(o.min_scale >= 0, where, "min_scale >= 0", o.min_scale);
  expect(o.max_scale > 0, where, "max_scale > 0", o.max_scale);
  expect(o.history >= 0, where, "history >= 0", static_cast<double>(o.history));
  check_scale(o.init_scale, o, where + ": init_scale");
}

}  // namespace halfgrad::amp
