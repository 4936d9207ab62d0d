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

/// Where a gradient goes: an output of an earlier node, a leaf, or nowhere.
struct Edge {
  std::shared_ptr<Node> node;
  std::shared_ptr<TensorImpl> leaf;
  std::uint32_t output = 0;

  bool defined() const { return node != nullptr || leaf != nullptr; }
};

/// The edge along which the gradient of `tensor` leaves.
Edge gradient_edge(const Tensor& tensor);

/// What the gradient of an output must look like.
struct OutputInfo {
  Shape sizes;
  DType dtype;
  Device device;
};

/// A recorded op: turns gradients of its outputs into gradients of its inputs.
class Node : public std::enable_shared_from_this<Node> {
 public:
  explicit Node(std::span<Edge> edges);
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Name of the forward op.
  virtual const char* name() const = 0;
  /// `grads` holds one tensor per output (undefined where nothing flowed back), `grad_inputs` takes
  /// one per edge; undefined means zero. Runs with grad mode on if a graph is to be created.
  virtual void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) = 0;
  /// Drops saved tensors; backward() throws from then on if it would need them.
  virtual void release_saved() = 0;
  /// True for user code, which runs under the cast rule of the thread that called backward.
  virtual bool is_user_function() const { return false; }

  std::span<Edge> edges() const { return edges_; }
  /// Larger than that of every node whose outputs this one consumed.
  std::uint64_t sequence() const { return sequence_; }

  OutputInfo& output(std::size_t i) { return i == 0 ? output_ : more_outputs_[i - 1]; }
  std::size_t outputs() const { return 1 + more_outputs_.size(); }
  std::uint32_t add_output(const Tensor& tensor);

  /// Called with the complete gradient of their output before backward().
  std::vector<Hook> hooks;
  /// Non-leaf tensors that asked to keep their gradient.
  std::vector<std::pair<std::uint32_t, std::weak_ptr<TensorImpl>>> retained;

 private:
  std::span<Edge> edges_;
  std::uint64_t sequence_;
  OutputInfo output_{};
  bool has_output_ = false;
  std::vector<OutputInfo> more_outputs_;
};

/// Lets go of a node. Graphs may be a hundred thousand nodes deep, so the nodes it kept alive are
/// released one after the other, not recursively.
void release(std::shared_ptr<Node> node) noexcept;

/// A tensor that backward will need: an input, or the node's own output (held without its place in
/// the graph, which would be a cycle). Notices in-place changes made since.
class SavedTensor {
 public:
  void save_input(const Tensor& tensor);
  void save_output(const Tensor& tensor);

  /// The tensor, connected to the graph; undefined if none was saved. Throws std::runtime_error
  /// naming the saving op when it was changed in place or freed.
  Tensor unpack(Node& saver) const;
  /// Only its numbers, with the same checks.
  const Array& numbers(const Node& saver) const;
  void reset();

 private:
  enum class State : std::uint8_t { never, input, output, freed };

  std::shared_ptr<TensorImpl> impl_;  // of an output: a copy without its place in the graph
  const Storage* storage_ = nullptr;
  std::uint32_t version_ = 0;
  std::uint32_t output_ = 0;
  State state_ = State::never;
};

}  // namespace halfgrad::detail
