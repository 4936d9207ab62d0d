#include <halfgrad/autograd/mlp.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/op_table/product_reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/mlp_tiles.h>
#include <halfgrad/autograd/ops/shared/relu.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/running_op.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr const char* kName = "mlp";

// The operands in one list, as the graph sees them: the input, all weights, all biases.
struct Operands {
  std::span<const Tensor> all;

  std::size_t layers() const { return all.size() / 2; }
  const Tensor& input() const { return all[0]; }
  const Tensor& weight(std::size_t l) const { return all[1 + l]; }
  const Tensor& bias(std::size_t l) const { return all[1 + layers() + l]; }
};

std::vector<Tensor> listed(const Tensor& input, const std::vector<Tensor>& weights,
                           const std::vector<Tensor>& biases) {
  if (weights.empty()) fail(kName, "expected at least one weight, got none");
  if (!biases.empty() && biases.size() != weights.size()) {
    fail(kName,
         "expected no biases or one for each of {} weights, got {}; an undefined tensor "
         "leaves one out",
         weights.size(), biases.size());
  }
  std::vector<Tensor> all{input};
  all.insert(all.end(), weights.begin(), weights.end());
  all.insert(all.end(), biases.begin(), biases.end());
  all.resize(1 + 2 * weights.size());
  return all;
}

void expect_layers(const Operands& operands) {
  const DType dtype = operands.input().dtype();
  if (!is_floating_point(dtype)) {
    fail(kName, "expected floating-point operands, got {}", dtype);
  }
  if (operands.input().dim() == 0) {
    fail(kName, "expected an input [..., in], got {}", operands.input().sizes());
  }
  std::int64_t features = operands.input().size(-1);
  for (std::size_t l = 0; l < operands.layers(); ++l) {
    const Tensor& weight = operands.weight(l);
    const Tensor& bias = operands.bias(l);
    if (weight.dim() != 2 || weight.size(1) != features) {
      fail(kName, "expected weight {} of shape [out, {}], got {}", l, features, weight.sizes());
    }
    features = weight.size(0);
    if (bias.defined() && bias.sizes() != Shape{features}) {
      fail(kName, "expected bias {} of shape [{}], got {}", l, features, bias.sizes());
    }
    if (weight.dtype() != dtype || (bias.defined() && bias.dtype() != dtype)) {
      fail(kName, "expected operands of one dtype, got {} for the input and another in layer {}",
           dtype, l);
    }
  }
}

// The layers one by one, each an op of its own.
Tensor composed(const Operands& operands) {
  Tensor h = operands.input();
  for (std::size_t l = 0; l < operands.layers(); ++l) {
    const auto layer = l + 1 == operands.layers() ? linear : linear_relu;
    h = layer(h, operands.weight(l), operands.bias(l));
  }
  return h;
}

// The operands as contiguous matrices.
MlpArrays arrays_of(const Operands& operands) {
  const Array& x = operands.input().array();
  MlpArrays mlp{
      .x = x.reshape({x.numel() / std::max<std::int64_t>(x.size(-1), 1), x.size(-1)}).contiguous(),
      .weights = {},
      .biases = {}};
  for (std::size_t l = 0; l < operands.layers(); ++l) {
    mlp.weights.push_back(operands.weight(l).array().contiguous());
    const Tensor& bias = operands.bias(l);
    mlp.biases.push_back(bias.defined() ? bias.array().contiguous() : Array());
  }
  return mlp;
}

bool fits(const MlpArrays& mlp) {
  return mlp.x.device().is_cuda() ? mlp_fits_cuda(mlp) : mlp_fits_cpu(mlp);
}

class MlpNode final : public Node {
 public:
  explicit MlpNode(const Operands& operands) : MlpNode(operands, edges_of(operands)) {}

  const char* name() const override { return kName; }
  void release_saved() override {
    for (SavedTensor& each : saved_) each.reset();
  }

  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override {
    std::vector<Tensor> all;
    for (const SavedTensor& each : saved_) all.push_back(each.unpack(*this));
    const Operands operands{all};
    if (GradMode::is_enabled()) return differentiable_backward(operands, grads[0], grad_inputs);
    const MlpArrays mlp = arrays_of(operands);
    const Array dy = grads[0].array().reshape({mlp.x.size(0), grads[0].size(-1)}).contiguous();
    const bool with_dx = edges()[0].defined();
    const MlpGradients gradients = dy.device().is_cuda() ? mlp_gradient_on_cuda(mlp, dy, with_dx)
                                                         : mlp_gradient_on_cpu(mlp, dy, with_dx);
    const auto set = [&](std::size_t i, const Array& gradient) {
      if (edges()[i].defined()) grad_inputs[i] = Tensor(gradient);
    };
    if (with_dx) set(0, gradients.dx.reshape(operands.input().sizes()));
    for (std::size_t l = 0; l < operands.layers(); ++l) {
      set(1 + l, gradients.weights[l]);
      set(1 + operands.layers() + l, gradients.biases[l]);
    }
  }

