#include <optional>
#include <vector>

#include <halfgrad/python/bindings/bounded_binder.h>

/// Reductions, products, norms and moves of arrays with error bounds, for halfgrad.reference.
namespace halfgrad::python {
namespace {

using testing::BoundedArray;
using Optional = std::optional<BoundedArray>;
using OptionalDims = std::optional<Shape>;

void bind_products(BoundedBinder& ops) {
  ops.both("matmul", &testing::matmul, "other"_a,
           "The product of matrices, vectors or batches of matrices, also `a @ b`. A sum\n"
           "`a @ b + c` allows an accumulator that begins with c.");
  ops.function(
      "linear",
      [](const BoundedArray& x, const BoundedArray& weight, const Optional& bias) {
        return testing::linear(x, weight, bias.value_or(BoundedArray()));
      },
      "weight"_a, "bias"_a = nb::none(), "[..., k], weight [n, k] and bias [n] to [..., n].");
  ops.module.def(
      "scaled_dot_product_attention",
      [](const BoundedArray& query, const BoundedArray& key, const BoundedArray& value,
         bool is_causal) {
        const testing::BoundedArrays both =
            testing::scaled_dot_product_attention(query, key, value, is_causal);
        return std::pair(both[0], both[1]);
      },
      "query"_a, "key"_a, "value"_a, "is_causal"_a = false,
      "The output [b, m, e] and the logsumexp [b, m] of the scores q k^T / sqrt(d), for a query\n"
      "[b, m, d], a key [b, n, d] and a value [b, n, e].");
}

void bind_norms(BoundedBinder& ops) {
  ops.function(
      "layer_norm",
      [](const BoundedArray& x, const Shape& shape, const Optional& weight, const Optional& bias,
         double eps) {
        return testing::layer_norm(x, shape, weight.value_or(BoundedArray()),
                                   bias.value_or(BoundedArray()), eps);
      },
      "normalized_shape"_a, "weight"_a = nb::none(), "bias"_a = nb::none(), "eps"_a = 1e-5,
      "(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, of these sizes.");
  ops.function(
      "rms_norm",
      [](const BoundedArray& x, const Shape& shape, const Optional& weight, double eps) {
        return testing::rms_norm(x, shape, weight.value_or(BoundedArray()), eps);
      },
      "normalized_shape"_a, "weight"_a = nb::none(), "eps"_a = 1e-5,
      "x / sqrt(mean(x^2) + eps) * weight over the last dimensions, of these sizes.");
}

}  // namespace

void bind_bounded_reductions(BoundedBinder& ops) {
  using Reduction = BoundedArray (*)(const BoundedArray&, const Shape&, bool);
  const auto reduction = [&](const char* name, Reduction reduce, const char* doc) {
    ops.both(
        name,
        [reduce](const BoundedArray& x, const OptionalDims& dims, bool keepdim) {
          return reduce(x, dims.value_or(Shape()), keepdim);
        },
        "dim"_a = nb::none(), "keepdim"_a = false, doc);
  };
  reduction("sum", &testing::sum, "The sum over `dim`, or over all elements, in any order.");
  reduction("mean", &testing::mean, "The mean over `dim`, or over all elements.");
  reduction("amax", &testing::amax, "The maximum over `dim`, or of all elements.");
  reduction("amin", &testing::amin, "The minimum over `dim`, or of all elements.");
  ops.both("logsumexp", &testing::logsumexp, "dim"_a, "keepdim"_a = false,
           "log(sum(exp(x))) over `dim`.");
  ops.both("cumsum", &testing::cumsum, "dim"_a,
           "Sums of the elements up to each one, in any order.");
  ops.both("prod", &testing::prod, "dim"_a, "keepdim"_a = false,
           "The product over `dim`; of exact factors in any order.");
  ops.both("argmax", &testing::argmax, "dim"_a, "keepdim"_a = false,
           "The place of the first largest element, NaN before others; not judged where errors\n"
           "leave it open.");
  ops.both("softmax", &testing::softmax, "dim"_a, "exp(x) / sum(exp(x)) over `dim`.");
  ops.both("log_softmax", &testing::log_softmax, "dim"_a, "log(softmax(x)) over `dim`.");
}

void bind_bounded_shapes(BoundedBinder& ops) {
  bind_products(ops);
  bind_norms(ops);
  const auto reshape = [](const BoundedArray& x, const Shape& shape) { return x.reshape(shape); };
  ops.shaped("reshape", reshape, "shape", "The elements in another shape; one size may be -1.");
  ops.array.def("view", reshape, "shape"_a, "reshape(), under PyTorch's other name.");
  ops.array.def("view", [](const BoundedArray& self, const nb::args& sizes) {
    return self.reshape(shape_of(sizes));
  });
  ops.shaped("expand", &testing::expand, "size", "Repeats dimensions of size 1.");
  ops.shaped("permute", &testing::permute, "dims", "The dimensions in this order.");
  ops.both("t", &BoundedArray::t, "The transpose of a matrix.");
  ops.both("transpose", &BoundedArray::transpose, "dim0"_a, "dim1"_a, "Exchanges two dimensions.");
  ops.both("unsqueeze", &testing::unsqueeze, "dim"_a, "Adds a dimension of size 1.");
  ops.both("narrow", &testing::narrow, "dim"_a, "start"_a, "length"_a,
           "x[..., start:start + length, ...] in dimension `dim`.");
  ops.module.def("cat", &testing::cat, "tensors"_a, "dim"_a = 0,
                 "The arrays one after the other along `dim`.");
  ops.both("index_select", &testing::index_select, "dim"_a, "index"_a,
           "The rows of dimension `dim` that a vector of indices names.");
  ops.both("gather", &testing::gather, "dim"_a, "index"_a,
           "x[i, index[i, j]] for dim = 1, in the index's shape.");
  ops.both("scatter_add", &testing::scatter_add, "dim"_a, "index"_a, "src"_a,
           "x plus `src` at the places of `index`; sums are in any order.");
}

}  // namespace halfgrad::python
