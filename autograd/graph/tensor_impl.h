#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/core/deferred.h>

/// The object that Tensor handles share.
namespace halfgrad {

class Tensor;

namespace detail {

class Node;
struct GradientMemory;
struct NarrowGradient;
class ShadowWeight;
struct TensorImpl;

/// A function that is called with the gradient of an output of a node, or of a leaf, and may
/// replace it.
struct Hook {
  std::uint32_t output;
  std::uint64_t id;
  std::shared_ptr<const std::function<Tensor(const Tensor&)>> function;
};

/// Calls the hooks of `output` with `gradient`, one after the other; a hook may add or remove
/// hooks. Throws std::runtime_error if one returns another shape, dtype or device.
void run_hooks(const std::vector<Hook>& hooks, std::uint32_t output, Tensor& gradient);

[[noreturn]] void refuse_undefined();

/// The base of a view. An in-place op on either gives the base a new grad_fn. The view's own
/// grad_fn is then made again from the base, by the view's strides.
struct ViewOf {
  explicit ViewOf(const std::shared_ptr<TensorImpl>& viewed);

  const std::shared_ptr<TensorImpl> base;  // not a view, or a leaf that requires grad
  std::atomic<std::uint32_t> rebased;      // base->rebased when the view's grad_fn was made
  std::mutex mutex;                        // held while it is made: several threads may read a view
};

/// The elements of a tensor, and its node in the graph.
struct TensorImpl {
  explicit TensorImpl(Array numbers) : array(std::move(numbers)) {}
  ~TensorImpl();
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  Array array;
  std::shared_ptr<Deferred> deferred;  // computes the elements, or null: see Tensor::array()
  std::shared_ptr<Node> grad_fn;
  std::uint32_t output = 0;  // index of this tensor among grad_fn's outputs
  bool requires_grad = false;
  bool is_inference = false;
  bool is_view = false;
  std::unique_ptr<ViewOf> view_of;  // for a view with a known base
  std::uint32_t rebased = 0;        // how often an in-place op gave this base a new grad_fn
  bool is_scalar = false;           // a wrapped Scalar: in promotion only its kind counts
  std::shared_ptr<TensorImpl> grad;
  std::uint64_t scale_id = 0;       // loss scale that multiplies this gradient (grad_scale.h),
  std::uint32_t scale_version = 0;  // known for this version of the storage only
  std::vector<Hook> hooks;          // for a leaf; those of a non-leaf are in its node
  std::shared_ptr<NarrowGradient> narrow;  // until widen() is called: see narrow_gradient.h
  std::atomic<bool> is_narrow{false};
  std::shared_ptr<ShadowWeight> shadow;             // null for most tensors: see shadow_weight.h
  std::shared_ptr<GradientMemory> gradient_memory;  // null for most: see gradient_memory.h
};

/// Makes the array of a gradient that is still narrow.
void widen(TensorImpl& gradient);

inline ViewOf::ViewOf(const std::shared_ptr<TensorImpl>& viewed)
    : base(viewed), rebased(viewed->rebased) {}

/// Makes the grad_fn of a view again if its base has a new one.
void follow_base(TensorImpl& view);

}  // namespace detail

}  // namespace halfgrad
