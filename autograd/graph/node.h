#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

class Node;

/// The destination of a gradient: an output of an earlier node, a leaf, or nothing.
struct Edge {
  std::shared_ptr<Node> node;
  std::shared_ptr<TensorImpl> leaf;
  std::uint32_t output = 0;

  bool defined() const { return node != nullptr || leaf != nullptr; }
};

/// The destination of the gradient of `tensor`.
Edge gradient_edge(const Tensor& tensor);

/// Shape, dtype and device of the gradient of an output.
struct OutputInfo {
  Shape sizes;
  DType dtype;
  Device device;
};

/// A recorded op: computes the gradients of its inputs from those of its outputs.
class Node : public std::enable_shared_from_this<Node> {
 public:
  explicit Node(std::span<Edge> edges);
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Name of the forward op.
  virtual const char* name() const = 0;
  /// `grads` holds one tensor per output, undefined if no gradient reached it. `grad_inputs` takes
  /// one per edge; undefined means zero. Grad mode is on if a graph is to be created.
  virtual void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) = 0;
  /// Frees the saved tensors. A later backward() that needs them throws.
  virtual void release_saved() = 0;
  /// True if backward() reads its gradient and returns nothing that shares memory with it.
  virtual bool only_reads_gradient() const { return false; }
  /// A copy of the output's elements that no tensor refers to, or an undefined array.
  virtual Array kept_output() const { return {}; }
  /// True for user code, which runs under the cast rule of the thread that called backward.
  virtual bool is_user_function() const { return false; }

  std::span<Edge> edges() const { return edges_; }
  /// Larger than the sequence number of every node whose outputs this one consumed.
  std::uint64_t sequence() const { return sequence_; }

  OutputInfo& output(std::size_t i) { return i == 0 ? output_ : more_outputs_[i - 1]; }
  std::size_t outputs() const { return 1 + more_outputs_.size(); }
  std::uint32_t add_output(const Tensor& tensor);

  /// The hooks of the outputs. They run before backward(), with the complete gradient.
  std::vector<Hook> hooks;
  /// The outputs for which retain_grad() was called.
  std::vector<std::pair<std::uint32_t, std::weak_ptr<TensorImpl>>> retained;

 private:
  std::span<Edge> edges_;
  std::uint64_t sequence_;
  OutputInfo output_{};
  bool has_output_ = false;
  std::vector<OutputInfo> more_outputs_;
};

/// Drops a reference to a node. Graphs may be a hundred thousand nodes deep, so nodes that become
/// unreferenced are freed in a loop, not recursively.
void release(std::shared_ptr<Node> node) noexcept;

/// A tensor saved for backward: an input, or the node's own output, which is held without its
/// grad_fn to avoid a cycle. Detects in-place changes made since.
class SavedTensor {
 public:
  void save_input(const Tensor& tensor);
  void save_output(const Tensor& tensor);

  /// Returns the tensor, connected to the graph; undefined if none was saved. Throws
  /// std::runtime_error, naming the op that saved it, if it was changed in place or freed.
  Tensor unpack(Node& saver) const;
  /// Returns the array alone, after the checks of unpack().
  const Array& array(const Node& saver) const;
  void reset();

 private:
  enum class State : std::uint8_t { never, input, output, freed };

  std::shared_ptr<TensorImpl> impl_;  // for an output: a copy without grad_fn
  std::weak_ptr<Storage> storage_;    // keeps no memory; unlike an address, never the next storage
  std::uint32_t version_ = 0;
  std::uint32_t output_ = 0;
  State state_ = State::never;
};

}  // namespace halfgrad::detail
