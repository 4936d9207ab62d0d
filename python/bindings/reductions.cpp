#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Reductions, sorting and running sums.
namespace halfgrad::python {
namespace {

using Dim = std::optional<Shape>;
using OneDim = std::optional<std::int64_t>;
using OptionalDType = std::optional<DType>;
using Pair = std::tuple<Tensor, Tensor>;

/// PyTorch's named tuple.
ValuesIndices named(const Pair& pair) { return {std::get<0>(pair), std::get<1>(pair)}; }

/// The dims of a reduction: all of them for None.
Shape dims_of(const Tensor& input, const Dim& dim) {
  if (dim) return *dim;
  Shape all;
  for (std::int64_t i = 0; i < input.dim(); ++i) all.push_back(i);
  return all;
}

using Total = Tensor (*)(const Tensor&, const Shape&, bool, OptionalDType);

void bind_totals(OpBinder& ops) {
  const auto bind = [&](const char* name, Total function, const char* doc) {
    ops.both(
        name,
        [function](const Tensor& input, const Dim& dim, bool keepdim, OptionalDType dtype) {
          return function(input, dims_of(input, dim), keepdim, dtype);
        },
        "dim"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), "dtype"_a = nb::none(), doc);
  };
  bind("sum", Total(&sum), "Sums over `dim`, one or several dimensions; all of them for None.");
  bind("mean", Total(&mean), "The mean over `dim`; over all dimensions for None.");
  ops.both(
      "prod", [](const Tensor& input, OptionalDType dtype) { return prod(input, dtype); },
      nb::kw_only(), "dtype"_a = nb::none(), "The product of all elements, or along `dim`.");
  ops.both("prod", static_cast<Tensor (*)(const Tensor&, std::int64_t, bool, OptionalDType)>(&prod),
           "dim"_a, "keepdim"_a = false, nb::kw_only(), "dtype"_a = nb::none());
  ops.both("cumsum", &cumsum, "dim"_a, nb::kw_only(), "dtype"_a = nb::none(),
           "y_i = x_0 + x_1 + ... + x_i along `dim`.");
}

void bind_spread(OpBinder& ops) {
  const auto bind = [&](const char* name, auto function, const char* doc) {
    ops.both(
        name,
        [function](const Tensor& input, const Dim& dim, std::optional<Scalar> correction,
                   bool keepdim) {
          return function(input, dims_of(input, dim), correction.value_or(1), keepdim);
        },
        "dim"_a = nb::none(), nb::kw_only(), "correction"_a.none() = 1, "keepdim"_a = false, doc);
    ops.both(
        name,
        [function](const Tensor& input, const Dim& dim, bool unbiased, bool keepdim) {
          return function(input, dims_of(input, dim), unbiased ? 1 : 0, keepdim);
        },
        "dim"_a = nb::none(), "unbiased"_a = true, "keepdim"_a = false);
    ops.both(
        name,
        [function](const Tensor& input, bool unbiased) {
          return function(input, dims_of(input, std::nullopt), unbiased ? 1 : 0, false);
        },
        "unbiased"_a);
  };
  using Spread = Tensor (*)(const Tensor&, const Shape&, std::optional<Scalar>, bool);
  using WithMean = Pair (*)(const Tensor&, const Shape&, std::optional<Scalar>, bool);
  bind("var", Spread(&var), "sum (x - mean)^2 / (n - correction) over `dim`.");
  bind("std", Spread(&std), "The square root of var().");
  bind("var_mean", WithMean(&var_mean), "(var(), mean()).");
  bind("std_mean", WithMean(&std_mean), "(std(), mean()).");
  ops.both(
      "norm",
      [](const Tensor& input, Scalar p, const Dim& dim, bool keepdim) {
        return norm(input, p, dims_of(input, dim), keepdim);
      },
      "p"_a = 2, "dim"_a = nb::none(), "keepdim"_a = false, "(sum |x|^p)^(1/p) over `dim`.");
  ops.both(
      "norm",
      [](const Tensor& input, const std::string& p, const Dim& dim, bool keepdim) {
        if (p == "nuc") {
          detail::fail("norm",
                       "expected a number or \"fro\", got \"nuc\", which needs the singular "
                       "values that halfgrad does not compute");
        }
        if (p != "fro") detail::fail("norm", "expected a number or \"fro\", got \"{}\"", p);
        return norm(input, 2, dims_of(input, dim), keepdim);
      },
      "p"_a, "dim"_a = nb::none(), "keepdim"_a = false);
  ops.both(
      "logsumexp",
      [](const Tensor& input, const Shape& dim, bool keepdim) {
        return logsumexp(input, dim, keepdim);
      },
      "dim"_a, "keepdim"_a = false, "log(sum e^x) over `dim`, without overflow.");
}

void bind_extremes(OpBinder& ops) {
  using All = Tensor (*)(const Tensor&);
  using Along = Pair (*)(const Tensor&, std::int64_t, bool);
  using Both = Tensor (*)(const Tensor&, const Tensor&);
  const auto bind = [&](const char* name, All all, Along along, Both both, const char* doc) {
    ops.both(name, all, doc);
    ops.both(
        name,
        [along](const Tensor& input, std::int64_t dim, bool keepdim) {
          return named(along(input, dim, keepdim));
        },
        "dim"_a, "keepdim"_a = false);
    ops.both(name, both, "other"_a);
  };
  bind("max", &max, &max, &max,
       "The largest element; along `dim` a named tuple, values and indices, the first if values "
       "are\n"
       "equal; with `other` the larger of both elements.");
  bind("min", &min, &min, &min, "The smallest element, in the forms of max().");
  using Amax = Tensor (*)(const Tensor&, const Shape&, bool);
  for (const auto& [name, function] :
       {std::pair<const char*, Amax>{"amax", &amax}, {"amin", &amin}}) {
    ops.both(
        name,
        [f = function](const Tensor& input, const Dim& dim, bool keepdim) {
          return f(input, dims_of(input, dim), keepdim);
        },
        "dim"_a = nb::none(), "keepdim"_a = false,
        "The largest (amax) or smallest (amin) element over one or several dimensions.");
  }
  ops.both("argmax", &argmax, "dim"_a = nb::none(), "keepdim"_a = false,
           "The index of the largest element, along `dim` or in the flattened tensor: int64.");
  ops.both("argmin", &argmin, "dim"_a = nb::none(), "keepdim"_a = false,
           "The index of the smallest element.");
}

void bind_tests(OpBinder& ops) {
  using All = Tensor (*)(const Tensor&);
  using Along = Tensor (*)(const Tensor&, std::int64_t, bool);
  ops.both("all", All(&all), "Whether every element is not 0, in total or along `dim`.");
  ops.both("all", Along(&all), "dim"_a, "keepdim"_a = false);
  ops.both("any", All(&any), "Whether some element is not 0, in total or along `dim`.");
  ops.both("any", Along(&any), "dim"_a, "keepdim"_a = false);
  const auto over_dims = [&](const char* name, Along along) {
    ops.both(
        name,
        [along](const Tensor& input, const Shape& dims, bool keepdim) {
          if (dims.empty()) return along(input.unsqueeze(0), 0, false);  // each element on its own
          Tensor result = input;
          for (std::int64_t dim : dims) result = along(result, dim, /*keepdim=*/true);
          return keepdim ? result : result.reshape(amax(input, dims).sizes());
        },
        "dim"_a, "keepdim"_a = false);
  };
  over_dims("all", &all);
  over_dims("any", &any);
}

void bind_sorting(OpBinder& ops) {
  ops.both(
      "sort",
      [](const Tensor& input, std::int64_t dim, bool descending, bool /*stable*/) {
        return named(sort(input, dim, descending));
      },
      "dim"_a = -1, "descending"_a = false, nb::kw_only(), "stable"_a = false,
      "Returns a named tuple: sorted values, and their indices. Sorting is always stable.");
  ops.both(
      "argsort",
      [](const Tensor& input, std::int64_t dim, bool descending, bool /*stable*/) {
        return argsort(input, dim, descending);
      },
      "dim"_a = -1, "descending"_a = false, nb::kw_only(), "stable"_a = false,
      "Returns the indices of sort() alone.");
  ops.both(
      "topk",
      [](const Tensor& input, std::int64_t k, std::int64_t dim, bool largest, bool is_sorted) {
        return named(topk(input, k, dim, largest, is_sorted));
      },
      "k"_a, "dim"_a = -1, "largest"_a = true, "sorted"_a = true,
      "Returns a named tuple: the k largest (or smallest) values along `dim`, and indices.");
  ops.both(
      "multinomial",
      [](const Tensor& input, std::int64_t count, bool replacement, Generator* generator) {
        const DrawsFrom source(generator);
        return multinomial(input, count, replacement);
      },
      "num_samples"_a, "replacement"_a = false, nb::kw_only(), generator_option(),
      "Draws indices with probabilities in proportion to input, [n] or [rows, n].");
}

}  // namespace

void bind_reductions(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_totals(ops);
  bind_spread(ops);
  bind_extremes(ops);
  bind_tests(ops);
  bind_sorting(ops);
}

}  // namespace halfgrad::python
