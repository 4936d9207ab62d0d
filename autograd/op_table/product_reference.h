#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/op_table/row_references.h>

/// References of matrix products on AnyArithmetic (arithmetic.h), which several ops share.
namespace halfgrad::detail {

/// left [..., k] by right [k, n], or [n, k] if it is transposed: [..., n] in row-major order. A
/// vector `right` has n = 1. Adds `start`, if any, to the elements of the product.
inline Elements product_reference(const AnyArithmetic& a, const Values& left, const Values& right,
                                  bool right_is_transposed = false,
                                  const Bounded* start = nullptr) {
  const std::int64_t k = left.sizes.back();
  const std::int64_t n = right_is_transposed       ? right.sizes[0]
                         : right.sizes.size() == 1 ? 1
                                                   : right.sizes[1];
  std::int64_t m = 1;
  for (int d = 0; d + 1 < left.sizes.size(); ++d) m *= left.sizes[d];
  std::vector<Elements> columns;
  for (std::int64_t j = 0; j < n; ++j) {
    columns.push_back(right_is_transposed ? row_of(a, right, j) : strided(a, right, j, k, n));
  }
  Elements out;
  for (std::int64_t i = 0; i < m; ++i) {
    const Elements row = row_of(a, left, i);
    for (const Elements& column : columns) {
      out.push_back(start == nullptr ? a.dot(row, column) : a.dot_from(*start++, row, column));
    }
  }
  return out;
}

/// Matrix i of a batch [b, m, n]. A batch of 1 broadcasts, and so does a matrix.
inline Values matrix_of_batch(const Values& x, std::int64_t i) {
  if (x.sizes.size() < 3) return x;
  const std::int64_t count = x.sizes[1] * x.sizes[2];
  const auto first = x.data.begin() + (x.sizes[0] == 1 ? 0 : i * count);
  return {{x.sizes[1], x.sizes[2]}, {first, first + count}};
}

/// matmul of operands in[0] and in[1]: vectors, matrices or batches of matrices; plus `start`, if
/// any
inline Elements matmul_reference_from(const AnyArithmetic& a, const std::vector<Values>& in,
                                      const Bounded* start) {
  const auto batch_of = [](const Values& x) { return x.sizes.size() == 3 ? x.sizes[0] : 1; };
  if (in[0].sizes.size() < 3 && in[1].sizes.size() < 3) {
    return product_reference(a, in[0], in[1], false, start);
  }
  const std::int64_t batch = batch_of(in[0]) == 1 ? batch_of(in[1]) : batch_of(in[0]);
  Elements out;
  for (std::int64_t i = 0; i < batch; ++i) {
    const Elements one = product_reference(a, matrix_of_batch(in[0], i), matrix_of_batch(in[1], i),
                                           false, start == nullptr ? start : start + out.size());
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}
inline Elements matmul_reference(const AnyArithmetic& a, const std::vector<Values>& in) {
  return matmul_reference_from(a, in, nullptr);
}

/// mlp of three layers: x, their weights and, if there are any, their biases. A kernel may store
/// the activations between them in the dtype of the output.
Elements mlp_reference(const AnyArithmetic& a, const std::vector<Values>& in);

}  // namespace halfgrad::detail
