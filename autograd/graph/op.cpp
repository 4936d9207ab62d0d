#include <halfgrad/autograd/graph/op.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/running_op.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad::detail {

void set_history(const Tensor& output, std::shared_ptr<Node> node) {
  output.impl()->output = node->add_output(output);
  output.impl()->grad_fn = std::move(node);
}

template <std::size_t N>
OperandsNode<N>::OperandsNode(const std::array<Tensor, N>& operands, unsigned saves,
                              std::span<const unsigned> reads)
    : Node(this->edge_store) {
  unsigned wanted = reads.empty() ? saves : 0;
  for (std::size_t i = 0; i < N; ++i) {
    this->edge_store[i] = gradient_edge(operands[i]);
    if (!reads.empty() && this->edge_store[i].defined()) wanted |= reads[i];
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (contains(saves & wanted, i)) inputs_[i].save_input(operands[i]);
  }
}

template <std::size_t N>
OperandsNode<N>::~OperandsNode() = default;

template <std::size_t N>
void OperandsNode<N>::set_result(std::shared_ptr<OperandsNode> node, const Tensor& result,
                                 unsigned saves) {
  OperandsNode& recorded = *node;
  set_history(result, std::move(node));
  if ((saves & kSavesOutput) != 0) recorded.output_.save_output(result);
}

template <std::size_t N>
void OperandsNode<N>::release_saved() {
  for (SavedTensor& input : inputs_) input.reset();
  output_.reset();
}

template <std::size_t N, std::size_t... I>
static std::array<Tensor, N> copies(const std::array<const Tensor*, N>& tensors,
                                    std::index_sequence<I...>) {
  return {*tensors[I]...};
}

std::optional<DType> dtype_after_cast(const char* op, Precision precision, const Tensor& operand) {
  if (op_observer != nullptr) return std::nullopt;
  return cast_rule == nullptr ? operand.dtype() : cast_rule->dtype_of(op, precision, operand);
}

void use_one_device(const char* op, std::span<Tensor> operands) {
  const auto is_there = [&](const Tensor& x) {
    return !x.defined() || x.device() == operands[0].device();
  };
  if (std::all_of(operands.begin(), operands.end(), is_there)) return;
  const auto is_movable = [](const Tensor& x) { return x.dim() == 0 && x.device().is_cpu(); };
  // The first operand that cannot be moved, or the last operand, decides.
  const Tensor* place = nullptr;
  for (const Tensor& operand : operands) {
    if (operand.defined() && (place == nullptr || is_movable(*place))) place = &operand;
  }
  for (Tensor& operand : operands) {
    if (!operand.defined() || operand.device() == place->device()) continue;
    if (!is_movable(operand)) {
      fail(op, "expected operands on one device, got {} and {}; .to(device) moves a tensor",
           place->device(), operand.device());
    }
    operand = to(operand, place->device());
  }
}

template <std::size_t N>
Tensor apply_op(const OpCalls<N>& calls, void* op, const std::array<const Tensor*, N>& inputs) {
  static_cast<void>(inputs[0]->array());  // throws if undefined; some ops may lack later operands
  const ScopedValue<const char*> running(running_op, calls.name);
  std::array<Tensor, N> operands = copies(inputs, std::make_index_sequence<N>());
  const ObservedOp observed({calls.name, operands});
  use_one_device(calls.name, operands);
  cast_operands(calls.name, calls.precision, operands);
  if (calls.prepare != nullptr) calls.prepare(op, operands);
  std::array<const Array*, N> arrays;
  for (std::size_t i = 0; i < N; ++i) arrays[i] = &array_of(operands[i]);
  Tensor result(calls.forward(op, arrays));
  if (calls.make_node != nullptr && GradMode::is_enabled() && any_requires_grad(operands) &&
      result.is_floating_point()) {
    OperandsNode<N>::set_result(calls.make_node(op, operands), result, calls.saves);
  }
  if (op_observer != nullptr) {
    const auto given = copies(inputs, std::make_index_sequence<N>());
    notify({calls.name, calls.precision, given, operands, result});
  }
  return result;
}

template class OperandsNode<1>;
template class OperandsNode<2>;
template class OperandsNode<3>;
template class OperandsNode<4>;
template Tensor apply_op(const OpCalls<1>&, void*, const std::array<const Tensor*, 1>&);
template Tensor apply_op(const OpCalls<2>&, void*, const std::array<const Tensor*, 2>&);
template Tensor apply_op(const OpCalls<3>&, void*, const std::array<const Tensor*, 3>&);
template Tensor apply_op(const OpCalls<4>&, void*, const std::array<const Tensor*, 4>&);

namespace {

class RecordedNode final : public Node {
 public:
  RecordedNode(const char* name, std::vector<Edge> edges, BackwardFunction backward)
      : Node(edges), name_(name), edges_store_(std::move(edges)), backward_(std::move(backward)) {}

  const char* name() const override { return name_; }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override {
    backward_(grads[0], grad_inputs);
  }
  void release_saved() override {}

 private:
  const char* name_;
  std::vector<Edge> edges_store_;
  BackwardFunction backward_;
};

}  // namespace

Tensor record(const char* name, Array result, std::span<const Tensor> operands,
              BackwardFunction backward) {
  Tensor output(std::move(result));
  if (GradMode::is_enabled() && output.is_floating_point() && any_requires_grad(operands)) {
    std::vector<Edge> edges;
    edges.reserve(operands.size());
    for (const Tensor& operand : operands) edges.push_back(gradient_edge(operand));
    set_history(output,
                std::make_shared<RecordedNode>(name, std::move(edges), std::move(backward)));
  }
  if (op_observer != nullptr) notify({name, Precision::any, operands, operands, output});
  return output;
}

DType result_type(std::span<const Tensor> operands) {
  constexpr int kGroups = 3;  // tensors with dimensions, 0-dimensional tensors, Scalars
  DType of_group[kGroups];
  bool present[kGroups] = {};
  for (const Tensor& operand : operands) {
    if (!operand.defined()) continue;
    const int group = operand.impl()->is_scalar ? 2 : operand.dim() == 0 ? 1 : 0;
    const DType dtype =
        group == 2 && operand.is_floating_point() ? get_default_dtype() : operand.dtype();
    of_group[group] = present[group] ? promote_types(of_group[group], dtype) : dtype;
    present[group] = true;
  }
  DType result = DType::boolean;
  bool any = false;
  for (int group = 0; group < kGroups; ++group) {
    if (!present[group]) continue;
    if (!any || kind_rank(of_group[group]) > kind_rank(result)) result = of_group[group];
    any = true;
  }
  return result;
}

void expect_integer_factor(const char* op, const char* name, Scalar factor, DType integers) {
  if (is_floating_point(factor.kind())) {
    fail(op, "expected an integer {} for tensors of {}, got a fraction", name, integers);
  }
  expect_held(factor, integers);
}

void expect_held(Scalar number, DType dtype) {
  visit(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) static_cast<void>(number.to<T>());
  });
}

Tensor wrap(Scalar scalar, Device device) {
  const DType dtype = is_floating_point(scalar.kind()) ? DType::f64 : scalar.kind();
  Tensor tensor(Array::full({}, scalar, dtype, device));
  tensor.impl()->is_scalar = true;
  return tensor;
}

}  // namespace halfgrad::detail
