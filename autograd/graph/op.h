#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/engines/operand_set.h>

/// Ops and the graph. An op with a kernel of its own is a small struct:
///
///   struct Softmax {
///     static constexpr auto name = "softmax";
///     static constexpr auto precision = Precision::wide_accumulate;
///     static constexpr unsigned saves = kSavesOutput;
///     Array forward(const Array& x);                    // one Array per operand
///     void backward(Backward<1>& b) const;              // b.set(i, gradient of operand i)
///     void release_saved();                             // optional: drops what forward() kept
///     static constexpr bool only_reads_gradient = true; // optional: see Node
///   };
///
/// `apply(Softmax{dim}, x)` runs it: casts the operands as autocast says, computes, records the op
/// in the graph and notifies the observer. Three kinds of ops run in other ways:
///
///   views, lists of operands (reshape, cat)   record(), below: no cast
///   losses (mse_loss)                         composite(): one cast, then several ops
///   compositions (einsum, clamp of tensors)   plain calls of other ops, each of which is recorded
namespace halfgrad::detail {

/// Sets of what backward needs: bit i for operand i (core/engines/operand_set.h), bit 8 for the
/// output.
inline constexpr unsigned kSavesNothing = 0;
inline constexpr unsigned kSavesInputs = 0xff;
inline constexpr unsigned kSavesOutput = 0x100;

/// The arguments of an op's backward(): the gradient of its output, the saved tensors, and where to
/// put the gradients of its operands.
template <std::size_t N>
class Backward {
 public:
  Backward(Node& node, const Tensor& grad, const std::array<SavedTensor, N>& inputs,
           const SavedTensor& output, std::span<Tensor> grad_inputs)
      : node_(node), grad_(grad), inputs_(inputs), output_(output), grad_inputs_(grad_inputs) {}

  const Tensor& grad() const { return grad_; }
  Tensor input(std::size_t i) const { return inputs_[i].unpack(node_); }
  Tensor output() const { return output_.unpack(node_); }
  /// The arrays alone, for kernels.
  const Array& input_array(std::size_t i) const { return inputs_[i].array(node_); }
  const Array& output_array() const { return output_.array(node_); }
  const Edge& edge(std::size_t i) const { return node_.edges()[i]; }
  bool needs(std::size_t i) const { return edge(i).defined(); }
  void set(std::size_t i, Tensor gradient) const { grad_inputs_[i] = std::move(gradient); }

 private:
  Node& node_;
  const Tensor& grad_;
  const std::array<SavedTensor, N>& inputs_;
  const SavedTensor& output_;
  std::span<Tensor> grad_inputs_;
};

/// The memory of a node's N edges. It is a base class, before Node, because bases are made in their
/// order, and the constructor of Node takes the edges.
template <std::size_t N>
struct EdgeStore {
  std::array<Edge, N> edge_store;
};

/// The part of a node that depends on the number of operands N, not on the op. It is compiled once,
/// in op.cpp: with the derivatives of derivatives there are hundreds of ops.
template <std::size_t N>
class OperandsNode : EdgeStore<N>, public Node {
 public:
  /// Makes `result` the output of `node`, and saves it if `saves` contains kSavesOutput.
  static void set_result(std::shared_ptr<OperandsNode> node, const Tensor& result, unsigned saves);
  void release_saved() override;

 protected:
  /// Saves operand i only if a gradient that is needed reads it. `reads[j]` are the operands that
  /// the gradient of operand j reads; empty `reads` stand for all of `saves`.
  OperandsNode(const std::array<Tensor, N>& operands, unsigned saves,
               std::span<const unsigned> reads);
  ~OperandsNode() override;
  Backward<N> backward_of(const Tensor& grad, std::span<Tensor> grad_inputs) {
    return {*this, grad, inputs_, output_, grad_inputs};
  }

 private:
  std::array<SavedTensor, N> inputs_;
  SavedTensor output_;
};
extern template class OperandsNode<1>;
extern template class OperandsNode<2>;
extern template class OperandsNode<3>;
extern template class OperandsNode<4>;

/// Optional members of an op. They are named concepts because nvcc and g++ disagree about
/// requires-expressions inside functions.
template <class Op>
concept StatesReads = requires {
  Op::reads;
};
template <class Op>
concept ReleasesSaved = requires(Op op) {
  op.release_saved();
};
template <class Op>
concept OnlyReadsGradient = requires {
  requires Op::only_reads_gradient;
};
template <class Op>
concept KeepsOutput = requires(const Op op) {
  op.kept_output();
};
template <class Op>
concept StatesDifferentiable = requires {
  Op::differentiable;
};
template <class Op>
concept StatesSaves = requires {
  Op::saves;
};
template <class Op>
concept Prepares = requires(Op op, std::span<const Tensor> operands) {
  op.prepare(operands);
};

/// Returns, for each operand, the set of operands that its gradient reads; empty for an op without
/// `reads`, which reads all that it saves.
template <class Op>
constexpr std::span<const unsigned> reads_of() {
  if constexpr (StatesReads<Op>) return Op::reads;
  return {};
}

/// The node that record() adds to the graph: the op's functor, and what its backward reads.
template <class Op, std::size_t N>
class OpNode final : public OperandsNode<N> {
 public:
  OpNode(Op op, const std::array<Tensor, N>& operands)
      : OperandsNode<N>(operands, Op::saves, reads_of<Op>()), op_(std::move(op)) {}

