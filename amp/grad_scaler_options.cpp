#include <halfgrad/amp/grad_scaler_options.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace halfgrad::amp {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& expected, double got) {
  std::ostringstream text;
  text << where << ": expected " << expected << ", got " << got;
  throw std::invalid_argument(text.str());
}

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

void check_scale(double scale, const GradScalerOptions& options, const std::string& where) {
  if (!is_positive(static_cast<float>(scale))) {
    refuse(where, "a positive and finite float32", scale);
  }
  const auto rounded = static_cast<float>(scale);
  if (rounded < static_cast<float>(options.min_scale) ||
      rounded > static_cast<float>(options.max_scale)) {
    refuse(where, "a scale between min_scale and max_scale", scale);
  }
}

void check_reachable(double scale, const GradScalerOptions& options, const std::string& where) {
  const ScaleRule& rule = options.rule;
  const auto rounded = static_cast<float>(scale);
  const bool vanished = rounded == 0 && !std::signbit(scale) && options.min_scale == 0;
  const bool endless =
      rounded > 0 && std::isinf(rounded) && rule.grows_to_infinity && std::isinf(options.max_scale);
  if (vanished || endless) return;
  GradScalerOptions reached = options;
  if (rule.growth == ScaleRule::Growth::by_two) {  // which looks at max_scale before it grows
    reached.max_scale = std::max(options.max_scale + 2, options.max_scale * options.growth_factor);
  }
  check_scale(scale, reached, where);
}

void check_options(const GradScalerOptions& o, const std::string& where) {
  if (!(o.growth_factor > 1) || !std::isfinite(o.growth_factor)) {
    refuse(where, "growth_factor > 1 and finite", o.growth_factor);
  }
  if (!(o.backoff_factor > 0 && o.backoff_factor < 1)) {
    refuse(where, "backoff_factor in (0, 1)", o.backoff_factor);
  }
  if (o.growth_interval < 1) refuse(where, "growth_interval >= 1", o.growth_interval);
  if (o.hysteresis < 1) refuse(where, "hysteresis >= 1", o.hysteresis);
  if (!(o.min_scale >= 0)) refuse(where, "min_scale >= 0", o.min_scale);
  if (!(o.max_scale > 0)) refuse(where, "max_scale > 0", o.max_scale);
  if (o.history < 0) refuse(where, "history >= 0", static_cast<double>(o.history));
  check_scale(o.init_scale, o, where + ": init_scale");
}

}  // namespace halfgrad::amp
