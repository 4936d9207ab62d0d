#include <halfgrad/testing/hostile_inputs.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <halfgrad/testing/number_format_of.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::testing {
namespace {

/// What the kinds are made of.
struct Dice {
  double place;   // uniform on [0, 1)
  double sign;    // 1 or -1
  double normal;  // standard normal
};

Dice throw_dice(RandomKey key, std::uint64_t i) {
  double place[2], normals[2];
  uniform(random_block(key, 2 * i), place);
  normal(random_block(key, 2 * i + 1), normals);
  return {place[0], place[1] < 0.5 ? -1.0 : 1.0, normals[0]};
}

double ordinary(const OperandSpec& spec, const Dice& dice) {
  // Two standard deviations fill the usual range; what lies outside comes back in at the other end.
  const double width = spec.high - spec.low;
  const double x = 0.5 + dice.normal / 4;
  return spec.low + width * (x - std::floor(x));
}

double finite_number(Hostile kind, const OperandSpec& spec, DType dtype, const Dice& dice,
                     double row_sign) {
  const NumberFormat& format = number_format_of(dtype);
  const FormatLimits limits = limits_of(dtype);
  switch (kind) {
    case Hostile::positive:
      return 1 + dice.place;
    case Hostile::integers:
      return dice.sign * std::floor(dice.place * 4);
    case Hostile::offset:
      return row_sign * std::ldexp(1, std::min(format.fraction_bits - 1, 11)) + dice.normal;
    case Hostile::uniform_exponent: {
      const int exponents = 2 * format.bias();
      const double exponent = std::floor(dice.place * exponents);
      const double fraction = dice.place * exponents - exponent;
      return dice.sign *
             std::ldexp(1 + fraction, static_cast<int>(exponent) + format.min_exponent());
    }
    case Hostile::subnormal:
      return dice.sign * limits.smallest * std::ldexp(dice.place, format.fraction_bits);
    case Hostile::near_max:
      return dice.sign * limits.largest * (0.5 + dice.place / 2);
    case Hostile::one_hot:
    case Hostile::signed_zeros:
      return dice.sign * 0.0;
    default:
      return ordinary(spec, dice);
  }
}

/// The place of the special element in a row of n, or -1.
std::int64_t special_place(Hostile kind, std::int64_t n, double place) {
  switch (kind) {
    case Hostile::one_hot:
      return static_cast<std::int64_t>(place * static_cast<double>(n));
    case Hostile::inf_first:
    case Hostile::nan_first:
      return 0;
    case Hostile::inf_middle:
    case Hostile::nan_middle:
      return n / 2;
    case Hostile::inf_last:
    case Hostile::nan_last:
      return n - 1;
    default:
      return -1;
  }
}

double special_number(Hostile kind, const Dice& dice) {
  if (kind == Hostile::one_hot) return 1;
  if (kind >= Hostile::nan_first) return std::numeric_limits<double>::quiet_NaN();
  return dice.sign * std::numeric_limits<double>::infinity();
}

}  // namespace

std::string_view name(Hostile kind) {
  constexpr std::string_view names[] = {"normal",    "positive",          "integers",
                                        "offset",    "cancelling",        "uniform exponent",
                                        "subnormal", "one subnormal",     "near max",
                                        "one-hot",   "signed zeros",      "zero by inf",
                                        "inf first", "inf in the middle", "inf last",
                                        "nan first", "nan in the middle", "nan last"};
  return names[static_cast<int>(kind)];
}

Hostile kind_for_operand(Hostile kind, std::size_t operand, std::size_t count) {
  switch (kind) {
    case Hostile::cancelling:
    case Hostile::one_hot:
    case Hostile::signed_zeros:
    case Hostile::inf_first:
    case Hostile::inf_middle:
    case Hostile::nan_first:
    case Hostile::nan_middle:
      return operand == 0 ? kind : Hostile::normal;
    case Hostile::inf_last:
    case Hostile::nan_last:
      return operand == count - 1 ? kind : Hostile::normal;
    case Hostile::one_subnormal:
      return operand == 0 ? Hostile::subnormal : Hostile::normal;
    case Hostile::zero_by_inf:
      return operand == 0 ? Hostile::signed_zeros : Hostile::inf_middle;
    default:
      return kind;
  }
}

Values hostile_values(Hostile kind, const OperandSpec& spec, DType dtype, RandomKey key) {
  if (spec.kind != OperandSpec::Kind::number) {
    return values_of(draw_operands({.name = {}, .operands = {spec}, .run = {}, .reference = {}},
                                   dtype, key.seed * 31 + key.stream)[0]);
  }
  Values values{spec.sizes, {}};
  const std::int64_t row = spec.sizes.empty() ? 1 : std::max<std::int64_t>(spec.sizes.back(), 1);
  for (std::int64_t i = 0; i < numel(spec.sizes); ++i) {
    const Dice dice = throw_dice(key, static_cast<std::uint64_t>(i));
    const Dice row_dice = throw_dice({key.seed, ~key.stream}, static_cast<std::uint64_t>(i / row));
    double x = finite_number(kind, spec, dtype, dice, row_dice.sign);
    if (kind == Hostile::cancelling && i % row % 2 == 1) {
      x = -values.data.back() * (1 + limits_of(dtype).roundoff * std::floor(dice.place * 4) * 2);
    }
    if (i % row == special_place(kind, row, row_dice.place)) x = special_number(kind, row_dice);
    values.data.push_back(x);
  }
  return values_of(tensor_of(values.data, values.sizes).to(dtype));
}

}  // namespace halfgrad::testing
