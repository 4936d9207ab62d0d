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
class ModesScope : ScopedValue<Modes> {
 public:
  explicit ModesScope(Modes as) : ScopedValue(modes, as) {}
};

}  // namespace detail

struct GradMode {
  static bool is_enabled() { return detail::modes.grad; }
};

/// Recording on or off until the end of the scope.
class AutoGradMode : detail::ScopedValue<bool> {
 public:
  explicit AutoGradMode(bool enabled) : ScopedValue(detail::modes.grad, enabled) {}
};

/// No recording: what is computed inside needs no gradient.
class NoGradGuard : AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// Recording, inside a region that has it switched off.
class EnableGradGuard : AutoGradMode {
 public:
  EnableGradGuard() : AutoGradMode(true) {}
};

/// No recording, and tensors made inside can never take part in a recording later: using one where
/// a gradient would need it throws.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true)
      : inference_(detail::modes.inference, enabled), grad_(enabled ? false : detail::modes.grad) {}
  static bool is_enabled() { return detail::modes.inference; }

 private:
  detail::ScopedValue<bool> inference_;
  AutoGradMode grad_;
};

namespace autograd {

/// Inside, backward checks every gradient it computes and throws at the first NaN, naming the
/// forward op whose derivative produced it.
class DetectAnomalyGuard : halfgrad::detail::ScopedValue<bool> {
 public:
  DetectAnomalyGuard() : ScopedValue(halfgrad::detail::modes.anomaly, true) {}
};

}  // namespace autograd

}  // namespace halfgrad
