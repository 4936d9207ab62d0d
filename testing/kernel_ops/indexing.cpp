#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/testing/kernel_ops/exact_sums.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

namespace halfgrad::testing::detail {
namespace {

using halfgrad::detail::at;
using halfgrad::detail::replaced;
using halfgrad::detail::tabulated;
using Operands = std::vector<Values>;

/// An op that only moves elements: f(operands) is its result.
template <class Shapes, class Output>
KernelOp moved(const char* name, const char* signature, const Shapes& operands,
               const Output& output, Values (*f)(const Operands&)) {
  KernelOp op = op_of(name, signature, operands, output);
  judge_exactly(op, [f](const Operands& in) { return f(in).data; });
  op.moves = true;
  return op;
}

Values rows_at(const Operands& in) {
  return tabulated({in[1].sizes[0], in[0].sizes[1]},
                   [&](const Shape& i) { return at(in[0], replaced(i, 0, at(in[1], {i[0]}))); });
}

KernelOp table_rows(const char* name) {
  return needs_rows(moved(
      name, "[k, n], indices [m] -> [m, n]",
      [](const Dims& d) {
        return Specs{{.sizes = {d.k, d.n}}, indices_below(d.k, {d.m})};
      },
      product_shape, rows_at));
}

}  // namespace

std::vector<KernelOp> index_ops() {
  return {
      moved(
          "transpose", "[m, n] -> [n, m]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.n}}};
          },
          [](const Dims& d) {
            return Shape{d.n, d.m};
          },
          [](const Operands& in) {
            return tabulated({in[0].sizes[1], in[0].sizes[0]}, [&](const Shape& i) {
              return at(in[0], {i[1], i[0]});
            });
          }),
      moved(
          "cat", "[m, k], [m, n] -> [m, k + n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.m, d.n}}};
          },
          [](const Dims& d) {
            return Shape{d.m, d.k + d.n};
          },
          [](const Operands& in) {
            const std::int64_t k = in[0].sizes[1];
            return tabulated({in[0].sizes[0], k + in[1].sizes[1]}, [&](const Shape& i) {
              return i[1] < k ? at(in[0], i) : at(in[1], {i[0], i[1] - k});
            });
          }),
      moved(
          "stack", "[m, k], [m, k] -> [m, 2, k]", two_alike,
          [](const Dims& d) {
            return Shape{d.m, 2, d.k};
          },
          [](const Operands& in) {
            return tabulated({in[0].sizes[0], 2, in[0].sizes[1]}, [&](const Shape& i) {
              return at(in[static_cast<std::size_t>(i[1])], {i[0], i[2]});
            });
          }),
      needs_rows(moved(
          "gather", "[m, k], indices [m, n] -> [m, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, indices_below(d.k, {d.m, d.n})};
          },
          product_shape,
          [](const Operands& in) {
            return tabulated(in[1].sizes, [&](const Shape& i) {
              return at(in[0], replaced(i, 1, at(in[1], i)));
            });
          })),
      table_rows("index_select"),
      table_rows("embedding"),
      in_place(moved(
          "masked_fill", "[m, k], mask [m, k] -> [m, k], with 0.5",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}},
                         {.sizes = {d.m, d.k}, .kind = OperandSpec::Kind::boolean}};
          },
          same_matrix,
          [](const Operands& in) {
            return tabulated(in[0].sizes, [&](const Shape& i) {
              return at(in[1], i) != 0 ? 0.5 : at(in[0], i);
            });
          })),
      with_exact_sum(needs_rows(judged(
                         "scatter_add", "[m, k], indices [m, n], [m, n] -> [m, k]",
                         [](const Dims& d) {
                           return Specs{{.sizes = {d.m, d.k}},
                                        indices_below(d.k, {d.m, d.n}),
                                        {.sizes = {d.m, d.n}}};
                         },
                         same_matrix)),
                     {0, 2}),
  };
}

}  // namespace halfgrad::testing::detail
