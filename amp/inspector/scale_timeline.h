#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfgrad/amp/inspector/parameter_names.h>
#include <halfgrad/amp/step_report.h>

namespace halfgrad::amp {

/// The reason for what an iteration did to the scale and to the optimizers' steps.
enum class ScaleCause : std::uint8_t {
  none,                 ///< a good step, not yet growth_interval of them in a row
  good_steps,           ///< growth_interval good steps in a row
  loss_not_finite,      ///< the loss itself was inf or NaN: a smaller scale does not help
  gradient_not_finite,  ///< gradients were inf or NaN, the loss was finite or is not known
  unscaling_overflows,  ///< the gradients were finite, but not after the division by the scale
  user,                 ///< update(new_scale)
};

/// "none", "good_steps", ...
std::string_view name(ScaleCause cause);

/// One iteration: the reports of all its optimizers.
struct ScalePoint {
  std::int64_t step = 0;
  double scale = 0;                 ///< the loss's factor
  double next_scale = 0;            ///< after update()
  std::optional<double> loss = {};  ///< StepReport::loss
  bool skipped = false;             ///< an optimizer's step was skipped
  ScaleEvent event = ScaleEvent::none;
  ScaleCause cause = ScaleCause::none;
  /// "skipped: 3 elements of encoder.2.weight are inf or NaN; 65536 -> 32768"; "" for a good step
  /// that left the scale as it was.
  std::string text = {};

  /// True if a step was skipped, or the scale changed or was kept from changing.
  bool is_event() const { return !text.empty(); }
};

/// The loss scale of a run with a cause for every skip, growth and back-off:
///
///   amp::GradScaler scaler({.history = 1000});
///   ...                                             // train
///   std::cout << amp::ScaleTimeline(scaler.reports(), amp::NamedModel(model));
///
/// For optimizers that do not hold model.parameters() in their order, pass
/// ParameterNames(named, {&optimizer}).
class ScaleTimeline {
 public:
  explicit ScaleTimeline(std::span<const StepReport> reports, const ParameterNames& names = {});

  /// One point for each iteration, oldest first.
  const std::vector<ScalePoint>& points() const& { return points_; }
  std::vector<ScalePoint> points() && { return std::move(points_); }
  /// The points with is_event().
  std::vector<ScalePoint> events() const;
  /// "steps 0 to 99: 2 skipped; the scale grew 3 times and backed off 2 times, from 65536 to
  /// 131072".
  std::string summary() const;

 private:
  std::vector<ScalePoint> points_;
};

/// Prints the summary, then one line for each event.
std::ostream& operator<<(std::ostream& out, const ScaleTimeline& timeline);

}  // namespace halfgrad::amp
