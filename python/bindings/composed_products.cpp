#include <halfgrad/autograd/composed/products.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Functions of autograd/composed/products.h.
namespace halfgrad::python {
namespace {

/// Sums over the last `count` dimensions of a and the first ones of b.
Tensor tensordot_of_neighbours(const Tensor& a, const Tensor& b, std::int64_t count) {
  if (count < 0 || count > a.dim() || count > b.dim()) {
    detail::fail("tensordot", "expected 0 <= dims <= {}, got {}", std::min(a.dim(), b.dim()),
                 count);
  }
  Dims last, first;
  for (std::int64_t i = 0; i < count; ++i) {
    last.push_back(a.dim() - count + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

}  // namespace

void bind_composed_products(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  ops.function("tensordot", &tensordot_of_neighbours, "a"_a, "b"_a, "dims"_a = 2,
               "Sums products over pairs of dimensions: the last `dims` of a with the first of b, "
               "or the\nlisted ones of both.");
  ops.function(
      "tensordot",
      [](const Tensor& a, const Tensor& b, const std::pair<Shape, Shape>& dims) {
        return tensordot(a, b, dims.first, dims.second);
      },
      "a"_a, "b"_a, "dims"_a);
  ops.both("inner", &inner, "other"_a,
           "Sums of products over the last dimension of both; the product with a number.");
  ops.both("kron", &kron, "other"_a,
           "The Kronecker product: each element of the input times the whole of `other`.");
  ops.both("addmv", &addmv, "mat"_a, "vec"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1,
           "beta * input + alpha * mat @ vec.");
  ops.both("addr", &addr, "vec1"_a, "vec2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1,
           "beta * input + alpha * outer(vec1, vec2).");
  ops.both("matrix_power", &matrix_power, "n"_a,
           "The product of n copies of each matrix [..., m, m]; n is 0 or more.");
}

}  // namespace halfgrad::python
