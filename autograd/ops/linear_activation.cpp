#include <halfgrad/autograd/linear_activation.h>

#include <array>
#include <utility>

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/gelu.h>
#include <halfgrad/autograd/ops/shared/linear.h>
#include <halfgrad/autograd/ops/shared/pending_product.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/autograd/ops/shared/relu.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

struct LinearRelu : Relu {
  using Formula = Relu;
  static constexpr auto name = "linear_relu";
  static constexpr auto activation = Activation::relu;
};
struct LinearGelu : GeluTanh {
  using Formula = GeluTanh;
  static constexpr auto name = "linear_gelu";
  static constexpr auto activation = Activation::gelu_tanh;
};

// Y = f(Z),  Z = X W^T + b,  X [..., in], W [out, in], b [out], Y [..., out]
template <class F>
struct LinearActivation {
  static constexpr auto name = F::name;
  static constexpr auto precision = Precision::tensor_core;
  static constexpr bool kFromOutput = F::saves == kSavesOutput;  // f'(Z) follows from Y
  static constexpr unsigned saves = kSavesInputs | (kFromOutput ? kSavesOutput : kSavesNothing);
  // Z is computed again from all operands if f'(Z) must be differentiated and does not follow from
  // Y.
  static constexpr std::array reads = {kFromOutput ? operands(1) : kSavesInputs,
                                       kFromOutput ? operands(0) : kSavesInputs,
                                       kFromOutput ? kSavesNothing : kSavesInputs};
  Array aux = {};  // Z if f'(Z) needs it, or a relu_mask()
  bool rounds_input = false;

  Array forward(const Array& x, const Array& w, const Array& bias) {
    if (!is_floating_point(x.dtype())) {
      fail(name, "expected floating-point operands, got {}", x.dtype());
    }
    const Array y = linear_output(name, x, w, bias, rounds_input);
    const Array rows = as_matrix(x), columns = w.transpose(0, 1), y_rows = as_matrix(y);
    const Array row = bias_row(bias, w);
    if (rounds_input && rounding_product(F::activation, rows, columns, row, y_rows)) return y;
    if (x.dtype() != w.dtype()) return forward(x.to(w.dtype()), w, bias);
    aux = kFromOutput ? relu_mask(y_rows, x.size(-1))
                      : Array::empty(y_rows.sizes(), y.dtype(), y.device());
    if (activated_product(F::activation, rows, columns, row, y_rows, aux)) return y;
    if (kFromOutput && std::exchange(aux, {}).defined() &&
        activated_product(F::activation, rows, columns, row, y_rows, {})) {
      return y;
    }
    const Array& sums = kFromOutput ? y_rows : aux;
    product(1, rows, columns, 0, sums, row);
    elementwise(ValueKernel<typename F::Formula>{}, y.dtype(), y_rows, sums);
    return y;
  }

  void release_saved() { aux = {}; }

  // dZ = dY f'(Z);  dX, dW and db follow from dZ as in linear.
  void backward(const Backward<3>& node) const {
    const Gradient<Slope<F, 0, 1>> gradient{{}, node.grad().dtype()};
    if (GradMode::is_enabled()) {
      const Tensor saved =
          kFromOutput ? node.output() : linear(node.input(0), node.input(1), node.input(2));
      return set_linear_gradients(node, apply(gradient, node.grad(), saved));
    }
    if constexpr (F::activation == Activation::relu) {
      set_linear_gradients(node, Tensor(relu_gradient(node.grad(), node.output_array(), aux)));
    } else {
      static_cast<void>(node.input_array(0));  // throws if it was released, as aux was then too
      const Array& dy = node.grad().array();
      set_linear_gradients(node, Tensor(gradient.forward(dy, aux.reshape(dy.sizes()))));
    }
  }
};

}  // namespace

OpEntry linear_relu_entry() {
  return linear_entry(LinearRelu::name, linear_relu,
                      [](const AnyArithmetic& a, Bounded z) { return a.at_least(z, 0); });
}
// A kernel may store the argument of gelu in the dtype of the output.
OpEntry linear_gelu_entry() {
  return linear_entry(LinearGelu::name, linear_gelu, [](const AnyArithmetic& a, Bounded z) {
    return GeluTanh::reference(a, a.stored(z));
  });
}

}  // namespace detail

Tensor linear_relu(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return detail::apply_linear(detail::LinearActivation<detail::LinearRelu>{}, input, weight, bias);
}

Tensor linear_gelu(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return detail::apply(detail::LinearActivation<detail::LinearGelu>{}, input, weight, bias);
}

}  // namespace halfgrad
