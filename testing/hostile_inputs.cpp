#include <halfgrad/testing/hostile_inputs.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <halfgrad/testing/hostile_values.h>
#include <halfgrad/testing/number_format_of.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::testing {
namespace {

/// Puts specials into some rows: an infinity, a NaN, two NaNs or two infinities, 0 beside inf.
/// An operand of one row always gets some.
void put_specials(double* row, std::int64_t n, const HostileDice& dice, bool is_only_row) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto pick = static_cast<int>(dice.uniform * (is_only_row ? 8 : 16));
  if (pick >= 8 || n == 0) return;
  const double nan = std::nan(""), inf = dice.sign * kInfinity;
  const auto place = static_cast<std::int64_t>(std::fmod(std::fabs(dice.normal) * 1009, 1) *
                                               static_cast<double>(n));
  const double pairs[][2] = {{inf, 1},   {nan, 1}, {inf, inf}, {inf, -inf},
                             {nan, nan}, {0, inf}, {inf, nan}, {-kInfinity, 1}};
  const auto& [first, second] = pairs[pick];
  row[place] = first;
  if (second != 1 && n > 1) row[(place + 1) % n] = second;
}

/// Puts -inf before or behind the last or first finite elements of some rows.
void put_infinite_run(double* row, std::int64_t n, const HostileDice& dice) {
  constexpr std::int64_t kLengths[] = {0,  1,  2,  3,   4, 8,   16,   32,
                                       33, 64, 65, 128, 0, 256, 1024, 2048};
  const auto pick = static_cast<std::size_t>(dice.uniform * std::size(kLengths));
  const std::int64_t length = pick == 12 ? n : std::min(n - 1, kLengths[pick]);
  const std::int64_t first = dice.normal > -0.7 ? 0 : n - length;
  for (std::int64_t i = 0; i < length; ++i)
    row[first + i] = -std::numeric_limits<double>::infinity();
}

/// The index of the special element in a row of n, or -1.
std::int64_t special_index(Hostile kind, std::int64_t n, double uniform) {
  switch (kind) {
    case Hostile::one_hot:
      return static_cast<std::int64_t>(uniform * static_cast<double>(n));
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

double special_value(Hostile kind, const HostileDice& dice) {
  if (kind == Hostile::one_hot) return 1;
  if (kind >= Hostile::nan_first) return std::numeric_limits<double>::quiet_NaN();
  return dice.sign * std::numeric_limits<double>::infinity();
}

constexpr std::int64_t kBetweenEdges = 32;  // elements from one largest value to the next

/// True for the kinds that make all booleans equal except the special one.
bool has_flags(Hostile kind) {
  return kind == Hostile::positive || kind == Hostile::one_hot || kind == Hostile::signed_zeros ||
         (kind >= Hostile::inf_first && kind <= Hostile::nan_last);
}
bool all_true_but_one(Hostile kind) {
  return kind == Hostile::positive || (kind >= Hostile::inf_first && kind <= Hostile::inf_last);
}

}  // namespace

std::string_view name(Hostile kind) {
  constexpr std::string_view names[] = {"normal",
                                        "positive",
                                        "integers",
                                        "offset",
                                        "cancelling",
                                        "uniform exponent",
                                        "moderate",
                                        "subnormal",
                                        "one subnormal",
                                        "near max",
                                        "one-hot",
                                        "signed zeros",
                                        "zero by inf",
                                        "inf first",
                                        "inf in the middle",
                                        "inf last",
                                        "nan first",
                                        "nan in the middle",
                                        "nan last",
                                        "ties",
                                        "small",
                                        "equal elements",
                                        "specials",
                                        "specials in some rows",
                                        "specials in some rows of the last operand",
                                        "the same special in all operands",
                                        "runs of -inf",
                                        "inf by zero",
                                        "specials in some rows of operands between",
                                        "edge of the range",
                                        "thresholds",
                                        "one-sided rows",
                                        "wide integers",
                                        "wide integers in other operands",
                                        "peak last",
                                        "nan in the last row"};
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
    case Hostile::special_rows:
    case Hostile::inf_runs:
    case Hostile::peak_last:
    case Hostile::last_row:
      return operand == 0 ? kind : Hostile::normal;
    case Hostile::inf_last:
    case Hostile::nan_last:
    case Hostile::special_columns:
      return operand == count - 1 ? kind : Hostile::normal;
    case Hostile::one_subnormal:
      return operand == 0 ? Hostile::subnormal : Hostile::normal;
    case Hostile::zero_by_inf:
      return operand == 0 ? Hostile::signed_zeros : Hostile::inf_middle;
    case Hostile::inf_by_zero:
      return operand == 0 ? Hostile::inf_middle : Hostile::signed_zeros;
    case Hostile::special_between:
      return operand > 0 && operand + 1 < count ? kind : Hostile::normal;
    default:
      return kind;
  }
}

