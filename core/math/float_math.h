#pragma once

#include <bit>

#include <halfgrad/core/math/pack_math.h>

/// math.h's functions on Pack<float>.
///
/// Each function reduces its argument to a small interval and evaluates a polynomial there, without
/// branches (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980).
/// tools/minimax.py computes the coefficients, listed from the highest power down. sin, cos, tan,
/// exp2, log2, log10, fmod and pow work in double, because float would lose bits.
namespace halfgrad::math {

namespace detail {

/// Evaluates a polynomial by Horner's rule; the coefficient of the highest power is first.
template <class T, class... Rest>
Pack<T> polynomial(Pack<T> x, T highest, Rest... rest) {
  Pack<T> sum = highest;
  ((sum = sum * x + Pack<T>(rest)), ...);
  return sum;
}

/// x rounded to the nearest integer, as a float and as an integer. Adding 1.5 * 2^(digits - 1)
/// leaves no bits for a fraction, so the low bits of the sum hold the integer.
template <class T>
struct Rounded {
  static constexpr T kShift = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);

  Pack<T> shifted;

  explicit Rounded(Pack<T> x) : shifted(x + kShift) {}
  Pack<T> value() const { return shifted - kShift; }
  typename Mask<T>::Lanes integer() const { return bits(shifted) - bits(Pack<T>(kShift)); }
};

/// Returns 2^n for n in [-126, 127].
inline Pack<float> power_of_two(Mask<float>::Lanes n) { return from_bits<float>((n + 127) << 23); }

inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f;  // 9 bits: products with an exponent are exact
inline constexpr float kLn2Low = -2.12194440e-4f;

/// Returns e^r - 1 for |r| <= ln(2) / 2.
inline Pack<float> expm1_near_zero(Pack<float> r) {
  const Pack<float> p = polynomial(r, 0.0001991430317f, 0.001394110223f, 0.008333272829f,
                                   0.04166635354f, 0.1666666682f, 0.5000000047f);
  return r * r * p + r;
}

inline Pack<float> subtract_ln2(Pack<float> x, Pack<float> n) {
  return x - n * kLn2High - n * kLn2Low;
}

/// Returns e^x = 2^n e^r with r = x - n ln(2), for results that are normal numbers.
inline Pack<float> exp_normal(Pack<float> x) {
  const Rounded n(x * kLog2E);
  const Pack<float> r = subtract_ln2(x, n.value());
  return (1 + expm1_near_zero(r)) * power_of_two(n.integer());
}

/// x = mantissa * 2^exponent with mantissa in [sqrt(1/2), sqrt(2)), for positive finite x.
struct Split {
  Pack<float> mantissa, exponent;

  explicit Split(Pack<float> x) {
    const Mask<float> subnormal = x < 0x1p-126f;
    const auto whole = bits(select(subnormal, x * 0x1p23f, x));
    const auto n = (whole - bits(Pack<float>(0.70710678f))) >> 23;
    mantissa = from_bits<float>(whole - (n << 23));
    exponent = Pack<float>(__builtin_convertvector(n, Pack<float>::Lanes)) -
               select(subnormal, Pack<float>(23), Pack<float>(0));
  }
};

}  // namespace detail

/// Multiplies e^r by 2^n in two steps, for results from subnormal to overflow: see exp_normal.
inline Pack<float> exp(Pack<float> x) {
  x = select(x > 89, 89, select(x < -104, -104, x));
  const detail::Rounded n(x * detail::kLog2E);
  const Pack<float> r = detail::subtract_ln2(x, n.value());
  const auto half = n.integer() >> 1;
  return (1 + detail::expm1_near_zero(r)) * detail::power_of_two(half) *
         detail::power_of_two(n.integer() - half);
}

/// 2^n e^r - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)).
inline Pack<float> expm1(Pack<float> x) {
  const Pack<float> clamped = select(x > 89, 89, select(x < -18, -18, x));
  const detail::Rounded n(clamped * detail::kLog2E);
  const Pack<float> near_zero = detail::expm1_near_zero(detail::subtract_ln2(clamped, n.value()));
  const Pack<float> half = detail::power_of_two(n.integer() - 1);
  const Pack<float> y = 2 * (half * near_zero + (half - 0.5f));
  return copysign(select(n.value() == 0, near_zero, y), x);
}

/// log(x) = n ln(2) + log(1 + f).
inline Pack<float> log(Pack<float> x) {
  const detail::Split split(abs(x));
  const Pack<float> n = split.exponent;
  const Pack<float> f = split.mantissa - 1;
  const Pack<float> f2 = f * f;
  const Pack<float> p =
      detail::polynomial(f, -0.07859617842f, 0.1288165097f, -0.1312875442f, 0.1418119155f,
                         -0.1662455401f, 0.2000228628f, -0.2500081041f, 0.3333331673f);
  const Pack<float> low = f2 * f * p + n * detail::kLn2Low;
  const Pack<float> y = low - 0.5f * f2 + f + n * detail::kLn2High;
  const Pack<float> not_positive = select(x == 0, Pack<float>(-kInfinity), kNaN);
  return select(x > 0, select(x < kInfinity, y, x), not_positive);
}

