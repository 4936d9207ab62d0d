#pragma once

#include <halfgrad/core/scoped_value.h>

/// Thread-local switches. Guards change them until the end of a scope.
namespace halfgrad {

namespace detail {

/// The switches of one thread: are ops recorded, are results inference tensors, and does backward()
/// look for NaN?
struct Modes {
  bool grad = true;
  bool inference = false;
  bool anomaly = false;
};

inline thread_local constinit Modes modes;

/// Sets all switches until the end of the scope, for example to those of another thread.
class ModesScope {
 public:
  [[nodiscard]] explicit ModesScope(Modes as)
      : grad_(modes.grad, as.grad),
        inference_(modes.inference, as.inference),
        anomaly_(modes.anomaly, as.anomaly) {}

 private:
  ScopedValue<bool> grad_, inference_, anomaly_;
};

}  // namespace detail

/// Whether ops of this thread are recorded in the graph: libtorch's name.
struct GradMode {
  static bool is_enabled() { return detail::modes.grad; }
  /// Switches recording on or off until the innermost guard ends, or the next call.
  static void set_enabled(bool enabled) { detail::modes.grad = enabled; }
};

/// Switches recording of the graph on or off until the end of the scope. Guards may end in any
/// order, but on the thread that they began on.
class AutoGradMode : detail::GuardedValue<bool> {
 public:
  [[nodiscard]] explicit AutoGradMode(bool enabled) : AutoGradMode("AutoGradMode", enabled) {}

 protected:
  AutoGradMode(const char* guard, bool enabled)
      : GuardedValue(guard, detail::modes.grad, enabled) {}
};

/// Switches recording off: tensors computed inside have no gradient.
class NoGradGuard : AutoGradMode {
 public:
  [[nodiscard]] NoGradGuard() : AutoGradMode("NoGradGuard", false) {}
};

/// Switches recording on inside a region that has it off.
class EnableGradGuard : AutoGradMode {
 public:
  [[nodiscard]] EnableGradGuard() : AutoGradMode("EnableGradGuard", true) {}
};

/// Switches recording off. A tensor made inside can never be saved for backward later: an op that
/// would have to save it throws.
class InferenceMode {
 public:
  [[nodiscard]] explicit InferenceMode(bool enabled = true)
      : inference_("InferenceMode", detail::modes.inference, enabled),
        grad_("InferenceMode", detail::modes.grad, enabled ? false : detail::modes.grad) {}
  static bool is_enabled() { return detail::modes.inference; }

 private:
  detail::GuardedValue<bool> inference_;
  detail::GuardedValue<bool> grad_;
};

namespace autograd {

using halfgrad::AutoGradMode;
using halfgrad::GradMode;

/// Until the end of the scope backward checks every gradient, and throws at the first NaN, naming
/// the forward op whose derivative produced it. With `check_nan = false` it does not check.
class DetectAnomalyGuard : halfgrad::detail::GuardedValue<bool> {
 public:
  [[nodiscard]] explicit DetectAnomalyGuard(bool check_nan = true)
      : GuardedValue("DetectAnomalyGuard", halfgrad::detail::modes.anomaly, check_nan) {}
};

}  // namespace autograd

}  // namespace halfgrad
