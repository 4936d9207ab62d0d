#include <halfgrad/amp/inspector/overflow.h>

#include <cmath>
#include <sstream>

#include <halfgrad/amp/inspector/replay.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

namespace halfgrad::amp {
namespace {

using halfgrad::detail::message_part;
using halfgrad::detail::Replay;

/// Restores the state that a forward pass changes: the generator, and buffers such as the running
/// mean of batch norm.
class ReplayedState {
 private:
  template <class Pass>
  auto run(const Pass& pass) const {
    default_generator().set_state(random_);
    try {
      auto result = pass();
      restore_buffers();
      return result;
    } catch (...) {
      restore_buffers();
      throw;
    }
  }

 public:
  ReplayedState(const NamedModel& model, const std::optional<RandomKey>& random)
      : model_(model), random_(random.value_or(default_generator().get_state())) {
    for (const Tensor& buffer : model.buffers()) buffers_.push_back(buffer.array().clone());
  }
  ~ReplayedState() { default_generator().set_state(before_); }
  ReplayedState(const ReplayedState&) = delete;
  ReplayedState& operator=(const ReplayedState&) = delete;

  Replay run(const std::function<Tensor()>& loss, double scale) const {
    return run([&] { return Replay(model_, loss, scale); });
  }

  /// Returns the line of the user's code that calls the op of origin of `replay`.
  std::string source_of(const Replay& replay, const std::function<Tensor()>& loss,
                        const std::function<std::string()>& source) const {
    const std::optional<std::size_t> call = replay.call_of_origin();
    if (!call) return "";
    return run([&] { return halfgrad::detail::SourceSearch(loss, *call, source).found(); });
  }

 private:
  void restore_buffers() const {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      model_.buffers()[i].array().copy_(buffers_[i]);
    }
  }

  const NamedModel& model_;
  const RandomKey before_ = default_generator().get_state();
  const RandomKey random_;
  std::vector<Array> buffers_;
};

// The largest power of two at which the pass is finite, by a binary search of the exponent. The
// pass is finite at scale 1 and not at `scale`.
double safe_scale(const ReplayedState& state, const std::function<Tensor()>& loss, double scale) {
  int safe = 0, unsafe = static_cast<int>(std::ceil(std::log2(scale)));
  while (unsafe - safe > 1) {
    const int middle = (safe + unsafe) / 2;
    (state.run(loss, std::exp2(middle)).is_finite() ? safe : unsafe) = middle;
  }
  return std::exp2(safe);
}

}  // namespace

Overflow find_overflow(const NamedModel& model, const std::function<Tensor()>& loss,
                       const FindOverflowOptions& options) {
  const double scale = options.scale;
  if (!(std::isfinite(scale) && scale > 0)) {
    halfgrad::detail::fail("find_overflow", "expected a finite, positive scale, got {}", scale);
  }
  const ReplayedState state(model, options.random);
  const Replay replay = state.run(loss, scale);
  Overflow found = replay.origin();
  found.scale = scale;
  if (replay.is_finite()) return found;
  found.source = state.source_of(replay, loss, options.source);
  if (!replay.loss_is_finite()) {
    found.cause = OverflowCause::forward;
    return found;
  }
  const Replay unscaled = state.run(loss, 1);
  if (scale <= 1 || !unscaled.is_finite()) {
    if (!unscaled.is_finite()) {
      found = unscaled.origin();
      found.source = state.source_of(unscaled, loss, options.source);
    }
    found.scale = scale;
    found.cause = OverflowCause::backward;
    return found;
  }
  found.cause = OverflowCause::scale_too_high;
  found.magnitude_unscaled = unscaled.largest_at_origin_of(replay);
  found.safe_scale = safe_scale(state, loss, scale);
  return found;
}

std::string explain(const Overflow& overflow) {
  std::ostringstream text;
  const std::string module = overflow.module.empty() ? "" : " in " + overflow.module;
  switch (overflow.cause) {
    case OverflowCause::none:
      return "all gradients are finite";
    case OverflowCause::scale_too_high:
      text << "the scale is too high: " << overflow.what << " overflowed in " << overflow.op
           << "'s backward" << module << "; its largest magnitude is "
           << overflow.magnitude_unscaled << " at scale 1, and the scale is "
           << message_part(overflow.scale) << "; the largest safe scale is "
           << message_part(*overflow.safe_scale);
      break;
    case OverflowCause::forward:
      text << "the loss is inf or NaN at every scale: " << overflow.what << " of " << overflow.op
           << module << " is the first";
      break;
    case OverflowCause::backward:
      text << "the gradients are inf or NaN at scale 1 too: " << overflow.what << " in "
           << overflow.op << "'s backward" << module << " is the first";
      break;
  }
  const char* separator = "\n  ";
  if (!overflow.source.empty()) {
    text << separator << "called " << (overflow.source.starts_with("in ") ? "" : "at ")
         << overflow.source;
  }
  for (const OperandRange& range : overflow.ranges) {
    text << separator << range.name << ": " << range.dtype << ", largest magnitude "
         << range.largest;
    if (range.nonfinite > 0) text << ", " << range.nonfinite << " inf or NaN";
  }
  return text.str();
}

}  // namespace halfgrad::amp
