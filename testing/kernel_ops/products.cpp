#include <halfgrad/testing/formulas/products.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

namespace halfgrad::testing::detail {
namespace {

Specs two_matrices(const Dims& d) { return {{.sizes = {d.m, d.k}}, {.sizes = {d.k, d.n}}}; }

template <class Formula>
KernelOp linear_like(const char* name) {
  return judged<Formula>(
      name, "[m, k], [n, k], [n] -> [m, n]",
      [](const Dims& d) {
        return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.n, d.k}}, {.sizes = {d.n}}};
      },
      product_shape);
}

}  // namespace

std::vector<KernelOp> product_ops() {
  namespace f = formulas;
  const std::string product = "[m, k], [k, n] -> [m, n]";
  return {
      judged<f::Matmul>("mm", product, two_matrices, product_shape),
      judged<f::Matmul>("matmul", product, two_matrices, product_shape),
      judged<f::Bmm>(
          "bmm", "[m, n, k], [m, k, n] -> [m, n, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.n, d.k}}, {.sizes = {d.m, d.k, d.n}}};
          },
          [](const Dims& d) {
            return Shape{d.m, d.n, d.n};
          }),
      judged<f::Matmul>(
          "mv", "[m, k], [k] -> [m]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.k}}};
          },
          row_results),
      judged<f::Matmul>(
          "dot", "[k], [k] -> []",
          [](const Dims& d) {
            return Specs{{.sizes = {d.k}}, {.sizes = {d.k}}};
          },
          scalar),
      judged<f::Outer>(
          "outer", "[m], [n] -> [m, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m}}, {.sizes = {d.n}}};
          },
          product_shape),
      judged<f::Addmm>(
          "addmm", "[n], [m, k], [k, n] -> [m, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.n}}, {.sizes = {d.m, d.k}}, {.sizes = {d.k, d.n}}};
          },
          product_shape),
      judged<f::Baddbmm>(
          "baddbmm", "[n], [m, n, k], [m, k, n] -> [m, n, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.n}}, {.sizes = {d.m, d.n, d.k}}, {.sizes = {d.m, d.k, d.n}}};
          },
          [](const Dims& d) {
            return Shape{d.m, d.n, d.n};
          }),
      linear_like<f::Linear>("linear"),
      linear_like<f::LinearRelu>("linear_relu"),
      linear_like<f::LinearGelu>("linear_gelu"),
  };
}

}  // namespace halfgrad::testing::detail
