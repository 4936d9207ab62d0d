#include <halfgrad/testing/ulp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

/// The rank of x among the values of its type: neighbours differ by 1, -0 and 0 are equal.
template <class Bits, class Stored>
std::int64_t position(Stored x) {
  const Bits bits = __builtin_bit_cast(Bits, x);
  constexpr Bits kSign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));
  const auto magnitude = static_cast<std::int64_t>(bits & Bits(~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

std::int64_t position_in(double x, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return position<std::uint64_t>(x);
    case DType::f32:
      return position<std::uint32_t>(static_cast<float>(x));
    case DType::f16:
      return position<std::uint16_t>(Half(static_cast<float>(x)).bits);
    case DType::bf16:
      return position<std::uint16_t>(BFloat16(static_cast<float>(x)).bits);
    default:
      detail::fail("ulps_between", "expected a floating-point dtype, got {}", dtype);
  }
}

}  // namespace

double roundoffs_between(double actual, double expected, DType dtype) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  if (!std::isfinite(actual) || !std::isfinite(expected)) return kFar;
  return std::fabs(actual - expected) / roundoff(dtype) / std::fmax(1, std::fabs(expected));
}

double ulps_between(double actual, double expected, DType dtype) {
  const std::int64_t a = position_in(actual, dtype);
  const std::int64_t b = position_in(expected, dtype);
  if (std::isnan(actual) || std::isnan(expected)) {
    return std::isnan(actual) && std::isnan(expected) ? 0 : kFar;
  }
  // Unsigned: the distance from the lowest double to the highest overflows an int64.
  const auto [low, high] = std::minmax(a, b);
  return static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
}

std::vector<double> roundoffs_between(const Tensor& actual, const Tensor& expected) {
  if (actual.sizes() != expected.sizes()) {
    detail::fail("roundoffs_between", "expected equal shapes, got {} and {}", actual.sizes(),
                 expected.sizes());
  }
  std::vector<double> errors;
  if (!is_floating_point(actual.dtype()) && !is_floating_point(expected.dtype())) {
    const auto got = actual.to_vector<std::int64_t>(), wanted = expected.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < got.size(); ++i) errors.push_back(got[i] == wanted[i] ? 0 : kFar);
    return errors;
  }
  const auto got = actual.to_vector<double>(), wanted = expected.to_vector<double>();
  for (std::size_t i = 0; i < got.size(); ++i) {
    errors.push_back(roundoffs_between(got[i], wanted[i], actual.dtype()));
  }
  return errors;
}

WorstError worst_error(const Tensor& actual, const Tensor& expected) {
  const std::vector<double> errors = roundoffs_between(actual, expected);
  WorstError worst;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] > worst.roundoffs) worst = {errors[i], static_cast<std::int64_t>(i)};
  }
  return worst;
}

}  // namespace halfgrad
