#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/core/array.h>

namespace halfgrad::optim {

/// An optimizer's state of one parameter: "step" (0-dim float32, the number of updates made) and
/// moments of the parameter's shape and dtype. With amp::MasterWeights also "master" and
/// "overflows" (0-dim int64), and the moments are float32.
using ParamState = std::map<std::string, Array>;

/// A name in an optimizer's ParamState.
struct StateEntry {
  std::string name;
  bool is_required = true;  ///< every parameter that has been updated has it
  /// For a 0-dim float32 entry: its value if a saved state holds other entries but not this one.
  std::optional<double> if_missing = {};
  enum class Sizes { of_parameter, scalar, any };
  /// A scalar is float32, and so is "step"; an array of any sizes keeps its dtype.
  Sizes sizes = Sizes::of_parameter;
};

/// A copy of an optimizer's whole state, for checkpoints. Parameters are numbered in their order,
/// from one group to the next. Booleans are 0 and 1; betas are "beta1" and "beta2".
struct OptimizerState {
  struct Group {
    std::vector<std::int64_t> params;
    std::map<std::string, double> options;
  };
  std::map<std::int64_t, ParamState> state;
  std::vector<Group> param_groups;
  std::int64_t steps = 0;  ///< Optimizer::steps()
  Array skipped_steps{};   ///< Optimizer::skipped_steps()
};

}  // namespace halfgrad::optim
