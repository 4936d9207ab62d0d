#include <halfgrad/testing/kernel_ops/exact_sums.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

namespace halfgrad::testing::detail {
namespace {

std::int64_t columns(const Dims& d) { return d.columns > 0 ? d.columns : d.n; }
Shape batched_shape(const Dims& d) { return {d.m, d.n, columns(d)}; }

Specs two_matrices(const Dims& d) { return {{.sizes = {d.m, d.k}}, {.sizes = {d.k, d.n}}}; }

KernelOp linear_like(const char* name) {
  return judged(
      name, "[m, k], [n, k], [n] -> [m, n]",
      [](const Dims& d) {
        return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.n, d.k}}, {.sizes = {d.n}}};
      },
      product_shape);
}

}  // namespace

std::vector<KernelOp> product_ops() {
  const std::string product = "[m, k], [k, n] -> [m, n]";
  return {
      with_exact_product(judged("mm", product, two_matrices, product_shape), 0, 1),
      with_exact_product(judged("matmul", product, two_matrices, product_shape), 0, 1),
      with_exact_product(
          judged(
              "bmm", "[m, n, k], [m, k, c] -> [m, n, c]",
              [](const Dims& d) {
                return Specs{{.sizes = {d.m, d.n, d.k}}, {.sizes = {d.m, d.k, columns(d)}}};
              },
              batched_shape),
          0, 1),
      with_exact_product(judged(
                             "mv", "[m, k], [k] -> [m]",
                             [](const Dims& d) {
                               return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.k}}};
                             },
                             row_results),
                         0, 1),
      with_exact_product(judged(
                             "dot", "[k], [k] -> []",
                             [](const Dims& d) {
                               return Specs{{.sizes = {d.k}}, {.sizes = {d.k}}};
                             },
                             scalar),
                         0, 1),
      judged(
          "outer", "[m], [n] -> [m, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m}}, {.sizes = {d.n}}};
          },
          product_shape),
      with_exact_product(
          judged(
              "addmm", "[n], [m, k], [k, n] -> [m, n]",
              [](const Dims& d) {
                return Specs{{.sizes = {d.n}}, {.sizes = {d.m, d.k}}, {.sizes = {d.k, d.n}}};
              },
              product_shape),
          1, 2, 0),
      with_exact_product(judged(
                             "baddbmm", "[c], [m, n, k], [m, k, c] -> [m, n, c]",
                             [](const Dims& d) {
                               return Specs{{.sizes = {columns(d)}},
                                            {.sizes = {d.m, d.n, d.k}},
                                            {.sizes = {d.m, d.k, columns(d)}}};
                             },
                             batched_shape),
                         1, 2, 0),
      with_exact_product(linear_like("linear"), 0, 1, 2),
      with_exact_product(linear_like("linear_relu"), 0, 1, 2),
      linear_like("linear_gelu"),
      judged(
          "mlp", "[m, k], [16, k], [16, 16], [n, 16], [16], [16], [n] -> [m, n]",
          [](const Dims& d) {
            constexpr std::int64_t kHidden = 16;
            return Specs{
                {.sizes = {d.m, d.k}},     {.sizes = {kHidden, d.k}}, {.sizes = {kHidden, kHidden}},
                {.sizes = {d.n, kHidden}}, {.sizes = {kHidden}},      {.sizes = {kHidden}},
                {.sizes = {d.n}}};
          },
          product_shape),
  };
}

}  // namespace halfgrad::testing::detail
