#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Methods `name_` of functions that have no form in place in C++, or have it for libtorch only.
namespace halfgrad::python {
namespace {

using OfOne = Tensor (*)(const Tensor&);
using OfTensor = Tensor (*)(const Tensor&, const Tensor&);
using OfNumber = Tensor (*)(const Tensor&, Scalar);
using Factors = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, Scalar, Scalar);

bool needs_gradient(const Tensor& argument) { return argument.requires_grad(); }
template <class T>
bool needs_gradient(const T&) {
  return false;
}

/// Binds the method `name`, which assigns function(self, arguments...) to self.
template <class... In, class... Extra>
void bind_form(OpBinder& ops, const char* name, Tensor (*function)(const Tensor&, In...),
               const Extra&... arguments) {
  ops.in_place(
      name,
      [name, function](Tensor& self, In... in) -> Tensor& {
        const bool saves = (false || ... || needs_gradient(in));
        return detail::run_in_place(
            self, name, [&] { return function(detail::operand_for_backward(self, saves), in...); });
      },
      arguments...);
}

void bind_forms_of_one(OpBinder& ops) {
  constexpr std::pair<const char*, OfOne> kForms[] = {
      {"asin_", &asin},
      {"arcsin_", &asin},
      {"acos_", &acos},
      {"arccos_", &acos},
      {"atan_", &atan},
      {"arctan_", &atan},
      {"asinh_", &asinh},
      {"arcsinh_", &asinh},
      {"acosh_", &acosh},
      {"arccosh_", &acosh},
      {"atanh_", &atanh},
      {"arctanh_", &atanh},
      {"sinh_", &sinh},
      {"cosh_", &cosh},
      {"sinc_", &sinc},
      {"frac_", &frac},
      {"deg2rad_", &deg2rad},
      {"rad2deg_", &rad2deg},
      {"logical_not_", &logical_not},
      {"sgn_", &sign},
  };
  for (const auto& [name, function] : kForms) {
    bind_form(ops, name, function);
    const auto apply = [name, function](Tensor& input) -> Tensor& {
      return detail::run_in_place(input, name,
                                  [&] { return function(detail::operand_for_backward(input)); });
    };
    ops.function(name, apply, nb::rv_policy::none, "input"_a);
  }
  bind_form(ops, "logit_", &logit, "eps"_a = nb::none(), "logit(), in place.");
}

void bind_comparisons(OpBinder& ops) {
  struct Comparison {
    const char *name, *second_name;
    OfTensor of_tensor;
    OfNumber of_number;
  };
  constexpr Comparison kComparisons[] = {
      {"eq_", nullptr, &eq, &eq},    {"ne_", "not_equal_", &ne, &ne},
      {"lt_", "less_", &lt, &lt},    {"le_", "less_equal_", &le, &le},
      {"gt_", "greater_", &gt, &gt}, {"ge_", "greater_equal_", &ge, &ge},
  };
  const char* const doc = "1 where it is true, else 0, in the dtype of this tensor.";
  for (const Comparison& op : kComparisons) {
    for (const char* const name : {op.name, op.second_name}) {
      if (name == nullptr) continue;
      bind_form(ops, name, op.of_tensor, "other"_a, doc);
      bind_form(ops, name, op.of_number, "other"_a);
    }
  }
  bind_form(ops, "logical_and_", &logical_and, "other"_a, doc);
  bind_form(ops, "logical_or_", &logical_or, "other"_a, doc);
  bind_form(ops, "logical_xor_", &logical_xor, "other"_a, doc);
}

// float32 could not hold the result.
template <class Exponent>
Tensor checked_power(const Tensor& self, Exponent exponent) {
  if (self.dtype() != kFloat64) {
    detail::fail<std::runtime_error>("float_power_", "expected float64, got {}", self.dtype());
  }
  return float_power(self, exponent);
}

void bind_forms_of_two(OpBinder& ops) {
  for (const char* const name : {"atan2_", "arctan2_"}) {
    bind_form(ops, name, OfTensor(&atan2), "other"_a);
  }
  bind_form(ops, "hypot_", OfTensor(&hypot), "other"_a);
  bind_form(ops, "heaviside_", OfTensor(&heaviside), "values"_a);
  bind_form(ops, "copysign_", OfTensor(&copysign), "other"_a);
  bind_form(ops, "copysign_", OfNumber(&copysign), "other"_a);
  bind_form(ops, "xlogy_", OfTensor(&xlogy), "other"_a);
  bind_form(ops, "xlogy_", OfNumber(&xlogy), "other"_a);
  bind_form(ops, "float_power_", &checked_power<const Tensor&>, "exponent"_a);
  bind_form(ops, "float_power_", &checked_power<Scalar>, "exponent"_a);
  bind_form(ops, "multiply_", OfTensor(&mul), "other"_a);
  bind_form(ops, "multiply_", OfNumber(&mul), "other"_a);
  bind_form(ops, "true_divide_", OfTensor(&div), "other"_a);
  bind_form(ops, "true_divide_", OfNumber(&div), "other"_a);
  using Mode = std::optional<std::string_view>;
  bind_form(ops, "divide_", static_cast<Tensor (*)(const Tensor&, const Tensor&, Mode)>(&div),
            "other"_a, nb::kw_only(), "rounding_mode"_a = nb::none());
  bind_form(ops, "divide_", static_cast<Tensor (*)(const Tensor&, Scalar, Mode)>(&div), "other"_a,
            nb::kw_only(), "rounding_mode"_a = nb::none());
  bind_form(ops, "subtract_", static_cast<Tensor (*)(const Tensor&, const Tensor&, Scalar)>(&sub),
            "other"_a, nb::kw_only(), "alpha"_a = 1);
  bind_form(ops, "subtract_", static_cast<Tensor (*)(const Tensor&, Scalar, Scalar)>(&sub),
            "other"_a, nb::kw_only(), "alpha"_a = 1);
}

Tensor in_dtype_of(const char* op, const Tensor& self, std::int64_t dim, std::optional<DType> dtype,
                   Tensor (*scan)(const Tensor&, std::int64_t, std::optional<DType>)) {
  if (dtype && *dtype != self.dtype()) {
    detail::fail<std::runtime_error>(op, "expected the dtype of the tensor, {}, got {}",
                                     self.dtype(), *dtype);
  }
  return scan(self, dim, self.dtype());
}
Tensor sums(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  return in_dtype_of("cumsum_", self, dim, dtype, &cumsum);
}
Tensor products(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  return in_dtype_of("cumprod_", self, dim, dtype, &cumprod);
}

void bind_scans_and_products(OpBinder& ops) {
  bind_form(ops, "cumsum_", &sums, "dim"_a, nb::kw_only(), "dtype"_a = nb::none());
  bind_form(ops, "cumprod_", &products, "dim"_a, nb::kw_only(), "dtype"_a = nb::none());
  bind_form(ops, "addmv_", Factors(&addmv), "mat"_a, "vec"_a, nb::kw_only(), "beta"_a = 1,
            "alpha"_a = 1);
  bind_form(ops, "addr_", Factors(&addr), "vec1"_a, "vec2"_a, nb::kw_only(), "beta"_a = 1,
            "alpha"_a = 1);
  ops.both("addbmm", Factors(&addbmm), "batch1"_a, "batch2"_a, nb::kw_only(), "beta"_a = 1,
           "alpha"_a = 1, "beta * input + alpha * sum of the products of two batches.");
  bind_form(ops, "addbmm_", Factors(&addbmm), "batch1"_a, "batch2"_a, nb::kw_only(), "beta"_a = 1,
            "alpha"_a = 1);
  ops.in_place(
      "renorm_",
      [](Tensor& self, Scalar p, std::int64_t dim, Scalar maxnorm) -> Tensor& {
        return self.renorm_(p, dim, maxnorm);
      },
      "p"_a, "dim"_a, "maxnorm"_a, "renorm(), in place.");
}

void bind_shapes_and_draws(OpBinder& ops, TensorClass& tensor) {
  const auto transpose = [](Tensor& self, std::int64_t a, std::int64_t b) -> Tensor& {
    return self.transpose_(a, b);
  };
  ops.in_place("swapaxes_", transpose, "axis0"_a, "axis1"_a);
  ops.in_place("swapdims_", transpose, "dim0"_a, "dim1"_a);
  tensor.def(
      "resize_",
      [](Tensor& self, const nb::args& sizes) -> Tensor& { return self.resize_(shape_of(sizes)); },
      nb::rv_policy::none, "Takes this shape. New elements have any value.");
  ops.in_place(
      "resize_as_",
      [](Tensor& self, const Tensor& other) -> Tensor& { return self.resize_(other.sizes()); },
      "other"_a, "Takes the shape of `other`.");
  ops.in_place(
      "exponential_",
      [](Tensor& self, double lambd, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return self.exponential_(lambd);
      },
      "lambd"_a = 1.0, nb::kw_only(), generator_option(),
      "Draws every element from the exponential distribution with mean 1 / lambd.");
  ops.in_place(
      "log_normal_",
      [](Tensor& self, double mean, double std, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return self.log_normal_(mean, std);
      },
      "mean"_a = 1.0, "std"_a = 2.0, nb::kw_only(), generator_option(),
      "Draws exp() of normal elements of this mean and standard deviation.");
}

/// Second names, and methods of functions.
void bind_other_names(OpBinder& ops) {
  constexpr std::pair<const char*, OfOne> kNames[] = {
      {"arcsin", &asin},   {"arccos", &acos},   {"arctan", &atan}, {"arcsinh", &asinh},
      {"arccosh", &acosh}, {"arctanh", &atanh}, {"sgn", &sign},
  };
  for (const auto& [name, function] : kNames) ops.both(name, function);
  ops.both("arctan2", OfTensor(&atan2), "other"_a);
  ops.both(
      "isposinf", [](const Tensor& input) { return input.isposinf(); }, "True for inf.");
  ops.both(
      "isneginf", [](const Tensor& input) { return input.isneginf(); }, "True for -inf.");
  ops.both("vdot", &vdot, "other"_a, "dot().");
  ops.method("ger", &ger, "vec2"_a, "outer().");
  ops.both(
      "renorm",
      [](const Tensor& input, Scalar p, std::int64_t dim, Scalar maxnorm) {
        return input.renorm(p, dim, maxnorm);
      },
      "p"_a, "dim"_a, "maxnorm"_a,
      "Scales each slice along `dim` whose p-norm exceeds maxnorm to that norm.");
}

}  // namespace

void bind_in_place_forms(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_forms_of_one(ops);
  bind_comparisons(ops);
  bind_forms_of_two(ops);
  bind_scans_and_products(ops);
  bind_shapes_and_draws(ops, tensor);
  bind_other_names(ops);
}

}  // namespace halfgrad::python
