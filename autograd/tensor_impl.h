#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <halfgrad/core/array.h>

/// What a Tensor is a handle to.
namespace halfgrad {

class Tensor;

namespace detail {

class Node;
struct TensorImpl;

/// A function that sees, and may replace, the gradient of an output of a node, or of a leaf.
struct Hook {
  std::uint32_t output;
  std::uint64_t id;
  std::shared_ptr<const std::function<Tensor(const Tensor&)>> function;
};

/// Calls those of `output` with `gradient`, one after the other; they may come and go meanwhile.
/// Throws std::runtime_error when one returns another shape, dtype or device.
void run_hooks(const std::vector<Hook>& hooks, std::uint32_t output, Tensor& gradient);

[[noreturn]] void refuse_undefined();

/// What a view shows a part of. An in-place op on either gives the base a new place in the graph;
/// the view then takes its own from the base, by its strides, whichever views it came through.
struct ViewOf {
  explicit ViewOf(const std::shared_ptr<TensorImpl>& viewed);

  const std::shared_ptr<TensorImpl> base;  // itself not a view
  std::atomic<std::uint32_t> rebased;      // what base->rebased was when last looked at
  std::mutex mutex;                        // held while looking: several threads may read a view
};

/// The numbers and their place in the graph.
struct TensorImpl {
  explicit TensorImpl(Array numbers) : array(std::move(numbers)) {}
  ~TensorImpl();
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  Array array;
  std::shared_ptr<Node> grad_fn;
  std::uint32_t output = 0;  // which output of grad_fn this is
  bool requires_grad = false;
  bool is_inference = false;
  bool is_view = false;
  std::unique_ptr<ViewOf> view_of;  // of a view that autograd follows
  std::uint32_t rebased = 0;        // how often an in-place op gave this base a new place
  bool is_scalar = false;           // a wrapped Scalar, which counts by its kind only
  std::shared_ptr<TensorImpl> grad;
  std::vector<Hook> hooks;  // of a leaf; a non-leaf's are its node's
};

inline ViewOf::ViewOf(const std::shared_ptr<TensorImpl>& viewed)
    : base(viewed), rebased(viewed->rebased) {}

/// Brings a view's place in the graph up to date.
void follow_base(TensorImpl& view);

}  // namespace detail

}  // namespace halfgrad