/// log(u) with u = 1 + x rounded, corrected for the rounding (x - (u - 1)) / u.
inline Pack<float> log1p(Pack<float> x) {
  const Pack<float> u = 1 + x;
  const Pack<float> lost = (x - (u - 1)) / u;
  const Pack<float> y = log(u) + select((u > 0) & (u < kInfinity), lost, 0);
  return select(u == 1, x, y);
}

/// 1 - 2 / (e^2x + 1), near zero x + x^3 p(x^2).
inline Pack<float> tanh(Pack<float> x) {
  const Pack<float> z = x * x;
  const Pack<float> p = detail::polynomial(z, -0.005615320639f, 0.02057854639f, -0.05372986428f,
                                           0.1333148499f, -0.3333329388f);
  const Pack<float> a = select(abs(x) > 10, 10, abs(x));
  const Pack<float> magnitude = 1 - 2 / (detail::exp_normal(2 * a) + 1);
  return copysign(select(abs(x) < 0.65f, x + x * z * p, magnitude), x);
}

/// 1 - e^p(|x|) with p approximating log(erfc), near zero x + x p(x^2).
inline Pack<float> erf(Pack<float> x) {
  const Pack<float> near =
      detail::polynomial(x * x, 8.21542709e-5f, -0.0008105966032f, 0.00519779726f, -0.02685810433f,
                         0.1128367255f, -0.3761263229f, 0.1283791665f);
  const Pack<float> a = select(abs(x) > 4, 4, abs(x));
  const Pack<float> far =
      detail::polynomial(a, 0.0001982194835f, -0.003065488844f, 0.02231520804f, -0.1041136697f,
                         -0.6369760923f, -1.127797238f, -0.0001664486328f);
  const Pack<float> magnitude = 1 - detail::exp_normal(far);
  return select(abs(x) < 0.95f, x + x * near, copysign(magnitude, x));
}

namespace detail {

/// A vector of floats with as many lanes as a Pack<double>.
typedef float HalfPack __attribute__((vector_size(Pack<double>::size * sizeof(float))));

struct Halves {
  HalfPack lower, upper;
};

inline Pack<double> widen(HalfPack x) {
  return Pack<double>(__builtin_convertvector(x, Pack<double>::Lanes));
}
inline HalfPack narrow(Pack<double> x) { return __builtin_convertvector(x.lanes(), HalfPack); }

/// Applies a function of Pack<double> to the lower and the upper lanes.
template <class Function, class... Packs>
Pack<float> in_double(Function function, Packs... x) {
  const auto lower = [](Pack<float> y) { return widen(std::bit_cast<Halves>(y).lower); };
  const auto upper = [](Pack<float> y) { return widen(std::bit_cast<Halves>(y).upper); };
  return std::bit_cast<Pack<float>>(
      Halves{narrow(function(lower(x)...)), narrow(function(upper(x)...))});
}

/// Returns sin(x + quarters pi / 2) for |x| <= 1e7, by r = x - n pi / 2.
inline Pack<double> sine(Pack<double> x, int quarters) {
  constexpr double kPiOver2High = 0x1.921fb54p0;  // 30 bits: n * kPiOver2High is exact
  constexpr double kPiOver2Low = 9.9209357968054044e-10;
  const Rounded n(x * 0.63661977236758134);
  const Pack<double> r = x - n.value() * kPiOver2High - n.value() * kPiOver2Low;
  const Pack<double> z = r * r;
  const Pack<double> odd = polynomial(z, 2.71830421206591783e-6, -0.000198393340810798637,
                                      0.00833332938357579135, -0.16666666641606946);
  const Pack<double> even =
      polynomial(z, 0.0000244383794818137768, -0.00138873669101632495, 0.0416666468546101537);
  const Pack<double> sin_r = r * (1 + z * odd);
  const Pack<double> cos_r = 1 - 0.5 * z + z * z * even;
  const auto quadrant = n.integer() + quarters;
  const Pack<double> y = select(Mask<double>((quadrant & 1) != 0), cos_r, sin_r);
  return from_bits<double>(bits(y) ^ ((quadrant & 2) << 62));
}

/// Evaluates a function made of sines. Lanes with |x| > 1e7, where pi needs more digits, use the C
/// library.
template <class Function, class Library>
Pack<float> of_sines(Pack<float> x, Function function, Library library) {
  const Mask<float> large = abs(x) > 1e7f;
  const Pack<float> y = in_double(function, select(large, 0, x));
  return any(large) ? select(large, each_lane(x, library), y) : y;
}

/// Returns log2(mantissa * 2^exponent).
inline Pack<double> binary_log(Pack<double> mantissa, Pack<double> exponent) {
  const Pack<double> s = (mantissa - 1) / (mantissa + 1);
  const Pack<double> p =
      polynomial(s * s, 0.282929809974624777, 0.319903665884348059, 0.412209300807165643,
                 0.577077941896447813, 0.961796694114916683, 2.88539008177784916);
  return exponent + s * p;
}

/// Returns 2^t; t is clamped to [-200, 200], which still overflows or underflows a float.
inline Pack<double> binary_power(Pack<double> t) {
  const Pack<double> x = select(t > 200, 200, select(t < -200, -200, t));
  const Rounded n(x);
  const Pack<double> p = polynomial(
      x - n.value(), 0.000153457011365415048, 0.00134000633928961019, 0.00961849038025890833,
      0.0555032845051129765, 0.240226468679223604, 0.693147205887142218, 1.00000000055860143);
  return p * from_bits<double>((n.integer() + 1023) << 52);
}

/// Returns function(mantissa, exponent, rest...) of `size` >= 0; the exponent of 0 is -infinity.
template <class Function, class... Rest>
Pack<float> of_split(Function function, Pack<float> size, Rest... rest) {
  const Split split(size);
  const Pack<float> exponent =
      select(size == 0, -kInfinity, select(size < kInfinity, split.exponent, size));
  return in_double(function, split.mantissa, exponent, rest...);
}

}  // namespace detail

