#pragma once

#include <string_view>
#include <vector>

#include <halfgrad/autograd/op_table.h>
#include <halfgrad/core/philox.h>

namespace halfgrad::testing {

/// Kinds of numbers that find mistakes in kernels.
enum class Hostile : std::uint8_t {
  normal,            ///< of the operand's usual range
  positive,          ///< in [1, 2): a sum grows until a short accumulator stands still
  integers,          ///< small ones, whose sums and products are exact
  offset,            ///< rows of a large mean, of either sign, and a small spread
  cancelling,        ///< neighbours x and -x, all but their last bits
  uniform_exponent,  ///< every exponent of the dtype alike
  moderate,          ///< every exponent from -8 to 6 alike: where functions leave 0 or reach 1
  subnormal,         ///< all below the smallest normal number
  one_subnormal,     ///< the first operand so, the others normal
  near_max,          ///< within a factor of two of the largest
  one_hot,           ///< a single 1 in each row, elsewhere zeros of both signs
  signed_zeros,      ///< nothing but 0 and -0
  zero_by_inf,       ///< the first operand 0 and -0, the others with an infinity in each row
  inf_first,         ///< one infinity as first, middle or last of each row, else normal
  inf_middle,
  inf_last,
  nan_first,  ///< one NaN as first, middle or last of each row, else normal
  nan_middle,
  nan_last,
};

inline constexpr int kHostileKinds = static_cast<int>(Hostile::nan_last) + 1;

std::string_view name(Hostile kind);
/// What each of `count` operands gets: kinds that would drown each other, such as NaN, go to one.
Hostile kind_for_operand(Hostile kind, std::size_t operand, std::size_t count);

/// What an element's number is made of, whatever its kind.
struct HostileDice {
  double place;   ///< uniform on [0, 1)
  double sign;    ///< 1 or -1
  double normal;  ///< standard normal
};

/// An operand of a kernel. Numbers are as its dtype stores them. Indices are what the spec says.
/// Truth values are all true for `positive`, all false for `signed_zeros`; but one is false where
/// an infinity would stand, or true where a NaN or the 1 would; random for the other kinds. Another
/// stream of the key gives other numbers.
class HostileOperand {
 public:
  HostileOperand(const OperandSpec& spec, DType dtype, RandomKey key);

  Values values(Hostile kind) const;

 private:
  OperandSpec spec_;
  DType dtype_;
  RandomKey key_;
  std::int64_t row_ = 1;  // numbers in a row
  std::vector<HostileDice> dice_, row_dice_;
};

}  // namespace halfgrad::testing
