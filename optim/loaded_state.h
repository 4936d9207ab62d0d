#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// Adds the entries of amp::MasterWeights to a 16-bit parameter's state: a master with the
/// parameter's values, and a count of overflows.
void add_master(optim::ParamState& state, const Tensor& param);

/// The sizes of an entry of a parameter's state, which may be one of amp::MasterWeights.
optim::StateEntry::Sizes sizes_of(const std::string& name,
                                  const std::vector<optim::StateEntry>& entries);

/// Returns a copy of a saved 0-dim entry, or of "skipped_steps", in the dtype in which kernels read
/// it: int64 for counts of overflows and skipped steps, float32 for others. Throws
/// std::invalid_argument for another shape, and for a value that this dtype does not hold.
Array loaded_scalar(const std::string& optimizer, const std::string& name, const Array& saved);

/// Converts the saved state of a parameter for that parameter: on its device, counts by
/// loaded_scalar(), moments in the dtype in which it is updated.
///
/// `saved` may hold the optimizer's `entries` and those of amp::MasterWeights, each group complete
/// or, as before the first update, absent; an entry with `if_missing` may be left out. Masters are
/// added if the parameter `has_master` and none was saved, and dropped unless the parameter is
/// 16-bit. Throws std::invalid_argument, naming `optimizer` and the parameter's `number`, for a
/// missing entry, an unknown one or another shape.
optim::ParamState loaded_state(const std::string& optimizer, std::int64_t number,
                               const optim::ParamState& saved, const Tensor& param, bool has_master,
                               const std::vector<optim::StateEntry>& entries);

}  // namespace halfgrad::detail
