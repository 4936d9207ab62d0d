#pragma once

/// Constants of the machine.
struct Options {
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int growth_interval = 2000;
};

/// The memory of the machine from one iteration to the next.
struct State {
  float scale = 65536;
  int good_steps = 0;  ///< good steps in a row since a bad one or the last growth
};

/// The state after an iteration that found an inf or a NaN in a gradient (`found_inf`), or did not.
/// Products are formed in double and then rounded to float.
///
///   found_inf:      scale * backoff_factor; no good steps
///   not found_inf:  one more good step; if that makes growth_interval of them,
///                   scale * growth_factor, unless that is infinite, and no good steps
State next(State state, bool found_inf, const Options& options);
