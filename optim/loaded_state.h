#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// Adds the entries of amp::MasterWeights to a 16-bit parameter's state: a master with the
/// parameter's values, and a count of overflows.
void add_master(optim::ParamState& state, const Tensor& param);

/// Converts the saved state of a parameter for that parameter: on its device, counts unchanged,
/// moments in the dtype in which it is updated.
///
/// `saved` may hold the optimizer's `entries` and those of amp::MasterWeights, each group complete
/// or, as before the first update, absent; an entry with `if_missing` may be left out. Masters are
/// added if the parameter `has_master` and none was saved. Throws std::invalid_argument, naming
/// `optimizer` and the parameter's `number`, for a missing entry, an unknown one or another shape.
optim::ParamState loaded_state(const std::string& optimizer, std::int64_t number,
                               const optim::ParamState& saved, const Tensor& param, bool has_master,
                               const std::vector<optim::StateEntry>& entries);

}  // namespace halfgrad::detail
