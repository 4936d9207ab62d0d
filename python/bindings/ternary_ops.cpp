#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Ops of three tensors, and limits.
namespace halfgrad::python {
namespace {

using OptionalScalar = std::optional<Scalar>;
using OfTensors = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);

void bind_where(OpBinder& ops) {
  ops.function("where", OfTensors(&where), "condition"_a, "input"_a, "other"_a,
               "input where condition is True, else other.");
  ops.function("where", static_cast<Tensor (*)(const Tensor&, const Tensor&, Scalar)>(&where),
               "condition"_a, "input"_a, "other"_a);
  ops.function("where", static_cast<Tensor (*)(const Tensor&, Scalar, const Tensor&)>(&where),
               "condition"_a, "input"_a, "other"_a);
  ops.function(
      "where",
      [](const Tensor& condition, Scalar input, Scalar other) {
        return where(condition, full({}, input, {.device = condition.device()}), other);
      },
      "condition"_a, "input"_a, "other"_a);
  ops.function(
      "where", [](const Tensor& condition) { return TensorTuple{nonzero(condition).unbind(1)}; },
      "condition"_a, "The indices of elements that are not 0, a vector for each dimension.");
  ops.method(
      "where",
      [](const Tensor& self, const Tensor& condition, const Tensor& other) {
        return where(condition, self, other);
      },
      "condition"_a, "other"_a, "This tensor where condition is True, else other.");
  ops.method(
      "where",
      [](const Tensor& self, const Tensor& condition, Scalar other) {
        return where(condition, self, other);
      },
      "condition"_a, "other"_a);
}

void bind_combinations(OpBinder& ops) {
  using Weighted = Tensor (*)(const Tensor&, const Tensor&, Scalar);
  using Methods = detail::InPlaceMethods;
  ops.both("lerp", Weighted(&lerp), "end"_a, "weight"_a, "input + weight * (end - input).");
  ops.both("lerp", OfTensors(&lerp), "end"_a, "weight"_a);
  ops.both("addcmul", &addcmul, "tensor1"_a, "tensor2"_a, nb::kw_only(), "value"_a = 1,
           "input + value * tensor1 * tensor2.");
  ops.both("addcdiv", &addcdiv, "tensor1"_a, "tensor2"_a, nb::kw_only(), "value"_a = 1,
           "input + value * tensor1 / tensor2.");
  using InPlace = Tensor& (Methods::*)(const Tensor&, const Tensor&, Scalar) const;
  for (const auto& [name, method] :
       {std::pair<const char*, InPlace>{"addcmul_", &Methods::addcmul_},
        {"addcdiv_", &Methods::addcdiv_}}) {
    ops.in_place(
        name,
        [m = method](Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                     Scalar value) -> Tensor& { return (self.*m)(tensor1, tensor2, value); },
        "tensor1"_a, "tensor2"_a, nb::kw_only(), "value"_a = 1);
  }
  ops.in_place(
      "lerp_",
      [](Tensor& self, const Tensor& end, Scalar weight) -> Tensor& {
        return self.lerp_(end, weight);
      },
      "end"_a, "weight"_a);
  ops.in_place(
      "lerp_",
      [](Tensor& self, const Tensor& end, const Tensor& weight) -> Tensor& {
        return self.lerp_(end, weight);
      },
      "end"_a, "weight"_a);
}

void bind_limits(OpBinder& ops) {
  using Limit = Tensor (*)(const Tensor&, Scalar);
  using TensorLimit = Tensor (*)(const Tensor&, const Tensor&);
  ops.both("clamp_min", Limit(&clamp_min), "min"_a, "The larger of the element and min.");
  ops.both("clamp_min", TensorLimit(&clamp_min), "min"_a);
  ops.both("clamp_max", Limit(&clamp_max), "max"_a, "The smaller of the element and max.");
  ops.both("clamp_max", TensorLimit(&clamp_max), "max"_a);
  for (const char* const name : {"clamp", "clip"}) {
    ops.both(
        name,
        [](const Tensor& input, OptionalScalar min, OptionalScalar max) {
          return clamp(input, min, max);
        },
        "min"_a = nb::none(), "max"_a = nb::none(), "Limits elements to [min, max].");
    ops.both(
        name,
        [](const Tensor& input, const OptionalTensor& min, const OptionalTensor& max) {
          return clamp(input, or_undefined(min), or_undefined(max));
        },
        "min"_a = nb::none(), "max"_a = nb::none());
  }
  for (const char* const name : {"clamp_", "clip_"}) {
    ops.in_place(
        name,
        [](Tensor& self, OptionalScalar min, OptionalScalar max) -> Tensor& {
          return self.clamp_(min, max);
        },
        "min"_a = nb::none(), "max"_a = nb::none());
    ops.in_place(
        name,
        [](Tensor& self, const OptionalTensor& min, const OptionalTensor& max) -> Tensor& {
          return self.clamp_(or_undefined(min), or_undefined(max));
        },
        "min"_a = nb::none(), "max"_a = nb::none());
  }
}

}  // namespace

void bind_ternary_ops(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_where(ops);
  bind_combinations(ops);
  bind_limits(ops);
}

}  // namespace halfgrad::python
