#include <halfgrad/testing/kernel_ops/exact_sums.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halfgrad::testing::detail {
namespace {

/// Magnitudes of an operand. `unit` is the largest power of two of which all elements are
/// multiples: infinite if all are 0, and 0 if one is not finite.
struct Magnitudes {
  double unit = std::numeric_limits<double>::infinity();
  double total = 0, largest = 0;
};

double unit_of(double x) {
  constexpr int kBits = 53;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, kBits));
  return std::ldexp(1, exponent - kBits + std::countr_zero(digits));
}

Magnitudes magnitudes_of(const Values& x) {
  Magnitudes all;
  for (const double each : x.data) {
    if (each == 0) continue;
    if (!std::isfinite(each)) return {0, 0, 0};
    const double magnitude = std::fabs(each);
    all.unit = std::min(all.unit, unit_of(each));
    all.total += magnitude;
    all.largest = std::max(all.largest, magnitude);
  }
  return all;
}

/// True if all multiples of `unit` up to `sum` are normal values of the dtype, or 0.
bool holds(DType dtype, double unit, double sum) {
  const FormatLimits limits = limits_of(dtype);
  const double normal = limits.smallest / (2 * limits.roundoff);
  return unit >= normal && sum <= limits.largest && (sum == 0 || sum <= unit / limits.roundoff);
}

}  // namespace

bool sums_are_exact(DType accumulate, const std::vector<const Values*>& addends) {
  Magnitudes all;
  for (const Values* each : addends) {
    const Magnitudes own = magnitudes_of(*each);
    all.unit = std::min(all.unit, own.unit);
    all.total += own.total;
  }
  return holds(accumulate, all.unit, all.total);
}

bool products_are_exact(DType accumulate, const Values& a, const Values& b, const Values* start) {
  const Magnitudes left = magnitudes_of(a), right = magnitudes_of(b);
  const Magnitudes first = start == nullptr ? Magnitudes{} : magnitudes_of(*start);
  const bool is_zero = left.total == 0 || right.total == 0;
  if (left.unit == 0 || right.unit == 0 || is_zero) return false;
  const double sum = std::min(left.total * right.largest, left.largest * right.total);
  return holds(accumulate, std::min(left.unit * right.unit, first.unit), sum + first.largest);
}

KernelOp with_exact_sum(KernelOp op, const std::vector<std::size_t>& addends) {
  op.exact_sums = [addends](const std::vector<Values>& in, DType accumulate) {
    std::vector<const Values*> terms;
    for (const std::size_t operand : addends) terms.push_back(&in[operand]);
    return std::vector<bool>{sums_are_exact(accumulate, terms)};
  };
  return op;
}

KernelOp with_exact_product(KernelOp op, std::size_t a, std::size_t b, int start) {
  op.exact_sums = [=](const std::vector<Values>& in, DType accumulate) {
    const Values* const first = start < 0 ? nullptr : &in[static_cast<std::size_t>(start)];
    return std::vector<bool>{products_are_exact(accumulate, in[a], in[b], first)};
  };
  return op;
}

}  // namespace halfgrad::testing::detail
