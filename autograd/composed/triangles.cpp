#include <algorithm>
#include <cstdlib>
#include <limits>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Returns the indices of the elements of rows in [first_row, end_row), in [begin(row), end(row)).
template <class Begin, class End>
Tensor triangle_indices(std::int64_t first_row, std::int64_t end_row, const Begin& begin,
                        const End& end, CreationOptions options) {
  std::vector<std::int64_t> rows, columns;
  for (std::int64_t row = first_row; row < end_row; ++row) {
    for (std::int64_t column = begin(row); column < end(row); ++column) {
      rows.push_back(row);
      columns.push_back(column);
    }
  }
  const std::int64_t count = std::ssize(rows);
  rows.insert(rows.end(), columns.begin(), columns.end());
  if (!options.dtype) options.dtype = kLong;
  return tensor(rows, {2, count}, options);
}

// Returns the diagonal next to a corner of the matrix for one that is further away.
std::int64_t clamped_diagonal(const char* op, std::int64_t row, std::int64_t col,
                              std::int64_t offset) {
  if (row < 0 || col < 0 || row > std::numeric_limits<std::int64_t>::max() - col) {
    detail::fail(op, "expected sizes >= 0 of a matrix, got {} and {}", row, col);
  }
  return std::clamp(offset, -row, col);
}

}  // namespace

Tensor diag_embed(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const int ndim = static_cast<int>(self.dim()) + 1;
  const int first = wrap_dim(dim1, ndim, "diag_embed");
  const int second = wrap_dim(dim2, ndim, "diag_embed");
  if (self.dim() == 0 || first == second) {
    detail::fail("diag_embed", "expected a tensor [..., n] and two dimensions, got {}, {} and {}",
                 self.sizes(), dim1, dim2);
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - self.size(-1);
  if (offset > most || offset < -most) {
    detail::fail("diag_embed", "expected an offset of a matrix's diagonal, got {}", offset);
  }
  const std::int64_t size = self.size(-1) + std::abs(offset);
  Shape sizes = self.sizes();
  sizes.erase(ndim - 2);
  sizes.insert(std::min(first, second), size);
  sizes.insert(std::max(first, second), size);
  const Tensor matrices = zeros(sizes, self.options());
  diagonal(matrices, offset, first, second).copy_(self);
  return matrices;
}

Tensor diagflat(const Tensor& self, std::int64_t offset) { return diag(flatten(self), offset); }

Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset,
                    const CreationOptions& options) {
  const std::int64_t last = clamped_diagonal("tril_indices", row, col, offset);
  return triangle_indices(
      std::max<std::int64_t>(0, -last), col == 0 ? 0 : row, [](std::int64_t) { return 0; },
      [=](std::int64_t i) { return std::min(col, i + last + 1); }, options);
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset,
                    const CreationOptions& options) {
  const std::int64_t first = clamped_diagonal("triu_indices", row, col, offset);
  return triangle_indices(
      0, col == 0 ? 0 : std::min(row, col - first),
      [=](std::int64_t i) { return std::max<std::int64_t>(0, i + first); },
      [=](std::int64_t) { return col; }, options);
}

}  // namespace halfgrad
