#include <array>
#include <utility>
#include <vector>

#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/gradient_memory.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/side_work.h>
#include <halfgrad/autograd/op_table/product_reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/linear.h>
#include <halfgrad/autograd/ops/shared/parameter_gradients.h>
#include <halfgrad/autograd/ops/shared/pending_product.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

void expect_shapes(const char* op, const Array& x, const Array& w, const Array& bias) {
  if (x.ndim() == 0 || w.ndim() != 2 || x.size(-1) != w.size(1)) {
    fail(op, "expected an input [..., in] and a weight [out, in], got {} and {}", x.sizes(),
         w.sizes());
  }
  if (bias.defined() && bias.sizes() != Shape{w.size(0)} &&
      (bias.numel() != 1 || bias.ndim() > 1)) {
    fail(op, "expected a bias [out], [1] or [] for a weight [out, in], got {} and {}", bias.sizes(),
         w.sizes());
  }
}

// Reshapes [..., n] to a matrix [rows, n].
Tensor as_rows(const Tensor& x) { return x.dim() == 1 ? unsqueeze(x, 0) : flatten(x, 0, -2); }

// Returns dY W. If a relu made X, its backward may compute its own gradient in the same kernel.
Tensor input_gradient(const Backward<3>& node, const Tensor& dy) {
  const bool is_seen = GradMode::is_enabled() || op_observer != nullptr;
  if (is_seen || dy.dim() == 1 || !dy.is_contiguous()) return matmul(dy, node.input(1));
  return pending_product(dy.array(), node.input_array(1));
}

// Returns dY^T X, where X is rounded to the dtype of dY.
Tensor weight_gradient(const Tensor& dy, const Tensor& x) {
  if (x.dtype() != dy.dtype() && !GradMode::is_enabled() && op_observer == nullptr) {
    const Array dw = Array::empty({dy.size(1), x.size(1)}, dy.dtype(), dy.device());
    const Array dy_t = dy.array().transpose(0, 1);
    if (rounding_product(Activation::none, dy_t, x.array(), {}, dw)) return Tensor(dw);
  }
  return mm(dy.t(), to(x, dy.dtype()));
}

// Sets dW and db. `on_side_stream`: computes them beside dX, if a graph is captured (side_work.h).
void set_parameter_gradients(const Backward<3>& node, const Tensor& dy, bool on_side_stream) {
  if (!node.needs(1) && !node.needs(2)) return;
  const Tensor dy_rows = as_rows(dy);
  if (node.needs(1) && node.needs(2) && !GradMode::is_enabled()) {
    const Tensor x_rows = as_rows(node.input(0));
    // An observer sees the product, which makes its own memory.
    Array memory;
    if (op_observer == nullptr) {
      memory = take_gradient_memory(node.edge(1), dy.dtype(), dy.device());
    }
    ParameterGradients d;
    const auto compute = [&] {
      d = parameter_gradients(dy_rows.array(), x_rows.array(), memory);
      return std::vector{d.weight, d.bias};
    };
    if (on_side_stream) {
      SideWork::run({dy_rows.array(), x_rows.array()}, compute);
    } else {
      compute();
    }
    node.set(1, Tensor(d.weight));
    node.set(2, Tensor(d.bias));
    return;
  }
  if (node.needs(1)) node.set(1, weight_gradient(dy_rows, as_rows(node.input(0))));
  if (node.needs(2)) node.set(2, sum(dy_rows, {0}));
}

}  // namespace

bool rounds_input(const char* op, const Tensor& x, const Tensor& w) {
  if (cast_rule == nullptr || !x.defined() || !w.defined() || x.requires_grad()) return false;
  if (!rounds_while_loading(x.array(), w.array())) return false;
  const auto dtype = cast_rule->dtype_of(op, Precision::tensor_core, x);
  return dtype && is_reduced(*dtype) && cast_rule->dtype_of(op, Precision::tensor_core, w) == dtype;
}

Array as_matrix(const Array& x) {
  const Shape leading(x.sizes().data(), static_cast<std::size_t>(x.ndim() - 1));
  return x.reshape({numel(leading), x.size(-1)});
}

Array linear_output(const char* op, const Array& x, const Array& w, const Array& bias,
                    bool rounds_input) {
  expect_shapes(op, x, w, bias);
  if (!rounds_input) expect_one_dtype(op, x, w);
  if (bias.defined()) expect_one_dtype(op, w, bias);
  Shape sizes = x.sizes();
  sizes[x.ndim() - 1] = w.size(0);
  return Array::empty(sizes, w.dtype(), x.device());
}

Array bias_row(const Array& bias, const Array& w) {
  return bias.defined() ? bias.expand({w.size(0)}) : bias;
}

// dX = dY W,  dW = dY^T X,  db = sum of the rows of dY
void set_linear_gradients(const Backward<3>& node, const Tensor& dy) {
  const bool on_side_stream = node.needs(0) && SideWork::is_enabled();
  if (on_side_stream) set_parameter_gradients(node, dy, true);  // first: must not wait for dX
  if (node.needs(0)) node.set(0, input_gradient(node, dy));
  if (!on_side_stream) set_parameter_gradients(node, dy, false);
}

