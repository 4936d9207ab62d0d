#include <halfgrad/autograd/graph/in_place.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

// The base after its part `part` was overwritten by `result`. The gradient of that part belongs to
// `result`, the rest to the former base.
Tensor overwritten(const Tensor& base, const Tensor& result, const Array& part) {
  const Tensor operands[] = {base, result};
  return record("overwrite_part", base.array(), operands,
                [whole = Geometry(base.array()), seen = Geometry(part)](
                    const Tensor& grad, std::span<Tensor> grad_inputs) {
                  const Tensor there(Array::full(seen.sizes, 1, DType::boolean, grad.device()));
                  grad_inputs[0] = masked_fill(grad, restrided(there, seen, whole), 0);
                  grad_inputs[1] = restrided(grad, whole, seen);
                });
}

void check_target(const Tensor& target, const Tensor& result, const std::string& op) {
  if (target.is_inference() && !InferenceMode::is_enabled()) {
    fail<std::runtime_error>(op,
                             "expected a tensor made outside InferenceMode, got one made inside; "
                             "clone() it first");
  }
  if (result.sizes() != target.sizes()) {
    fail(op, "expected a result of the target's shape {}, got {}", target.sizes(), result.sizes());
  }
  if (result.device() != target.device()) {
    fail(op, "expected operands on {}, where the target is, got {}", target.device(),
         result.device());
  }
  if (kind_rank(result.dtype()) > kind_rank(target.dtype())) {
    fail(op, "expected a result that {} can hold, got {}", target.dtype(), result.dtype());
  }
  if (target.array().repeats_elements()) {
    fail(op,
         "expected a target whose elements do not share memory, got shape {} with strides {}, as "
         "expand() makes it; clone() it first",
         target.sizes(), target.strides());
  }
}

// Whether the memory overlaps, unless both are the same view.
bool overlap(const Array& a, const Array& b) {
  const bool same_view = a.data() == b.data() && a.strides() == b.strides();
  if (same_view || a.device() != b.device()) return false;
  const auto [a_begin, a_end] = memory_of(a);
  const auto [b_begin, b_end] = memory_of(b);
  return a_begin < b_end && b_begin < a_end;
}

// Whether the memory of `part` lies within that of `whole`.
bool contains(const Array& whole, const Array& part) {
  const auto [whole_begin, whole_end] = memory_of(whole);
  const auto [begin, end] = memory_of(part);
  return part.numel() == 0 || (whole_begin <= begin && end <= whole_end);
}

void set_node(TensorImpl& impl, const Tensor& like) {
  std::shared_ptr<Node> former = std::exchange(impl.grad_fn, like.impl()->grad_fn);
  impl.output = like.impl()->output;
  if (former != nullptr && impl.grad_fn != nullptr) {
    // After retain_grad() the gradient of the new elements is kept.
    std::erase_if(former->retained, [&](const auto& retained) {
      const bool moves = retained.second.lock().get() == &impl;
      if (moves) impl.grad_fn->retained.emplace_back(impl.output, retained.second);
      return moves;
    });
  }
  release(std::move(former));
}

}  // namespace

Tensor recordable(const Tensor& target, const std::string& op) {
  const TensorImpl& impl = *target.impl();
  if (impl.is_view && (impl.view_of == nullptr || impl.view_of->base->array.repeats_elements())) {
    fail<std::runtime_error>(op,
                             "expected a tensor that owns its elements, got a view whose base "
                             "autograd does not know; clone() it first, or use NoGradGuard");
  }
  const Tensor base = impl.view_of != nullptr ? Tensor(impl.view_of->base) : target;
  const auto is_variable = [](const Tensor& x) { return x.impl()->requires_grad && x.is_leaf(); };
  if (is_variable(base) || is_variable(target)) {
    fail<std::runtime_error>(op,
                             "expected a tensor that is not a leaf requiring grad{}, got one; "
                             "change leaves inside NoGradGuard only",
                             is_variable(target) ? "" : ", nor a view of one");
  }
  if (!contains(base.array(), target.array())) {
    fail<std::runtime_error>(op,
                             "expected a view within its base, got one of shape {} whose base has "
                             "shape {} since resize_(); clone() it first, or use NoGradGuard",
                             target.sizes(), base.sizes());
  }
  return base;
}

void rebase(const Tensor& base, const Tensor& target, const Tensor& result) {
  // A result without a gradient has no node.
  const bool replaced = base.is_same(target) && result.requires_grad();
  set_node(*base.impl(), replaced ? result : overwritten(base, result, target.array()));
  ++base.impl()->rebased;
}

void assign_in_place(const Tensor& target, const Tensor& result, const char* op) {
  check_target(target, result, op);
  const bool recorded =
      GradMode::is_enabled() && (target.requires_grad() || result.requires_grad());
  const Tensor base = recorded ? recordable(target, op) : Tensor();
  Tensor converted = result.to(target.dtype());
  if (overlap(converted.array(), target.array())) converted = clone(converted);
  settle_readers(*target.array().storage());
  target.array().copy_(converted.array());
  target.array().storage()->bump_version();
  if (recorded) rebase(base, target, converted);
}

void follow_base(TensorImpl& view) {
  ViewOf& of = *view.view_of;
  const std::uint32_t rebased = of.base->rebased;
  if (of.rebased.load(std::memory_order_acquire) == rebased) return;
  const std::lock_guard lock(of.mutex);
  if (of.rebased.load(std::memory_order_relaxed) == rebased) return;
  const EnableGradGuard recording;
  const Array& seen = view.array;
  set_node(view, as_strided(Tensor(of.base), seen.sizes(), seen.strides(), seen.storage_offset()));
  of.rebased.store(rebased, std::memory_order_release);
}

}  // namespace halfgrad::detail