HostileOperand::HostileOperand(const OperandSpec& spec, DType dtype, RandomKey key)
    : spec_(spec), dtype_(dtype), key_(key) {
  const auto draw = [](RandomKey stream, std::int64_t count) {
    std::vector<HostileDice> dice;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
      double uniforms[2], normals[2];
      uniform(random_block(stream, 2 * i), uniforms);
      normal(random_block(stream, 2 * i + 1), normals);
      dice.push_back({uniforms[0], uniforms[1] < 0.5 ? -1.0 : 1.0, normals[0]});
    }
    return dice;
  };
  if (spec.kind == OperandSpec::Kind::index) return;
  row_ = spec.sizes.empty() ? 1 : std::max<std::int64_t>(spec.sizes.back(), 1);
  dice_ = draw(key, numel(spec.sizes));
  // Operands of one row get other specials in each size.
  const auto size = static_cast<std::uint64_t>(numel(spec.sizes));
  row_dice_ = draw({key.seed, ~(key.stream + 64 * size)}, numel(spec.sizes) / row_);
}

void HostileOperand::put_in_row(Hostile kind, std::size_t number, double* row) const {
  constexpr double kPeak = 1000;  // e^1000 overflows in float64, too
  const HostileDice& dice = row_dice_[number];
  switch (kind) {
    case Hostile::special_rows:
    case Hostile::special_columns:
    case Hostile::special_between:
      return put_specials(row, row_, dice, row_dice_.size() == 1);
    case Hostile::inf_runs:
      return put_infinite_run(row, row_, dice);
    case Hostile::same_special:
      if (dice.uniform < 0.5) row[row_ / 2] = dice.sign * std::numeric_limits<double>::infinity();
      return;
    case Hostile::peak_last:
      row[row_ - 1] = number % 2 == 0 ? kPeak : -kPeak;
      return;
    case Hostile::last_row:
      if (number + 1 == row_dice_.size()) row[row_ - 1] = std::numeric_limits<double>::quiet_NaN();
      return;
    case Hostile::ties:
      // Other operands than the first are half of a distance.
      for (std::int64_t i = 0; key_.stream != 0 && i < row_; ++i) {
        row[i] = std::copysign(0.5, row[i]);
      }
      return;
    default:
      return;
  }
}

Values HostileOperand::values(Hostile kind) const {
  const bool is_flag = spec_.kind == OperandSpec::Kind::boolean;
  if (spec_.kind == OperandSpec::Kind::index || (is_flag && !has_flags(kind))) {
    Values drawn =
        values_of(draw_operands({.name = {}, .operands = {spec_}, .run = {}, .reference = {}},
                                dtype_, key_.seed * 31 + key_.stream)[0]);
    // The largest index is always there, in the last place.
    if (!is_flag && !drawn.data.empty()) drawn.data.back() = spec_.high;
    return drawn;
  }
  Values values{spec_.sizes, {}};
  for (std::size_t i = 0; i < dice_.size(); ++i) {
    const auto row = static_cast<std::size_t>(row_);
    const HostileDice& dice = dice_[i];
    const HostileDice& row_dice = row_dice_[i / row];
    const auto index = static_cast<std::int64_t>(i % row);
    const bool special = index == special_index(kind, row_, row_dice.uniform);
    if (is_flag) {
      values.data.push_back(special != all_true_but_one(kind) ? 1 : 0);
      continue;
    }
    double x = detail::finite_number(kind, spec_, dtype_, dice, row_dice.sign, key_.stream);
    if (kind == Hostile::cancelling && index % 2 == 1) {
      x = -values.data.back() * (1 + limits_of(dtype_).roundoff * std::floor(dice.uniform * 4) * 2);
    }
    if (kind == Hostile::equal && index > 0) x = values.data.back();
    if (kind == Hostile::range_edge && key_.stream == 0 && index % kBetweenEdges == 0) {
      x = dice.sign * limits_of(dtype_).largest;
    }
    values.data.push_back(special ? special_value(kind, row_dice) : x);
  }
  if (is_flag) return values;
  for (std::size_t row = 0; row < row_dice_.size(); ++row) {
    put_in_row(kind, row, values.data.data() + static_cast<std::int64_t>(row) * row_);
  }
  return values_of(tensor_of(values.data, values.sizes).to(dtype_));
}

}  // namespace halfgrad::testing