  const char* name() const override { return Op::name; }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override {
    Backward<N> b = this->backward_of(grads[0], grad_inputs);
    op_.backward(b);
  }
  bool only_reads_gradient() const override { return OnlyReadsGradient<Op>; }
  Array kept_output() const override {
    if constexpr (KeepsOutput<Op>) return op_.kept_output();
    return {};
  }
  void release_saved() override {
    OperandsNode<N>::release_saved();
    if constexpr (ReleasesSaved<Op>) op_.release_saved();
  }

 private:
  Op op_;
};

/// Makes `output` the next output of `node`.
void set_history(const Tensor& output, std::shared_ptr<Node> node);

// Calls requires_grad() of every tensor, without a short cut: the call updates the node of a view
// whose base has changed, which must happen before a node that consumes the view is made.
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
  if constexpr (StatesDifferentiable<Op>) return Op::differentiable;
  return StatesSaves<Op>;
}

/// An op of N operands as a table of functions, so that apply_op() is compiled once for all ops, in
/// op.cpp.
template <std::size_t N>
struct OpCalls {
  const char* name;
  Precision precision;
  unsigned saves;
  void (*prepare)(void* op, std::span<const Tensor> operands);  // or null
  Array (*forward)(void* op, const std::array<const Array*, N>& operands);
  // Null if the op has no gradient.
  std::shared_ptr<OperandsNode<N>> (*make_node)(void* op, const std::array<Tensor, N>& operands);
};

template <class Op, std::size_t... I>
constexpr auto calls_of(std::index_sequence<I...>) {
  constexpr std::size_t kCount = sizeof...(I);
  OpCalls<kCount> calls{.name = Op::name,
                        .precision = Op::precision,
                        .saves = kSavesNothing,
                        .prepare = nullptr,
                        .forward =
                            [](void* op, const std::array<const Array*, kCount>& operands) {
                              return static_cast<Op*>(op)->forward(*operands[I]...);
                            },
                        .make_node = nullptr};
  if constexpr (Prepares<Op>) {
    calls.prepare = [](void* op, std::span<const Tensor> operands) {
      static_cast<Op*>(op)->prepare(operands);
    };
  }
  if constexpr (is_differentiable<Op>()) {
    calls.saves = Op::saves;
    calls.make_node =
        [](void* op,
           const std::array<Tensor, kCount>& operands) -> std::shared_ptr<OperandsNode<kCount>> {
      return std::make_shared<OpNode<Op, kCount>>(std::move(*static_cast<Op*>(op)), operands);
    };
  }
  return calls;
}

template <std::size_t N>
Tensor apply_op(const OpCalls<N>& calls, void* op, const std::array<const Tensor*, N>& inputs);

/// Casts the operands as the cast rule says, runs the op, records it in the graph and notifies the
/// observer. If the op has `prepare(std::span<const Tensor>)`, calls it with the cast operands
/// before forward().
template <class Op, std::same_as<Tensor>... In>
Tensor apply(Op op, const In&... inputs) {
  static_assert(sizeof...(In) <= 4, "apply: for more operands add to the instances in op.cpp");
  static constexpr auto calls = calls_of<Op>(std::index_sequence_for<In...>());
  return apply_op<sizeof...(In)>(calls, &op, {&inputs...});
}

/// Returns the dtype to which the cast rule would cast `operand`, for an op that converts it in its
/// own kernel. Nothing if the cast must be an op of its own: for an observer, which is told of it,
/// and for a rule that does not say.
std::optional<DType> dtype_after_cast(const char* op, Precision precision, const Tensor& operand);

/// Moves 0-dimensional CPU tensors to the device of the other operands, as PyTorch does. Throws
/// std::invalid_argument if the others are on several devices. The first operand must be defined.
void use_one_device(const char* op, std::span<Tensor> operands);

/// Stores the gradient of operand i in grad_inputs[i]; undefined means zero.
using BackwardFunction = std::function<void(const Tensor& grad, std::span<Tensor> grad_inputs)>;

/// Returns `result` as a tensor, recorded in the graph as an op on `operands` if one of them
/// requires grad. Views, and ops whose operands are a list, call it.
Tensor record(const char* name, Array result, std::span<const Tensor> operands,
              BackwardFunction backward);

/// Copies `result`, computed from `target`, into `target`, and gives `target` the node of `result`.
/// If `target` is a view, its base gets a node that stores which elements were overwritten. Throws
/// for leaves that require grad, views of them, and expanded tensors.
void assign_in_place(const Tensor& target, const Tensor& result, const char* op);

/// The dtype of an op on these operands by PyTorch's promotion rules. There are three groups:
/// tensors with dimensions, 0-dimensional tensors, Scalars. A later group changes the result only
/// if its kind (bool, integer, floating point) is higher. A floating-point Scalar counts as
/// get_default_dtype().
DType result_type(std::span<const Tensor> operands);

/// Throws for a fraction, and for an integer outside the range of the dtype.
void expect_integer_factor(const char* op, const char* name, Scalar factor, DType integers);

/// Calls expect_integer_factor() if all operands are integers. `name` is the factor's name in the
/// signature of the op.
template <std::same_as<Tensor>... In>
void expect_fitting_factor(const char* op, const char* name, Scalar factor, const In&... operands) {
  if ((operands.is_floating_point() || ...)) return;
  expect_integer_factor(op, name, factor, result_type(std::array{operands...}));
}

/// Makes a 0-dimensional operand of a Scalar.
Tensor wrap(Scalar scalar, Device device);

/// Throws std::invalid_argument if `dtype` is an integer dtype whose range does not hold `number`.
void expect_held(Scalar number, DType dtype);

}  // namespace halfgrad::detail
