#pragma once

#include <cmath>
#include <type_traits>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>

/// Access to the operands of formulas. A formula is written once, for every arithmetic A
/// (error_bound.h, rounded_arithmetic.h). Operands are row-major, and results are in the order of
/// the output. Formulas of elementwise ops are the references on their pages, autograd/ops/.
namespace halfgrad::testing::formulas {

template <class A>
using Numbers = std::vector<Bounded>;

/// Returns `count` elements from element `first` on, with this stride.
template <class A>
Numbers<A> pick(const A& a, const Values& x, std::int64_t first, std::int64_t count,
                std::int64_t stride = 1) {
  Numbers<A> picked;
  picked.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    picked.push_back(a.number(x.data[static_cast<std::size_t>(first + i * stride)]));
  }
  return picked;
}

template <class A>
Numbers<A> row_of(const A& a, const Values& x, std::int64_t row) {
  const std::int64_t k = x.sizes.back();
  return pick(a, x, row * k, k);
}

}  // namespace halfgrad::testing::formulas
