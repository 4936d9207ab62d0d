#pragma once

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
  explicit ModesScope(Modes as) : previous_(modes) { modes = as; }
  ~ModesScope() { modes = previous_; }
  ModesScope(const ModesScope&) = delete;
  ModesScope& operator=(const ModesScope&) = delete;

 private:
  Modes previous_;
};

/// Sets one switch for a scope.
template <bool Modes::*kSwitch>
class ModeScope {
 public:
  explicit ModeScope(bool value) : previous_(modes.*kSwitch) { modes.*kSwitch = value; }
  ~ModeScope() { modes.*kSwitch = previous_; }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  bool previous_;
};

}  // namespace detail

struct GradMode {
  static bool is_enabled() { return detail::modes.grad; }
};

/// Recording on or off until the end of the scope.
class AutoGradMode : detail::ModeScope<&detail::Modes::grad> {
 public:
  explicit AutoGradMode(bool enabled) : ModeScope(enabled) {}
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
      : inference_(enabled), grad_(enabled ? false : detail::modes.grad) {}
  static bool is_enabled() { return detail::modes.inference; }

 private:
  detail::ModeScope<&detail::Modes::inference> inference_;
  AutoGradMode grad_;
};

namespace autograd {

/// Inside, backward checks every gradient it computes and throws at the first NaN, naming the
/// forward op whose derivative produced it.
class DetectAnomalyGuard : halfgrad::detail::ModeScope<&halfgrad::detail::Modes::anomaly> {
 public:
  DetectAnomalyGuard() : ModeScope(true) {}
};

}  // namespace autograd

}  // namespace halfgrad
