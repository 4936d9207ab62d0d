#include <cmath>
#include <cstdlib>
#include <limits>
#include <variant>

#include <nanobind/stl/variant.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Ops of one tensor: functions, methods, and methods that end in _.
namespace halfgrad::python {
namespace {

using Function = Tensor (*)(const Tensor&);
using InPlace = Tensor& (detail::UnaryMethods::*)() const;
using Methods = detail::UnaryMethods;

struct UnaryOp {
  const char* name;
  const char* in_place_name;
  Function function;
  InPlace in_place;
  const char* doc;
};

constexpr UnaryOp kUnaryOps[] = {
    {"neg", "neg_", &neg, &Methods::neg_, "-x"},
    {"negative", "negative_", &neg, &Methods::neg_, "-x"},
    {"abs", "abs_", &abs, &Methods::abs_, "The absolute value."},
    {"absolute", "absolute_", &abs, &Methods::abs_, "The absolute value."},
    {"fix", "fix_", &trunc, &Methods::trunc_, "trunc()."},
    {"exp", "exp_", &exp, &Methods::exp_, "e^x. Runs in float32 under autocast."},
    {"exp2", "exp2_", &exp2, &Methods::exp2_, "2^x."},
    {"expm1", "expm1_", &expm1, &Methods::expm1_, "e^x - 1, exact near 0."},
    {"log", "log_", &log, &Methods::log_, "The natural logarithm."},
    {"log2", "log2_", &log2, &Methods::log2_, "The logarithm to base 2."},
    {"log10", "log10_", &log10, &Methods::log10_, "The logarithm to base 10."},
    {"log1p", "log1p_", &log1p, &Methods::log1p_, "log(1 + x), exact near 0."},
    {"sqrt", "sqrt_", &sqrt, &Methods::sqrt_, "The square root."},
    {"rsqrt", "rsqrt_", &rsqrt, &Methods::rsqrt_, "1 / sqrt(x)."},
    {"reciprocal", "reciprocal_", &reciprocal, &Methods::reciprocal_, "1 / x."},
    {"square", "square_", &square, &Methods::square_, "x^2."},
    {"sin", "sin_", &sin, &Methods::sin_, "The sine."},
    {"cos", "cos_", &cos, &Methods::cos_, "The cosine."},
    {"tan", "tan_", &tan, &Methods::tan_, "The tangent."},
    {"tanh", "tanh_", &tanh, &Methods::tanh_, "The hyperbolic tangent."},
    {"erf", "erf_", &erf, &Methods::erf_, "The error function."},
    {"floor", "floor_", &floor, &Methods::floor_,
     "The largest integer up to x. The gradient is 0."},
    {"ceil", "ceil_", &ceil, &Methods::ceil_, "The smallest integer from x on. The gradient is 0."},
    {"round", "round_", &round, &Methods::round_,
     "The nearest integer, the even one of two. The gradient is 0."},
    {"trunc", "trunc_", &trunc, &Methods::trunc_, "The integer part. The gradient is 0."},
    {"sign", "sign_", &sign, &Methods::sign_, "-1, 0 or 1; 0 for NaN. The gradient is 0."},
    {"sigmoid", "sigmoid_", &sigmoid, &Methods::sigmoid_, "1 / (1 + e^-x)."},
    {"relu", "relu_", &relu, &Methods::relu_, "max(x, 0)."},
};

struct Predicate {
  const char* name;
  Function function;
  const char* doc;
};

constexpr Predicate kPredicates[] = {
    {"isfinite", &isfinite, "True where x is neither infinite nor NaN."},
    {"isinf", &isinf, "True where x is infinite."},
    {"isnan", &isnan, "True where x is NaN."},
    {"logical_not", &logical_not, "True where x is 0."},
    {"clone", &clone, "Returns a copy, through which gradients flow."},
    {"contiguous", &contiguous, "Returns this tensor if it is row-major, else a row-major copy."},
};

void bind_activations(OpBinder& ops) {
  ops.function("leaky_relu", &leaky_relu, "input"_a, "negative_slope"_a = 0.01,
               "x for x > 0, else negative_slope * x.");
  ops.function("elu", &elu, "input"_a, "alpha"_a = 1.0, "x for x > 0, else alpha * (e^x - 1).");
  ops.function(
      "gelu", &gelu, "input"_a, nb::kw_only(), "approximate"_a = "none",
      "x Phi(x), with the normal distribution function Phi: exact (\"none\") or \"tanh\".");
  ops.function("silu", &silu, "input"_a, "x * sigmoid(x).");
  ops.function("softplus", &softplus, "input"_a, "beta"_a = 1.0,
               "threshold"_a = std::numeric_limits<double>::infinity(),
               "log(1 + exp(beta x)) / beta, or x where beta x > threshold.");
  ops.function("softshrink", &softshrink, "input"_a, "lambd"_a = 0.5,
               "x - lambd for x > lambd, x + lambd for x < -lambd, else 0.");
}

/// round() to a number of decimals, by a multiplication and a division as in PyTorch.
void bind_decimals(OpBinder& ops) {
  ops.both(
      "round",
      [](const Tensor& input, int decimals) {
        const double factor = std::pow(10.0, std::abs(decimals));
        return decimals < 0 ? round(input / factor) * factor : round(input * factor) / factor;
      },
      nb::kw_only(), "decimals"_a);
}

/// With as_tuple=True a vector of indices for each dimension, which index a tensor.
void bind_nonzero(OpBinder& ops) {
  ops.both("nonzero", &nonzero, "The indices of elements that are not 0: int64 [count, dim()].");
  ops.both(
      "nonzero",
      [](const Tensor& input, bool as_tuple) -> std::variant<Tensor, TensorTuple> {
        if (!as_tuple) return nonzero(input);
        return TensorTuple{nonzero(input.dim() == 0 ? input.unsqueeze(0) : input).unbind(1)};
      },
      nb::kw_only(), "as_tuple"_a);
}

}  // namespace

void bind_unary_ops(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  for (const UnaryOp& op : kUnaryOps) {
    ops.both(op.name, op.function, op.doc);
    const auto in_place = [method = op.in_place](Tensor& self) -> Tensor& {
      return (self.*method)();
    };
    ops.in_place(op.in_place_name, in_place);
    ops.function(op.in_place_name, in_place, nb::rv_policy::none, "input"_a);
  }
  for (const Predicate& op : kPredicates) ops.both(op.name, op.function, op.doc);
  bind_activations(ops);
  bind_decimals(ops);
  bind_nonzero(ops);
  tensor.def("__neg__", Function(&neg), ReleaseGil())
      .def("__pos__", [](const Tensor& self) { return self; })
      .def("__abs__", Function(&abs), ReleaseGil())
      .def("__invert__", [](const Tensor& self) { return ~self; });
}

}  // namespace halfgrad::python
