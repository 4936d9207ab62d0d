#pragma once

#include <string>

#include <halfgrad/autograd/tensor.h>

/// The graph after a change in place, for what changes tensors itself; ops use assign_in_place().
namespace halfgrad::detail {

/// Where autograd writes down that `target` changes: the target, or what it is a view of. Throws
/// std::runtime_error, naming `op`, for a leaf that requires grad, a view of one, and a view whose
/// base autograd does not know.
Tensor recordable(const Tensor& target, const std::string& op);

/// Gives `base`, the recordable() of `target`, its place after the target's numbers became those of
/// `result`: the result's place, or for a view one that knows what was overwritten. To be called
/// with grad mode on.
void rebase(const Tensor& base, const Tensor& target, const Tensor& result);

}  // namespace halfgrad::detail
