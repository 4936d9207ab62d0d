#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include <halfgrad/core/philox.h>
#include <halfgrad/testing/formulas/numbers.h>

/// What elementwise ops compute (numbers.h's Each). Where kernels usually lose more than they must,
/// the bound is of `either` the best way or the one that they go.
namespace halfgrad::testing::formulas {

inline constexpr auto kAdd = [](const auto& a, const auto& x, const auto& y) {
  return a.add(x, y);
};
inline constexpr auto kSub = [](const auto& a, const auto& x, const auto& y) {
  return a.sub(x, y);
};
inline constexpr auto kMul = [](const auto& a, const auto& x, const auto& y) {
  return a.mul(x, y);
};
inline constexpr auto kDiv = [](const auto& a, const auto& x, const auto& y) {
  return a.div(x, y);
};
/// Of an exact fmod, which alone does not round.
inline constexpr auto kRemainder = [](const auto& a, const auto& x, const auto& y) {
  const auto left = a.number(std::fmod(a.value(x), a.value(y)));
  const bool same_signs = std::signbit(a.value(left)) == std::signbit(a.value(y));
  return a.value(left) == 0 || same_signs ? left : a.add(left, y);
};
inline constexpr auto kPow = [](const auto& a, const auto& x, const auto& y) {
  return a.pow(x, y);
};
inline constexpr auto kSquare = [](const auto& a, const auto& x) { return a.mul(x, x); };
inline constexpr auto kSqrt = [](const auto& a, const auto& x) { return a.sqrt(x); };
inline constexpr auto kExp = [](const auto& a, const auto& x) { return a.exp(x); };
inline constexpr auto kExp2 = [](const auto& a, const auto& x) { return a.exp2(x); };
inline constexpr auto kExpm1 = [](const auto& a, const auto& x) { return a.expm1(x); };
inline constexpr auto kLog = [](const auto& a, const auto& x) { return a.log(x); };
inline constexpr auto kLog2 = [](const auto& a, const auto& x) { return a.log2(x); };
inline constexpr auto kLog10 = [](const auto& a, const auto& x) { return a.log10(x); };
inline constexpr auto kLog1p = [](const auto& a, const auto& x) { return a.log1p(x); };
inline constexpr auto kSin = [](const auto& a, const auto& x) { return a.sin(x); };
inline constexpr auto kCos = [](const auto& a, const auto& x) { return a.cos(x); };
inline constexpr auto kTan = [](const auto& a, const auto& x) { return a.tan(x); };
inline constexpr auto kTanh = [](const auto& a, const auto& x) { return a.tanh(x); };
inline constexpr auto kErf = [](const auto& a, const auto& x) { return a.erf(x); };
inline constexpr auto kReciprocal = [](const auto& a, const auto& x) {
  return a.div(a.number(1), x);
};
inline constexpr auto kRsqrt = [](const auto& a, const auto& x) { return a.rsqrt(x); };
inline constexpr auto kLeakyRelu = [](const auto& a, const auto& x) {
  return a.value(x) > 0 ? x : a.mul(a.constant(0.01), x);
};
inline constexpr auto kElu = [](const auto& a, const auto& x) {
  return a.value(x) > 0 ? x : a.expm1(x);
};

inline constexpr auto kAddCMul = [](const auto& a, const auto& x, const auto& y, const auto& z) {
  return a.add(x, a.mul(y, z));
};
inline constexpr auto kAddCDiv = [](const auto& a, const auto& x, const auto& y, const auto& z) {
  return a.add(x, a.div(y, z));
};

/// start + weight (end - start), from the nearer end. Where the two terms cancel, the error is that
/// of the larger, not a few roundoffs of what is left.
inline constexpr auto kLerp = [](const auto& a, const auto& start, const auto& end,
                                 const auto& weight) {
  const auto distance = a.sub(end, start);
  return a.value(weight) < 0.5 ? a.add(start, a.mul(weight, distance))
                               : a.sub(end, a.mul(a.sub(a.number(1), weight), distance));
};

/// 1 / (1 + e^-x), which is e^x / (1 + e^x) for x < 0. PyTorch's kernels take the first form: its
/// e^-x may overflow where the result is subnormal.
inline constexpr auto kSigmoid = [](const auto& a, const auto& x) {
  const auto one = a.number(1), e = a.exp(a.neg(a.abs(x)));
  const auto y = a.div(a.value(x) < 0 ? e : one, a.add(one, e));
  return a.or_zero_if_reciprocal_overflows(y);
};
inline constexpr auto kSilu = [](const auto& a, const auto& x) { return a.mul(x, kSigmoid(a, x)); };

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|). PyTorch's kernels compute log1p(e^x), and beyond 20
/// they return x, as good in float32; in float64 it has an error of up to 2e-9.
inline constexpr auto kSoftplus = [](const auto& a, const auto& x) {
  const auto tail = a.log1p(a.exp(a.neg(a.abs(x))));
  const auto usual = a.value(x) > 20 ? x : a.log1p(a.exp(x));
  return a.either(a.value(x) > 0 ? a.add(x, tail) : tail, usual);
};

/// x Phi(x), Phi(x) = erfc(-x / sqrt(2)) / 2. PyTorch's kernels compute (1 + erf(x / sqrt(2))) / 2,
/// which for negative x has the absolute error of 1.
inline constexpr auto kGelu = [](const auto& a, const auto& x) {
  const auto z = a.mul(x, a.constant(1 / std::numbers::sqrt2));
  const auto twice = a.either(a.erfc(a.neg(z)), a.add(a.number(1), a.erf(z)));
  return a.mul(x, a.mul(a.number(0.5), twice));
};

/// x (1 + tanh(u)) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3); 1 + tanh(u) = 2 / (1 + e^-2u). Where
/// |x| > 10 the tanh is 1 or -1 in any dtype, and x^3 may overflow.
inline constexpr auto kGeluTanh = [](const auto& a, const auto& argument) {
  const auto z = a.clamp(argument, -10, 10), one = a.number(1);
  const auto cubic = a.mul(a.constant(0.044715), a.mul(z, a.mul(z, z)));
  const auto u = a.mul(a.constant(std::sqrt(2 / std::numbers::pi)), a.add(z, cubic));
  const auto e = a.exp(a.mul(a.number(-2), u));
  const auto twice = a.either(a.div(a.number(2), a.add(one, e)), a.add(one, a.tanh(u)));
  const auto x = a.clamp(argument, -10, std::numeric_limits<double>::infinity());
  return a.mul(x, a.mul(a.number(0.5), twice));
};

/// x / (1 - p) or 0, by the mask that halfgrad's random numbers give for one key.
struct Dropout {
  static constexpr double kP = 0.3;
  static constexpr RandomKey kKey{7, 0};

  template <class A>
  Numbers<A> operator()(const A& a, const std::vector<Values>& in) const {
    Numbers<A> out;
    for (std::size_t i = 0; i < in[0].data.size(); ++i) {
      const bool kept = random_block(kKey, i / 4).word[i % 4] * 0x1p-32 >= kP;
      out.push_back(kept ? a.div(a.number(in[0].data[i]), a.constant(1 - kP)) : a.number(0));
    }
    return out;
  }
};

}  // namespace halfgrad::testing::formulas
