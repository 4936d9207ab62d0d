#include <halfgrad/autograd/graph/gradient_memory.h>

#include <memory>

#include <halfgrad/autograd/graph/narrow_gradient.h>

namespace halfgrad::detail {
namespace {

// The use count of lent memory that is free: GradientMemory and the lender refer to it.
constexpr long kOwners = 2;

}  // namespace

thread_local constinit bool may_take_gradient_memory = false;

void lend_gradient_memory(TensorImpl& leaf, const Array& array) {
  leaf.gradient_memory = array.defined() ? std::make_shared<GradientMemory>(array) : nullptr;
}

Array take_gradient_memory(const Edge& edge, DType dtype, Device device) {
  if (!may_take_gradient_memory || edge.leaf == nullptr) return {};
  GradientMemory* const memory = edge.leaf->gradient_memory.get();
  if (memory == nullptr) return {};
  if (memory->array.dtype() != dtype || memory->array.device() != device) return {};
  if (memory->is_in_flight.exchange(true)) return {};
  const std::shared_ptr<Storage>& storage = memory->array.storage();
  // use_count() does not synchronise. Destroying a copy does: it decrements the count with acquire
  // order, so it sees what the thread did that destroyed the last other reference.
  static_cast<void>(std::shared_ptr<Storage>(storage));
  if (storage.use_count() != kOwners) {
    memory->is_in_flight = false;
    return {};
  }
  storage->bump_version();
  return memory->array;
}

bool is_in_lent_memory(const TensorImpl& leaf, const Tensor& gradient) {
  return leaf.gradient_memory != nullptr && !is_narrow(gradient) &&
         gradient.array().storage() == leaf.gradient_memory->array.storage();
}

bool land_in_lent_memory(TensorImpl& leaf, const Tensor& gradient) {
  if (!is_in_lent_memory(leaf, gradient)) return false;
  leaf.gradient_memory->is_in_flight = false;
  return gradient.impl().use_count() == 1 && gradient.array().storage().use_count() == kOwners + 1;
}

}  // namespace halfgrad::detail
