#include <halfgrad/autograd/mlp.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/op_table/product_reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/mlp_formula.h>
#include <halfgrad/autograd/ops/shared/mlp_gradients.h>
#include <halfgrad/autograd/ops/shared/mlp_operands.h>
#include <halfgrad/autograd/ops/shared/mlp_tiles.h>
#include <halfgrad/core/running_op.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr const char* kName = "mlp";

class MlpNode final : public MlpNodeBase {
 public:
  using MlpNodeBase::MlpNodeBase;

  const char* name() const override { return kName; }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override {
    const std::vector<Tensor> all = unpack();
    const MlpTensors operands{all, activation()};
    if (GradMode::is_enabled()) return differentiable_backward(operands, grads[0], grad_inputs);
    const MlpArrays mlp = mlp_arrays(operands);
    const Array dy = grads[0].array().reshape({mlp.x.size(0), grads[0].size(-1)}).contiguous();
    const bool with_dx = edges()[0].defined();
    set_gradients(operands, mlp_gradients(mlp, dy, with_dx), grad_inputs);
  }

 private:
  // Computes the gradients by differentiable ops. g = dy at first; from the last layer to the first
  //     dW = g^T h,  db = sum of g's rows,  g of the layer before = (g W) f'(z)
  void differentiable_backward(const MlpTensors& operands, const Tensor& dy,
                               std::span<Tensor> grad_inputs) const {
    const std::size_t layers = operands.layers();
    const auto rows = [](const Tensor& t) {
      return t.dim() == 1 ? unsqueeze(t, 0) : flatten(t, 0, -2);
    };
    std::vector<Tensor> h{to(rows(operands.input()), operands.dtype())}, slope_reads;
    with_formula(operands.activation, [&]<class F>(const F& f) {
      for (std::size_t l = 0; l + 1 < layers; ++l) {
        const Tensor z = linear(h[l], operands.weight(l), operands.bias(l));
        h.push_back(apply_elementwise(f, z));
        slope_reads.push_back(operand_of_slope<F>(z, h.back()));
      }
      Tensor g = rows(dy);
      for (std::size_t l = layers; l-- > 0;) {
        grad_inputs[1 + l] = mm(g.t(), h[l]);
        if (operands.bias(l).defined()) grad_inputs[1 + layers + l] = sum(g, {0});
        g = mm(g, operands.weight(l));
        if (l > 0) g = apply(Gradient<Slope<F, 0, 1>>{{f}, g.dtype()}, g, slope_reads[l - 1]);
      }
      grad_inputs[0] = g.reshape(operands.input().sizes());
    });
  }
};

Tensor fused(std::span<const Tensor> given, const MlpTensors& operands, const MlpArrays& mlp) {
  Shape sizes = operands.input().sizes();
  const std::int64_t out = mlp.weights.back().size(0);
  sizes[sizes.size() - 1] = out;
  const Array y = Array::empty({mlp.x.size(0), out}, mlp.dtype(), mlp.x.device());
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
           const std::vector<Tensor>& biases, const std::string& activation) {
  using namespace detail;
  const MlpActivation f = mlp_activation(kName, activation);
  const std::vector<Tensor> given = listed_mlp(kName, input, weights, biases);
  const ScopedValue<const char*> running(running_op, kName);
  std::vector<Tensor> operands = given;
  const ObservedOp observed({kName, operands});
  prepare_mlp(kName, operands);
  const MlpTensors cast{operands, f};
  if (const MlpArrays arrays = mlp_arrays(cast); mlp_fits(arrays)) {
    return fused(given, cast, arrays);
  }
  return composed_mlp({given, f});
}

namespace detail {

namespace {

Elements activated_mlp_reference(const AnyArithmetic& a, const std::vector<Values>& in,
                                 MlpActivation activation) {
  const auto activated = [&](const Bounded& z) {
    if (activation == MlpActivation::relu) return a.stored(a.at_least(z, 0));
    const Bounded argument = a.stored(z);
    return a.stored(activation == MlpActivation::gelu ? gelu_reference(a, argument)
                                                      : gelu_tanh_reference(a, argument));
  };
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
        next.push_back(l == 2 ? z : activated(z));
      }
      h = std::move(next);
    }
    out.insert(out.end(), h.begin(), h.end());
  }
  return out;
}

}  // namespace

Elements mlp_reference(const AnyArithmetic& a, const std::vector<Values>& in) {
  return activated_mlp_reference(a, in, MlpActivation::relu);
}

OpEntry mlp_entry() {
  const auto operand = [](const Shape& sizes) {
    return OperandSpec{.sizes = sizes, .low = -1, .high = 1};
  };
  const auto reference = [](MlpActivation activation) {
    return [activation](const AnyArithmetic& a, const std::vector<Values>& in) {
      return activated_mlp_reference(a, in, activation);
    };
  };
  const auto example = [&](const char* what, bool with_bias, const char* activation = "relu") {
    const auto run = [activation](const std::vector<Tensor>& in) {
      return mlp(in[0], {in[1], in[2], in[3]},
                 in.size() > 4 ? std::vector{in[4], in[5], in[6]} : std::vector<Tensor>(),
                 activation);
    };
    OpExample made{what,
                   {operand({6, 5}), operand({7, 5}), operand({4, 7}), operand({3, 4})},
                   run,
                   in_double({6, 3}, reference(mlp_activation(kName, activation)))};
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
          .examples = {example("three layers", true), example("no biases", false),
                       example("gelu", true, "gelu"), example("gelu tanh", true, "gelu_tanh")},
          .bounded_reference = reference(MlpActivation::relu)};
}

}  // namespace detail
}  // namespace halfgrad
