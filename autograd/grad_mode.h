#pragma once

#include <halfgrad/core/scoped_value.h>

/// Thread-local switches, each changed by a scope guard only.
namespace halfgrad {

namespace detail {

struct Modes {
  bool grad = true;
  bool inference = false;
  bool anomaly = false;
};

inline thread_local constinit Modes modes;

/// Sets all switches for a scope: as they were in another place, or on another thread.
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

struct GradMode {
  static bool is_enabled() { return detail::modes.grad; }
};

/// Recording on or off until the end of the scope. Guards may end in any order, but on the thread
/// that they began on.
class AutoGradMode : detail::GuardedValue<bool> {
 public:
  [[nodiscard]] explicit AutoGradMode(bool enabled) : AutoGradMode("AutoGradMode", enabled) {}

 protected:
  AutoGradMode(const char* guard, bool enabled)
      : GuardedValue(guard, detail::modes.grad, enabled) {}
};

/// No recording: what is computed inside needs no gradient.
class NoGradGuard : AutoGradMode {
 public:
  [[nodiscard]] NoGradGuard() : AutoGradMode("NoGradGuard", false) {}
};

/// Recording, inside a region that has it switched off.
class EnableGradGuard : AutoGradMode {
 public:
  [[nodiscard]] EnableGradGuard() : AutoGradMode("EnableGradGuard", true) {}
};

/// No recording, and tensors made inside can never take part in a recording later: using one where
/// a gradient would need it throws.
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

/// Inside, backward checks every gradient it computes and throws at the first NaN, naming the
/// forward op whose derivative produced it.
class DetectAnomalyGuard : halfgrad::detail::GuardedValue<bool> {
 public:
  [[nodiscard]] DetectAnomalyGuard()
      : GuardedValue("DetectAnomalyGuard", halfgrad::detail::modes.anomaly, true) {}
};

}  // namespace autograd

}  // namespace halfgrad
