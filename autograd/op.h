#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <halfgrad/autograd/node.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

/// How an op becomes part of the graph. An op is a small struct:
///
///   struct Softmax {
///     static constexpr auto name = "softmax";
///     static constexpr auto precision = Precision::wide_accumulate;
///     static constexpr unsigned saves = kSavesOutput;
///     Array forward(const Array& x);                    // one Array per operand
///     void backward(Backward<1>& b) const;              // b.set(i, gradient of operand i)
///   };
///
/// and `apply(Softmax{dim}, x)` is the only way it runs.
namespace halfgrad::detail {

/// What backward needs kept: bit i for operand i, and the output.
inline constexpr unsigned kSavesNothing = 0;
inline constexpr unsigned kSavesInput = 1;
inline constexpr unsigned kSavesInputs = 0xff;
inline constexpr unsigned kSavesOutput = 0x100;

/// Told of every op that ran: inspectors and traces.
class OpObserver {
 public:
  virtual ~OpObserver() = default;
  virtual void ran(const char* op, std::span<const Tensor> operands, const Tensor& result) = 0;
};
inline thread_local constinit OpObserver* op_observer = nullptr;

/// A backward's view of its node: the gradient that arrived, what was saved, and where to put the
/// gradients of the operands.
template <std::size_t N>
class Backward {
 public:
  Backward(Node& node, const Tensor& grad, const std::array<SavedTensor, N>& inputs,
           const SavedTensor& output, std::span<Tensor> grad_inputs)
      : node_(node), grad_(grad), inputs_(inputs), output_(output), grad_inputs_(grad_inputs) {}

  const Tensor& grad() const { return grad_; }
  Tensor input(std::size_t i) const { return inputs_[i].unpack(node_); }
  Tensor output() const { return output_.unpack(node_); }
  /// The numbers alone, for kernels.
  const Array& input_array(std::size_t i) const { return inputs_[i].numbers(node_); }
  const Array& output_array() const { return output_.numbers(node_); }
  bool needs(std::size_t i) const { return node_.edges()[i].defined(); }
  void set(std::size_t i, Tensor gradient) const { grad_inputs_[i] = std::move(gradient); }

 private:
  Node& node_;
  const Tensor& grad_;
  const std::array<SavedTensor, N>& inputs_;
  const SavedTensor& output_;
  std::span<Tensor> grad_inputs_;
};

template <std::size_t N>
struct EdgeStore {
  std::array<Edge, N> edge_store;
};

template <class Op, std::size_t N>
class OpNode final : EdgeStore<N>, public Node {
 public:
  OpNode(Op op, const std::array<Tensor, N>& operands)
      : Node(this->edge_store), op_(std::move(op)) {
    for (std::size_t i = 0; i < N; ++i) {
      this->edge_store[i] = gradient_edge(operands[i]);
      if ((Op::saves >> i & 1U) != 0) inputs_[i].save_input(operands[i]);
    }
  }
  void save_output(const Tensor& output) {
    if constexpr ((Op::saves & kSavesOutput) != 0) output_.save_output(output);
  }

  const char* name() const override { return Op::name; }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override {
    Backward<N> b(*this, grads[0], inputs_, output_, grad_inputs);
    op_.backward(b);
  }
  void release_saved() override {
    for (SavedTensor& input : inputs_) input.reset();
    output_.reset();
  }

 private:
  Op op_;
  std::array<SavedTensor, N> inputs_;
  SavedTensor output_;
};

/// Makes `output` the next output of `node`.
void set_history(const Tensor& output, std::shared_ptr<Node> node);

// Asks every tensor: a view that must look at its base again has to do so before a node that
// consumes it is made.
inline bool any_requires_grad(std::span<const Tensor> tensors) {
  bool any = false;
  for (const Tensor& tensor : tensors) any |= tensor.defined() && tensor.requires_grad();
  return any;
}

inline const Array& array_of(const Tensor& tensor) {
  static const Array undefined;
  return tensor.defined() ? tensor.array() : undefined;
}

/// An op without `saves`, or with `differentiable = false`, has no gradient.
template <class Op>
constexpr bool is_differentiable() {
  if constexpr (requires { Op::differentiable; }) return Op::differentiable;
  return requires { Op::saves; };
}

/// Casts the operands as the rule says, runs the op, records it, tells the observer. An op may have
/// `prepare(std::span<const Tensor>)`, called with the cast operands before forward().
template <class Op, std::same_as<Tensor>... In>
Tensor apply(Op op, const In&... inputs) {
  constexpr std::size_t kCount = sizeof...(In);
  std::array<Tensor, kCount> operands{inputs...};
  cast_operands(Op::name, Op::precision, operands);
  if constexpr (requires { op.prepare(operands); }) op.prepare(operands);
  Tensor result = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Tensor(op.forward(array_of(operands[I])...));
  }
  (std::make_index_sequence<kCount>{});
  if constexpr (is_differentiable<Op>()) {
    if (GradMode::is_enabled() && any_requires_grad(operands) && result.is_floating_point()) {
      auto node = std::make_shared<OpNode<Op, kCount>>(std::move(op), operands);
      OpNode<Op, kCount>& recorded = *node;
      set_history(result, std::move(node));
      recorded.save_output(result);
    }
  }
  if (op_observer != nullptr) op_observer->ran(Op::name, operands, result);
  return result;
}

/// A recorded op with any number of operands, its backward a function of the gradient. For ops
/// whose operands are a list, and for views.
using BackwardFunction = std::function<void(const Tensor& grad, std::span<Tensor> grad_inputs)>;
Tensor record(const char* name, Array result, std::span<const Tensor> operands,
              BackwardFunction backward);

/// Replaces the numbers of `target` by those of `result`, computed from it, and gives it the
/// result's place in the graph; of a view, gives its base a place that knows what was overwritten.
/// Throws for leaves that require grad, views of them, and expanded tensors.
Tensor& assign_in_place(Tensor& target, const Tensor& result, const char* op);

/// The dtype of an op on these operands by PyTorch's rules: tensors with dimensions count before
/// those without, and those before Scalars; a later group matters only if its kind (bool, integer,
/// floating point) is higher.
DType result_type(std::span<const Tensor> operands);

/// A Scalar as a 0-dimensional operand.
Tensor wrap(Scalar scalar, Device device);

}  // namespace halfgrad::detail
