#include <halfgrad/autograd/composed/bits.h>
#include <halfgrad/autograd/composed/inverse.h>
#include <halfgrad/autograd/composed/pointwise.h>
#include <halfgrad/autograd/composed/special.h>

#include <halfgrad/python/bindings/op_binder.h>

/// Functions of autograd/composed/pointwise.h, inverse.h, special.h and bits.h.
namespace halfgrad::python {
namespace {

using OfOne = Tensor (*)(const Tensor&);
using OfTwo = Tensor (*)(const Tensor&, const Tensor&);
using WithNumber = Tensor (*)(const Tensor&, Scalar);
using NumberFirst = Tensor (*)(Scalar, const Tensor&);

void bind_of_one(OpBinder& ops) {
  const auto bind = [&](const char* name, OfOne function, const char* doc) {
    ops.both(name, function, doc);
  };
  bind("frac", &frac, "x - trunc(x).");
  bind("positive", &positive, "The tensor itself.");
  bind("deg2rad", &deg2rad, "x pi / 180.");
  bind("rad2deg", &rad2deg, "x 180 / pi.");
  bind("sinh", &sinh, "The hyperbolic sine. Runs in float32 under autocast.");
  bind("cosh", &cosh, "The hyperbolic cosine. Runs in float32 under autocast.");
  bind("asin", &asin, "The angle in [-pi/2, pi/2] of a sine. Runs in float32 under autocast.");
  bind("acos", &acos, "The angle in [0, pi] of a cosine. Runs in float32 under autocast.");
  bind("atan", &atan, "The angle in [-pi/2, pi/2] of a tangent.");
  bind("asinh", &asinh, "The inverse of sinh.");
  bind("acosh", &acosh, "The inverse of cosh, at least 0.");
  bind("atanh", &atanh, "The inverse of tanh.");
  bind("erfc", &erfc, "1 - erf(x), without cancellation for large x.");
  bind("erfinv", &erfinv, "The x with erf(x) = input. Runs in float32 under autocast.");
  bind("lgamma", &lgamma, "log |Gamma(x)|.");
  bind("digamma", &digamma, "The derivative of lgamma.");
  bind("bitwise_not", &bitwise_not, "All bits inverted; of bool the logical function.");
  bind("sinc", &sinc, "sin(pi x) / (pi x), and 1 at 0.");
  bind("signbit", &signbit, "True where the sign bit is set, also for -0 and NaN.");
  ops.both("logit", &logit, "eps"_a = nb::none(),
           "log(x / (1 - x)); with `eps` x is limited to [eps, 1 - eps] first.");
}

void bind_in_place(OpBinder& ops) {
  using Method = Tensor& (detail::ComposedMethods::*)() const;
  const auto bind = [&](const char* name, Method method, const char* doc) {
    ops.in_place(
        name, [method](Tensor& self) -> Tensor& { return (self.*method)(); }, doc);
  };
  bind("erfc_", &Tensor::erfc_, "erfc(), in place.");
  bind("erfinv_", &Tensor::erfinv_, "erfinv(), in place.");
  bind("lgamma_", &Tensor::lgamma_, "lgamma(), in place.");
  bind("digamma_", &Tensor::digamma_, "digamma(), in place.");
  bind("bitwise_not_", &Tensor::bitwise_not_, "bitwise_not(), in place.");
  ops.function("polygamma", &polygamma, "n"_a, "input"_a, "The derivative number n of digamma.");
  ops.method(
      "polygamma", [](const Tensor& self, std::int64_t n) { return polygamma(n, self); }, "n"_a,
      "The derivative number n of digamma.");
  ops.in_place(
      "polygamma_", [](Tensor& self, std::int64_t n) -> Tensor& { return self.polygamma_(n); },
      "n"_a, "polygamma(), in place.");
}

void bind_bits(OpBinder& ops) {
  const auto bind = [&](const char* name, OfTwo function, WithNumber with_number,
                        NumberFirst number_first, const char* doc) {
    ops.both(name, function, "other"_a, doc);
    ops.both(name, with_number, "other"_a);
    ops.function(name, number_first, "self"_a, "other"_a);
  };
  using OfTensor = Tensor& (detail::ComposedMethods::*)(const Tensor&) const;
  using OfNumber = Tensor& (detail::ComposedMethods::*)(Scalar) const;
  const auto in_place = [&](const char* name, OfTensor of_tensor, OfNumber of_number) {
    ops.in_place(
        name,
        [=](Tensor& self, const Tensor& other) -> Tensor& { return (self.*of_tensor)(other); },
        "other"_a);
    ops.in_place(
        name, [=](Tensor& self, Scalar other) -> Tensor& { return (self.*of_number)(other); },
        "other"_a);
  };
  in_place("bitwise_and_", &Tensor::bitwise_and_, &Tensor::bitwise_and_);
  in_place("bitwise_or_", &Tensor::bitwise_or_, &Tensor::bitwise_or_);
  in_place("bitwise_xor_", &Tensor::bitwise_xor_, &Tensor::bitwise_xor_);
  in_place("bitwise_left_shift_", &Tensor::bitwise_left_shift_, &Tensor::bitwise_left_shift_);
  in_place("bitwise_right_shift_", &Tensor::bitwise_right_shift_, &Tensor::bitwise_right_shift_);
  bind("bitwise_and", &bitwise_and, &bitwise_and, &bitwise_and, "The bits that both have.");
  bind("bitwise_or", &bitwise_or, &bitwise_or, &bitwise_or, "The bits that one of them has.");
  bind("bitwise_xor", &bitwise_xor, &bitwise_xor, &bitwise_xor, "The bits that differ.");
  bind("bitwise_left_shift", &bitwise_left_shift, &bitwise_left_shift, &bitwise_left_shift,
       "input * 2^other, modulo 2^bits of the dtype.");
  bind("bitwise_right_shift", &bitwise_right_shift, &bitwise_right_shift, &bitwise_right_shift,
       "input / 2^other, rounded down.");
}

void bind_nan_to_num(OpBinder& ops) {
  using Replacement = std::optional<double>;
  ops.both("nan_to_num", &nan_to_num, "nan"_a = nb::none(), "posinf"_a = nb::none(),
           "neginf"_a = nb::none(),
           "Replaces NaN, inf and -inf, by default with 0 and the largest finite values.");
  ops.in_place(
      "nan_to_num_",
      [](Tensor& self, Replacement nan, Replacement posinf, Replacement neginf) -> Tensor& {
        return self.nan_to_num_(nan, posinf, neginf);
      },
      "nan"_a = nb::none(), "posinf"_a = nb::none(), "neginf"_a = nb::none(),
      "nan_to_num(), in place.");
}

void bind_of_two(OpBinder& ops) {
  const auto bind = [&](const char* name, OfTwo function, const char* doc) {
    ops.both(name, function, "other"_a, doc);
  };
  bind("logaddexp", &logaddexp, "log(e^input + e^other), without overflow.");
  bind("hypot", &hypot, "sqrt(input^2 + other^2), without overflow.");
  bind("atan2", &atan2, "The angle of the point (other, input), in [-pi, pi].");
  bind("fmax", &fmax, "The larger element; the other operand's where one is NaN.");
  bind("fmin", &fmin, "The smaller element; the other operand's where one is NaN.");
  bind("xlogy", &xlogy, "input * log(other), and 0 where input is 0.");
  bind("copysign", &copysign, "|input| with the sign of other.");
  ops.both("heaviside", &heaviside, "values"_a, "0 where input < 0, `values` at 0, else 1.");
  ops.both("float_power", OfTwo(&float_power), "exponent"_a, "The power in float64.");
}

/// The forms in which one operand is a number.
void bind_with_number(OpBinder& ops) {
  ops.both("xlogy", WithNumber(&xlogy), "other"_a);
  ops.function("xlogy", NumberFirst(&xlogy), "self"_a, "other"_a);
  ops.both("copysign", WithNumber(&copysign), "other"_a);
  ops.both("float_power", WithNumber(&float_power), "exponent"_a);
  ops.function("float_power", NumberFirst(&float_power), "self"_a, "exponent"_a);
}

}  // namespace

void bind_composed_pointwise(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_of_one(ops);
  bind_in_place(ops);
  bind_bits(ops);
  bind_nan_to_num(ops);
  bind_of_two(ops);
  bind_with_number(ops);
}

}  // namespace halfgrad::python
