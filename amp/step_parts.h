#pragma once

#include <optional>

namespace halfgrad::detail {

/// The parts of the pass over the gradients that ends an iteration (step_pass.h). It always
/// computes found_inf, the norm and the factor of unscaling.
struct StepParts {
  std::optional<double> max_norm = {};  ///< computes the factor of clipping
  bool counts_step = true;
  bool updates_scale = false;
  bool unscales_skipped = false;  ///< as unscale_() does; else the factors of a skipped step are 1
};

}  // namespace halfgrad::detail
