#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>

/// Functions with which references of the table's examples are written, in double and one index at
/// a time.
namespace halfgrad::detail {

/// An array of these sizes with the element f(index) at every index.
template <class F>
Values tabulated(const Shape& sizes, const F& f) {
  Values values{sizes, {}};
  for (std::int64_t flat = 0; flat < numel(sizes); ++flat) {
    Shape index = sizes;
    std::int64_t rest = flat;
    for (int i = sizes.size() - 1; i >= 0; --i) {
      index[i] = rest % sizes[i];
      rest /= sizes[i];
    }
    values.data.push_back(f(index));
  }
  return values;
}

/// The element that broadcasting reads at `index`. The index may have more dimensions, on the left,
/// and any component in a dimension of size 1.
inline double& at(Values& values, const Shape& index) {
  const int added = index.size() - values.sizes.size();
  std::int64_t flat = 0;
  for (int i = 0; i < values.sizes.size(); ++i) {
    flat = flat * values.sizes[i] + (values.sizes[i] == 1 ? 0 : index[added + i]);
  }
  return values.data[static_cast<std::size_t>(flat)];
}
inline double at(const Values& values, const Shape& index) {
  return at(const_cast<Values&>(values), index);
}

/// `index` with one component replaced by an element of an index tensor.
inline Shape replaced(Shape index, int dim, double component) {
  index[dim] = static_cast<std::int64_t>(component);
  return index;
}

/// An operand of indices into a dimension of this size.
inline OperandSpec indices(const Shape& sizes, double size) {
  return {.sizes = sizes,
          .low = 0,
          .high = size - 1,
          .kind = OperandSpec::Kind::index,
          .differentiable = false};
}

/// Position of the largest or smallest element of a row, or of its first NaN.
inline std::size_t place_of_extreme(const std::vector<double>& row, bool largest) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i])) return i;
    if (largest ? row[i] > row[best] : row[i] < row[best]) best = i;
  }
  return best;
}

}  // namespace halfgrad::detail