inline Pack<float> sin(Pack<float> x) {
  return detail::of_sines(
      x, [](Pack<double> y) { return detail::sine(y, 0); },
      [](float lane) { return std::sin(lane); });
}

inline Pack<float> cos(Pack<float> x) {
  return detail::of_sines(
      x, [](Pack<double> y) { return detail::sine(y, 1); },
      [](float lane) { return std::cos(lane); });
}

inline Pack<float> tan(Pack<float> x) {
  return detail::of_sines(
      x, [](Pack<double> y) { return detail::sine(y, 0) / detail::sine(y, 1); },
      [](float lane) { return static_cast<float>(std::tan(static_cast<double>(lane))); });
}

inline Pack<float> exp2(Pack<float> x) { return detail::in_double(detail::binary_power, x); }

inline Pack<float> log2(Pack<float> x) {
  return select(x < 0, kNaN, detail::of_split(detail::binary_log, abs(x)));
}

inline Pack<float> log10(Pack<float> x) {
  constexpr double kLog10Of2 = 0.30102999566398120;
  const auto log = [](Pack<double> mantissa, Pack<double> exponent) {
    return kLog10Of2 * detail::binary_log(mantissa, exponent);
  };
  return select(x < 0, kNaN, detail::of_split(log, abs(x)));
}

/// Computes x - q d with q = x / d toward zero. A quotient of floats that is not an integer is at
/// least 2^-24 below the next integer, and double resolves that up to 2^28. So q is correct there,
/// and q d and the difference are exact. Lanes with larger quotients use the C library.
inline Pack<float> fmod(Pack<float> x, Pack<float> divisor) {
  const auto remainder = [](Pack<double> a, Pack<double> d) { return a - trunc(a / d) * d; };
  const Mask<float> near = (abs(x / divisor) < 0x1p28f) & (abs(divisor) < kInfinity);
  const Pack<float> y = copysign(detail::in_double(remainder, x, divisor), x);
  const auto library = [](float a, float d) { return std::fmod(a, d); };
  return all(near) ? y : select(near, y, detail::each_lane(x, divisor, library));
}

/// Edge values are those of IEEE 754: x^0 = 1^p = (-1)^inf = 1, and a negative x needs an integer
/// p.
inline Pack<float> pow(Pack<float> x, Pack<float> p) {
  const auto power = [](Pack<double> mantissa, Pack<double> exponent, Pack<double> q) {
    return detail::binary_power(q * detail::binary_log(mantissa, exponent));
  };
  const Pack<float> magnitude = detail::of_split(power, abs(x), p);
  const Mask<float> integer = floor(p) == p;
  const Mask<float> odd = integer & (2 * floor(0.5f * p) != p);
  const Mask<float> no_real_root = (x < 0) & (x > -kInfinity) & !integer;
  const Mask<float> one = (x == 1) | (p == 0) | ((x == -1) & (abs(p) == kInfinity));
  const Pack<float> y = select(odd, copysign(magnitude, x), magnitude);
  return select(one, 1, select(no_real_root, kNaN, y));
}

}  // namespace halfgrad::math
