#include <halfgrad/autograd/composed/statistics.h>

#include <halfgrad/autograd/composed/scans.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Functions of autograd/composed/statistics.h and scans.h.
namespace halfgrad::python {
namespace {

using OptionalInt = std::optional<std::int64_t>;
using OptionalDType = std::optional<DType>;
using Pair = std::tuple<Tensor, Tensor>;

/// PyTorch's named tuple.
ValuesIndices named(const Pair& pair) { return {std::get<0>(pair), std::get<1>(pair)}; }

void bind_order(OpBinder& ops) {
  ops.both("median", static_cast<Tensor (*)(const Tensor&)>(&median),
           "The element in the middle, the lower of two, and along `dim` its index, too: a named "
           "tuple.\nNaN if there is one.");
  const auto median_along = static_cast<Pair (*)(const Tensor&, std::int64_t, bool)>(&median);
  ops.both(
      "median",
      [median_along](const Tensor& input, std::int64_t dim, bool keepdim) {
        return named(median_along(input, dim, keepdim));
      },
      "dim"_a, "keepdim"_a = false);
  ops.both(
      "kthvalue",
      [](const Tensor& input, std::int64_t k, std::int64_t dim, bool keepdim) {
        return named(kthvalue(input, k, dim, keepdim));
      },
      "k"_a, "dim"_a = -1, "keepdim"_a = false,
      "The k-th smallest element along `dim`, k = 1 is the smallest, and its index.");
  ops.both(
      "mode",
      [](const Tensor& input, std::int64_t dim, bool keepdim) {
        return named(mode(input, dim, keepdim));
      },
      "dim"_a = -1, "keepdim"_a = false,
      "The most frequent element along `dim`, the smallest of several, and its last index.");
  ops.both(
      "aminmax",
      [](const Tensor& input, OptionalInt dim, bool keepdim) {
        const auto [least, most] = aminmax(input, dim, keepdim);
        return MinMax{least, most};
      },
      nb::kw_only(), "dim"_a = nb::none(), "keepdim"_a = false,
      "The smallest and the largest element, in total or along `dim`: a named tuple.");
}

void bind_quantile(OpBinder& ops) {
  using OfNumber = Tensor (*)(const Tensor&, double, OptionalInt, bool, std::string_view);
  using OfTensor = Tensor (*)(const Tensor&, const Tensor&, OptionalInt, bool, std::string_view);
  ops.both("quantile", OfNumber(&quantile), "q"_a, "dim"_a = nb::none(), "keepdim"_a = false,
           nb::kw_only(), "interpolation"_a = "linear",
           "The q-quantiles, in total or along `dim`. A vector q gives a first dimension. Between "
           "two\nelements interpolates linearly, or takes the \"lower\", the \"higher\", the "
           "\"nearest\" or the\n\"midpoint\". NaN if there is one.");
  ops.both("quantile", OfTensor(&quantile), "q"_a, "dim"_a = nb::none(), "keepdim"_a = false,
           nb::kw_only(), "interpolation"_a = "linear");
}

/// Binds a reduction whose dims are none, one or several.
void bind_without_nan(OpBinder& ops, const char* name,
                      Tensor (*function)(const Tensor&, const Dims&, bool, OptionalDType),
                      const char* doc) {
  ops.both(
      name,
      [function](const Tensor& input, const std::optional<Shape>& dim, bool keepdim,
                 OptionalDType dtype) {
        return function(input, dim.value_or(Shape()), keepdim, dtype);
      },
      "dim"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), "dtype"_a = nb::none(), doc);
}

void bind_totals(OpBinder& ops) {
  bind_without_nan(ops, "nansum", &nansum, "sum() without the elements that are NaN.");
  bind_without_nan(ops, "nanmean", &nanmean, "mean() of the elements that are not NaN.");
  ops.both(
      "count_nonzero",
      [](const Tensor& input, const std::optional<Shape>& dim) {
        return count_nonzero(input, dim.value_or(Shape()));
      },
      "dim"_a = nb::none(),
      "The number of elements that are not 0, in total or along `dim`: int64.");
}

void bind_distances(OpBinder& ops) {
  ops.function("cdist", &cdist, "x1"_a, "x2"_a, "p"_a = 2.0,
               "The p-norms of the differences of all rows of [..., n, d] and [..., m, d]: [..., "
               "n, m].");
  ops.both(
      "dist",
      [](const Tensor& input, const Tensor& other, Scalar p) { return input.dist(other, p); },
      "other"_a, "p"_a = 2, "The p-norm of input - other.");
}

void bind_scans(OpBinder& ops) {
  ops.both("cumprod", &cumprod, "dim"_a, nb::kw_only(), "dtype"_a = nb::none(),
           "y_i = x_0 x_1 ... x_i along `dim`. Integers become int64.");
  using Extreme = Pair (*)(const Tensor&, std::int64_t);
  const auto bind = [&](const char* name, Extreme function, const char* doc) {
    ops.both(
        name,
        [function](const Tensor& input, std::int64_t dim) { return named(function(input, dim)); },
        "dim"_a, doc);
  };
  bind("cummax", &cummax,
       "The largest element so far along `dim`, and its position: the last of equal ones.");
  bind("cummin", &cummin,
       "The smallest element so far along `dim`, and its position: the last of equal ones.");
  ops.both("logcumsumexp", &logcumsumexp, "dim"_a,
           "log(e^x_0 + ... + e^x_i) along `dim`, without overflow.");
  ops.both(
      "diff",
      [](const Tensor& input, std::int64_t n, std::int64_t dim, const OptionalTensor& prepend,
         const OptionalTensor& append) {
        return diff(input, n, dim, or_undefined(prepend), or_undefined(append));
      },
      "n"_a = 1, "dim"_a = -1, "prepend"_a = nb::none(), "append"_a = nb::none(),
      "x_(i+1) - x_i along `dim`, n times. `prepend` and `append` are joined to the input first.");
}

void bind_covariances(OpBinder& ops) {
  ops.both(
      "cov",
      [](const Tensor& input, std::int64_t correction, const OptionalTensor& fweights,
         const OptionalTensor& aweights) {
        return cov(input, correction, or_undefined(fweights), or_undefined(aweights));
      },
      nb::kw_only(), "correction"_a = 1, "fweights"_a = nb::none(), "aweights"_a = nb::none(),
      "The covariances of the rows, over the columns.");
  ops.both("corrcoef", &corrcoef, "The covariances divided by both standard deviations.");
}

void bind_integrals(OpBinder& ops) {
  using AtPoints = Tensor (*)(const Tensor&, const Tensor&, std::int64_t);
  using Spaced = Tensor (*)(const Tensor&, Scalar, std::int64_t);
  for (const char* const name : {"trapezoid", "trapz"}) {
    ops.function(name, AtPoints(&trapezoid), "y"_a, "x"_a, nb::kw_only(), "dim"_a = -1,
                 "The integral of y along `dim` by the trapezoidal rule, at the points x or `dx` "
                 "apart.");
    ops.function(name, Spaced(&trapezoid), "y"_a, nb::kw_only(), "dx"_a = 1, "dim"_a = -1);
  }
}

}  // namespace

void bind_composed_statistics(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_order(ops);
  bind_quantile(ops);
  bind_totals(ops);
  bind_distances(ops);
  bind_scans(ops);
  bind_covariances(ops);
  bind_integrals(ops);
}

}  // namespace halfgrad::python
