#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// The saved state of a parameter as that parameter needs it: on its device, counts as they are,
/// moments in the dtype in which it is updated. `entries` are the optimizer's own; those of
/// amp::MasterWeights may stand beside them. Of either kind there are all or, as before the first
/// update, none. Throws std::invalid_argument, naming `optimizer` and the parameter's `number`, for
/// an entry that is missing, of neither kind or of another shape.
optim::ParamState loaded_state(const std::string& optimizer, std::int64_t number,
                               const optim::ParamState& saved, const Tensor& param,
                               const std::vector<optim::StateEntry>& entries);

}  // namespace halfgrad::detail