 private:
  MlpNode(const Operands& operands, std::vector<Edge> edges)
      : Node(edges), edges_(std::move(edges)), saved_(operands.all.size()) {
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      if (operands.all[i].defined()) saved_[i].save_input(operands.all[i]);
    }
  }

  static std::vector<Edge> edges_of(const Operands& operands) {
    std::vector<Edge> edges;
    for (const Tensor& each : operands.all) {
      edges.push_back(each.defined() ? gradient_edge(each) : Edge());
    }
    return edges;
  }

  // The same gradients, composed of ops: with g = dy, from the last layer to the first
  //     dW = g^T h,  db = sum of g's rows,  g of the layer before = (g W) [h > 0]
  void differentiable_backward(const Operands& operands, const Tensor& dy,
                               std::span<Tensor> grad_inputs) const {
    const std::size_t layers = operands.layers();
    const auto rows = [](const Tensor& t) {
      return t.dim() == 1 ? unsqueeze(t, 0) : flatten(t, 0, -2);
    };
    std::vector<Tensor> h{rows(operands.input())};
    for (std::size_t l = 0; l + 1 < layers; ++l) {
      h.push_back(linear_relu(h[l], operands.weight(l), operands.bias(l)));
    }
    Tensor g = rows(dy);
    for (std::size_t l = layers; l-- > 0;) {
      grad_inputs[1 + l] = mm(g.t(), h[l]);
      if (operands.bias(l).defined()) grad_inputs[1 + layers + l] = sum(g, {0});
      g = mm(g, operands.weight(l));
      if (l > 0) g = apply(Gradient<Slope<Relu, 0, 1>>{{}, g.dtype()}, g, h[l]);
    }
    grad_inputs[0] = g.reshape(operands.input().sizes());
  }

  std::vector<Edge> edges_;
  std::vector<SavedTensor> saved_;
};

Tensor fused(std::span<const Tensor> given, const Operands& operands, const MlpArrays& mlp) {
  Shape sizes = operands.input().sizes();
  const std::int64_t out = mlp.weights.back().size(0);
  sizes[sizes.size() - 1] = out;
  const Array y = Array::empty({mlp.x.size(0), out}, mlp.x.dtype(), mlp.x.device());
  mlp.x.device().is_cuda() ? mlp_on_cuda(mlp, y) : mlp_on_cpu(mlp, y);
  Tensor result(y.reshape(sizes));
  if (GradMode::is_enabled() && any_requires_grad(operands.all)) {
    set_history(result, std::make_shared<MlpNode>(operands));
  }
  if (op_observer != nullptr) {
    notify({kName, Precision::tensor_core, given, operands.all, result});
  }
  return result;
}

}  // namespace
}  // namespace detail

Tensor mlp(const Tensor& input, const std::vector<Tensor>& weights,
           const std::vector<Tensor>& biases) {
  const std::vector<Tensor> given = detail::listed(input, weights, biases);
  const detail::ScopedValue<const char*> running(detail::running_op, detail::kName);
  std::vector<Tensor> operands = given;
  const detail::ObservedOp observed({detail::kName, operands});
  detail::use_one_device(detail::kName, operands);
  detail::cast_operands(detail::kName, Precision::tensor_core, operands);
  const detail::Operands cast{operands};
  detail::expect_layers(cast);
  if (const detail::MlpArrays arrays = detail::arrays_of(cast); detail::fits(arrays)) {
    return detail::fused(given, cast, arrays);
  }
  return detail::composed({given});
}

namespace detail {
namespace {

// Three layers: x, their weights and, if there are any, their biases. A kernel may store the
// activations between them in the dtype of the output.
Elements mlp_reference(const AnyArithmetic& a, const std::vector<Values>& in) {
  Elements out;
  for (std::int64_t row = 0; row < in[0].sizes[0]; ++row) {
    Elements h = row_of(a, in[0], row);
    for (std::size_t l = 0; l < 3; ++l) {
      Elements next;
      for (std::int64_t i = 0; i < in[1 + l].sizes[0]; ++i) {
        const Elements weights = row_of(a, in[1 + l], i);
        const bool has_bias = in.size() > 4;
        const Bounded z =
            has_bias ? a.dot_from(a.number(in[4 + l].data[static_cast<std::size_t>(i)]), h, weights)
                     : a.dot(h, weights);
        next.push_back(l == 2 ? z : a.stored(a.at_least(z, 0)));
      }
      h = std::move(next);
    }
    out.insert(out.end(), h.begin(), h.end());
  }
  return out;
}

}  // namespace

OpEntry mlp_entry() {
  const auto operand = [](const Shape& sizes) {
    return OperandSpec{.sizes = sizes, .low = -1, .high = 1};
  };
  const auto run = [](const std::vector<Tensor>& in) {
    return mlp(in[0], {in[1], in[2], in[3]},
               in.size() > 4 ? std::vector{in[4], in[5], in[6]} : std::vector<Tensor>());
  };
  const auto example = [&](const char* what, bool with_bias) {
    OpExample made{what,
                   {operand({6, 5}), operand({7, 5}), operand({4, 7}), operand({3, 4})},
                   run,
                   in_double({6, 3}, mlp_reference)};
    if (with_bias) {
      for (const std::int64_t features : {7, 4, 3}) made.operands.push_back(operand({features}));
    }
    return made;
  };
  // Three layers of sums that lose at most 65 roundoffs each in the worst case. The sums are far
  // from it, and from a case in which errors of one layer grow in the next.
  return {.name = kName,
          .precision = Precision::tensor_core,
          .roundoffs = 48,
          .examples = {example("three layers", true), example("no biases", false)},
          .bounded_reference = mlp_reference};
}

}  // namespace detail
}  // namespace halfgrad