namespace {

// Y = X W^T + b,  X [..., in], W [out, in], b [out], Y [..., out]
struct Linear {
  static constexpr auto name = "linear";
  static constexpr auto precision = Precision::tensor_core;
  static constexpr unsigned saves = kSavesInputs;
  static constexpr std::array reads = {operands(1), operands(0), kSavesNothing};

  bool rounds_input = false;

  Array forward(const Array& x, const Array& w, const Array& bias) const {
    const Array out = linear_output(name, x, w, bias, rounds_input);
    if (rounds_input && rounding_product(Activation::none, as_matrix(x), w.transpose(0, 1),
                                         bias_row(bias, w), as_matrix(out))) {
      return out;
    }
    if (x.dtype() != w.dtype()) return forward(x.to(w.dtype()), w, bias);
    const bool one_row = x.ndim() == 1;
    product(1, one_row ? x.unsqueeze(0) : x, w.transpose(0, 1), 0, one_row ? out.unsqueeze(0) : out,
            bias_row(bias, w));
    return out;
  }

  void backward(const Backward<3>& node) const { set_linear_gradients(node, node.grad()); }
};

// As in PyTorch, a bias with several rows is added by addmm for a matrix input, else separately.
Tensor linear_with_bias_rows(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const auto compute = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    expect_shapes(Linear::name, x.array(), w.array(), {});
    Shape sizes = x.sizes();
    sizes[x.array().ndim() - 1] = w.size(0);
    expect_one_dtype(Linear::name, x.array(), b.array());
    if (broadcast_shapes(sizes, b.sizes(), Linear::name) != sizes) {
      fail(Linear::name, "expected a bias that broadcasts to the result {}, got {}", sizes,
           b.sizes());
    }
    return x.dim() == 2 ? addmm(b, x, w.t()) : apply(Linear{}, x, w, Tensor()) + b;
  };
  return composite(Linear::name, Linear::precision, compute, input, weight, bias);
}

}  // namespace

OpEntry linear_entry(const char* name, const LinearFunction& f,
                     const ActivationReference& activation) {
  constexpr std::int64_t kIn = 5;
  constexpr std::int64_t kOut = 3;
  const auto operand = [](const Shape& sizes) {
    return OperandSpec{.sizes = sizes, .low = -1, .high = 1};
  };
  const auto run = [f](const std::vector<Tensor>& in) {
    return f(in[0], in[1], in.size() > 2 ? in[2] : Tensor());
  };
  const auto reference = [activation](const AnyArithmetic& a, const std::vector<Values>& in) {
    const auto outputs = static_cast<std::size_t>(in[1].sizes[0]);
    Elements bias;
    if (in.size() > 2) {
      std::size_t rows = 1;
      for (int d = 0; d + 1 < in[0].sizes.size(); ++d) {
        rows *= static_cast<std::size_t>(in[0].sizes[d]);
      }
      for (std::size_t i = 0; i < rows * outputs; ++i) {
        bias.push_back(a.number(in[2].data[i % outputs]));
      }
    }
    Elements out = product_reference(a, in[0], in[1], true, bias.empty() ? nullptr : bias.data());
    for (Bounded& each : out) each = activation(a, each);
    return out;
  };
  const auto example = [&](const char* what, const Shape& x, bool with_bias) {
    Shape y = x;
    y[y.size() - 1] = kOut;
    OpExample made{what, {operand(x), operand({kOut, kIn})}, run, in_double(y, reference)};
    if (with_bias) made.operands.push_back(operand({kOut}));
    return made;
  };
  // An element is a sum of kIn + 1 terms of magnitude at most 1. Each of the kIn + 1 operations
  // loses at most a roundoff of kIn + 1, and the store loses one more. An activation of slope up to
  // 1.13 stays within that, since the sums are far from this worst case.
  return {.name = name,
          .precision = Precision::tensor_core,
          .roundoffs = (kIn + 1) * (kIn + 1) + 1,
          .examples = {example("2-D", {4, kIn}, true), example("no bias", {4, kIn}, false),
                       example("vector", {kIn}, true), example("3-D", {2, 4, kIn}, true)},
          .bounded_reference = reference};
}

OpEntry linear_entry() {
  return linear_entry(Linear::name, linear, [](const AnyArithmetic&, Bounded z) { return z; });
}

}  // namespace detail

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() == 1) {  // one output, without a dimension of its own
    const Tensor product = squeeze(linear(input, unsqueeze(weight, 0), {}), -1);
    return bias.defined() ? product + bias : product;
  }
  if (bias.defined() && bias.dim() > 1) {
    if (input.dim() != 1) return detail::linear_with_bias_rows(input, weight, bias);
    return squeeze(detail::linear_with_bias_rows(unsqueeze(input, 0), weight, bias), 0);
  }
  return detail::apply_linear(detail::Linear{}, input, weight, bias);
}

}  // namespace halfgrad
