#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// Gives a 16-bit parameter's state what amp::MasterWeights keep there: a master with the
/// parameter's values, and a count of overflows.
void add_master(optim::ParamState& state, const Tensor& param);

/// The saved state of a parameter as that parameter needs it: on its device, counts as they are,
/// moments in the dtype in which it is updated. `entries` are the optimizer's own; those of
/// amp::MasterWeights may stand beside them, and are added if it `has_master` and none was saved.
/// Each kind has all of its entries or, as before the first update, none; an entry with
/// `if_missing` may be left out. Throws std::invalid_argument, naming `optimizer` and the
/// parameter's `number`, for an entry that is missing, of neither kind or of another shape.
optim::ParamState loaded_state(const std::string& optimizer, std::int64_t number,
                               const optim::ParamState& saved, const Tensor& param, bool has_master,
                               const std::vector<optim::StateEntry>& entries);

}  // namespace halfgrad::detail
