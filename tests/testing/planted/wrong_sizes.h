#pragma once

#include <algorithm>

#include <halfgrad/tests/testing/planted/call.h>

/// Kernels that are right for some sizes only.
namespace halfgrad::testing::planted {

using Index = std::int64_t;

/// The sums of rows; a row of the second block of `tile` rows is that of the first.
inline Kernel sum_of_first_tile(Index tile) {
  return rows([=](const Call& c, Index row) { c.y(row, sum_of(c, row % tile, 0, c.k)); });
}
/// A product whose depth has one of the remainders is one term short.
inline Kernel product_without_tail(Index step, Index remainder) {
  return products([=](const Call& c, Index i, Index j, Index n) {
    return dot_of(c, i, j, n, c.k % step == remainder ? c.k - 1 : c.k);
  });
}
/// A sum in vectors that forgets the tail of this length.
inline Kernel add_without_tail(Index vector, Index remainder) {
  return called([=](const Call& c) {
    const Index end = c.n() % vector == remainder ? c.n() / vector * vector : c.n();
    for (Index i = 0; i < end; ++i) c.y(i, c.x(i) + c.w(i));
  });
}

inline std::vector<PlantedKernel> wrong_sizes() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"sum", f32, "the second block of 16 rows", sum_of_first_tile(16)},
      {"sum", f16, "the second block of 32 rows", sum_of_first_tile(32)},
      {"sum", f32, "the second block of 64 rows", sum_of_first_tile(64)},
      {"sum", bf16, "the second block of 128 rows", sum_of_first_tile(128)},
      {"softmax", f32, "the second block of 32 rows",
       rows([](const Call& c, Index row) { softmax_row(c, row % 32, row, c.k); })},
      {"mm", f32, "the second block of 64 rows",
       products(
           [](const Call& c, Index i, Index j, Index n) { return dot_of(c, i % 64, j, n, c.k); })},
      {"mm", f16, "the second block of 128 columns",
       products(
           [](const Call& c, Index i, Index j, Index n) { return dot_of(c, i, j % 128, n, c.k); })},
      {"mm", f32, "the second block of 32 columns",
       products(
           [](const Call& c, Index i, Index j, Index n) { return dot_of(c, i, j % 32, n, c.k); })},
      {"mm", f32, "k % 8 == 1", product_without_tail(8, 1)},
      {"mm", f32, "k % 32 == 2", product_without_tail(32, 2)},
      {"mm", f16, "k % 32 == 5", product_without_tail(32, 5)},
      {"mm", f32, "k % 8 == 2", product_without_tail(8, 2)},
      {"add", f32, "a tail of 2 of 4", add_without_tail(4, 2)},
      {"add", f16, "a tail of 5 of 8", add_without_tail(8, 5)},
      {"add", f16, "a tail of 6 of 8", add_without_tail(8, 6)},
      {"mm", f32, "the right operand transposed if it is square",
       products([](const Call& c, Index i, Index j, Index n) {
         if (n != c.k) return dot_of(c, i, j, n, c.k);
         float sum = 0;
         for (Index p = 0; p < c.k; ++p) sum += c.x(i, p) * c.w(j * n + p);
         return sum;
       })},
      {"mm", f32, "the result transposed if it is square", called([](const Call& c) {
         const Index n = c.in[1].size(1);
         for (Index i = 0; i < c.m; ++i) {
           for (Index j = 0; j < n; ++j) {
             c.y(n == c.m ? j * n + i : i * n + j, dot_of(c, i, j, n, c.k));
           }
         }
       })},
      {"relu", f32, "an index of 16 bits", called([](const Call& c) {
         for (Index i = 0; i < c.n(); ++i) {
           const float x = c.x(static_cast<std::uint16_t>(i));
           c.y(i, x < 0 ? 0 : x);
         }
       })},
      {"softmax", f32, "at most 8192 columns", rows([](const Call& c, Index row) {
         softmax_row(c, row, row, std::min<Index>(c.k, 8192));
       })},
      {"layer_norm", f32, "at most 2048 columns",
       rows([](const Call& c, Index row) { norm_row(c, row, std::min<Index>(c.k, 2048), 1e-5f); })},
      {"sum", f32, "at most 65535 rows", rows([](const Call& c, Index row) {
         if (row < 65535) c.y(row, sum_of(c, row, 0, c.k));
       })},
      {"bmm", f32, "at most four right-hand matrices", called([](const Call& c) {
         const Index rows = c.in[0].size(1), n = c.in[1].size(2);
         for (Index at = 0; at < c.n(); ++at) {
           const Index batch = at / (rows * n), i = at / n % rows, j = at % n;
           float sum = 0;
           for (Index p = 0; p < c.k; ++p) {
             sum += c.x((batch * rows + i) * c.k + p) * c.w((batch % 4 * c.k + p) * n + j);
           }
           c.y(at, sum);
         }
       })},
      {"embedding", f32, "an index of 16 bits", called([](const Call& c) {
         for (Index at = 0; at < c.n(); ++at) {
           const Index index = c.in[1].data_as<std::int64_t>()[at / c.k];
           c.y(at, c.x(static_cast<std::uint16_t>(index) * c.k + at % c.k));
         }
       })},
      {"argmax", f32, "a position of 16 bits", rows([](const Call& c, Index row) {
         Index best = 0;
         for (Index i = 1; i < c.k && !std::isnan(c.x(row, best)); ++i) {
           if (!(c.x(row, i) <= c.x(row, best))) best = i;
         }
         c.y(row, static_cast<std::uint16_t>(best));
       })},
      {"mv", f32, "at most 8192 columns", rows([](const Call& c, Index row) {
         float sum = 0;
         for (Index i = 0; i < std::min<Index>(c.k, 8192); ++i) sum += c.x(row, i) * c.w(i);
         c.y(row, sum);
       })},
  };
}

}  // namespace halfgrad::testing::planted
