#pragma once

#include <atomic>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/graph/tensor_impl.h>
#include <halfgrad/core/array.h>

/// Memory that other code lends to a leaf for its gradients.
///
/// The backward of linear() computes the gradient of a weight there, if it is free, and grad() is
/// then that memory. dist::DataParallel lends the places of gradients in the arrays that it sends,
/// which saves a copy of every gradient.
namespace halfgrad::detail {

/// Lent memory, and whether it is in use.
struct GradientMemory {
  explicit GradientMemory(const Array& lent) : array(lent) {}

  Array array;
  /// A backward pass computes a gradient here, which is not yet a grad().
  std::atomic<bool> is_in_flight{false};
};

/// Lends `array`, contiguous, with the leaf's sizes, dtype and device. The lender keeps a reference
/// to its storage, which is of no other array. An undefined array ends the loan.
void lend_gradient_memory(TensorImpl& leaf, const Array& array);

/// Whether gradients of the innermost pass of this thread are added to grad(), so that they may be
/// computed in lent memory. Those that autograd::grad() returns belong to its caller.
extern thread_local constinit bool may_take_gradient_memory;

/// Returns the memory lent to the leaf of `edge`, if it has this dtype and device and nobody uses
/// it, else an undefined array.
Array take_gradient_memory(const Edge& edge, DType dtype, Device device);

/// True if `gradient` is in the memory lent to `leaf`.
bool is_in_lent_memory(const TensorImpl& leaf, const Tensor& gradient);

/// Ends GradientMemory::is_in_flight, if `gradient` is in the memory lent to `leaf`. Returns
/// whether it is, and no other tensor refers to it.
bool land_in_lent_memory(TensorImpl& leaf, const Tensor& gradient);

}  // namespace halfgrad::detail
