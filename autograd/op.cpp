#include <halfgrad/autograd/op.h>

#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/ops.h>

namespace halfgrad::detail {

void set_history(const Tensor& output, std::shared_ptr<Node> node) {
  output.impl()->output = node->add_output(output);
  output.impl()->grad_fn = std::move(node);
}

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
  if (op_observer != nullptr) op_observer->ran(name, operands, output);
  return output;
}

DType result_type(std::span<const Tensor> operands) {
  constexpr int kGroups = 3;  // with dimensions, without, scalars
  DType of_group[kGroups];
  bool present[kGroups] = {};
  for (const Tensor& operand : operands) {
    if (!operand.defined()) continue;
    const int group = operand.impl()->is_scalar ? 2 : operand.dim() == 0 ? 1 : 0;
    const DType dtype = group == 2 ? operand.impl()->scalar_kind : operand.dtype();
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

Tensor wrap(Scalar scalar, Device device) {
  Tensor tensor(Array::full({}, scalar.value(), DType::f64, device));
  tensor.impl()->is_scalar = true;
  tensor.impl()->scalar_kind = scalar.kind();
  return tensor;
}

}  // namespace halfgrad::detail
