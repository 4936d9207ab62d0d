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

int kind_rank(DType dtype) {
  return is_floating_point(dtype) ? 2 : dtype == DType::boolean ? 0 : 1;
}

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

Tensor& assign_in_place(Tensor& target, const Tensor& result, const char* op) {
  if (result.sizes() != target.sizes()) {
    throw std::invalid_argument(std::string(op) + ": expected a result of the target's shape " +
                                to_string(target.sizes()) + ", got " + to_string(result.sizes()));
  }
  const bool recorded =
      GradMode::is_enabled() && (target.requires_grad() || result.requires_grad());
  if (recorded && target.impl()->requires_grad && target.is_leaf()) {
    throw std::runtime_error(std::string(op) +
                             ": expected a tensor that is not a leaf requiring grad, got one; "
                             "change leaves inside NoGradGuard only");
  }
  if (recorded && target.impl()->is_view) {
    throw std::runtime_error(std::string(op) +
                             ": expected a tensor that owns its numbers, got a view, whose base "
                             "autograd could not follow; clone() it first, or use NoGradGuard");
  }
  if (kind_rank(result.dtype()) > kind_rank(target.dtype())) {
    throw std::invalid_argument(std::string(op) + ": expected a result that " +
                                std::string(name(target.dtype())) + " can hold, got " +
                                std::string(name(result.dtype())));
  }
  const Tensor converted = result.to(target.dtype());
  target.array().copy_(converted.array());
  target.array().storage()->bump_version();
  if (recorded) {
    release(std::move(target.impl()->grad_fn));
    target.impl()->grad_fn = converted.impl()->grad_fn;
    target.impl()->output = converted.impl()->output;
  }
  return target;
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
