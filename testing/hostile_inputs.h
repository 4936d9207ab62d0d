#pragma once

#include <string_view>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>
#include <halfgrad/core/math/philox.h>

namespace halfgrad::testing {

/// Kinds of inputs that reveal mistakes in kernels.
enum class Hostile : std::uint8_t {
  normal,            ///< values in the operand's usual range
  positive,          ///< values in [1, 2): a sum grows until a short accumulator stops growing
  integers,          ///< small integers, whose sums and products are exact
  offset,            ///< rows with a large mean, of either sign, and a small spread
  cancelling,        ///< neighbours x and -x that differ in their last bits only
  uniform_exponent,  ///< every exponent of the dtype equally often
  moderate,          ///< every exponent from -8 to 6 equally often: most functions bend there
  subnormal,         ///< values below the smallest normal one
  one_subnormal,     ///< the first operand subnormal, the others normal
  near_max,          ///< values within a factor of two of the largest finite one; in some rows of
                     ///< the first operand all are negative
  one_hot,           ///< a single 1 in each row, zeros of both signs elsewhere
  signed_zeros,      ///< only 0 and -0
  zero_by_inf,       ///< the first operand 0 and -0, the others with an infinity in each row
  inf_first,         ///< one infinity as first, middle or last of each row, else normal
  inf_middle,
  inf_last,
  nan_first,  ///< one NaN as first, middle or last of each row, else normal
  nan_middle,
  nan_last,
  ties,             ///< sums of two operands lie halfway between neighbouring values
  small,            ///< values near 2^-9, whose variance is near the eps of a norm
  equal,            ///< all elements of a row are equal
  specials,         ///< 0, 1, infinity, NaN, extremes, each of either sign, in every operand
  special_rows,     ///< some rows of the first operand: an infinity, a NaN, two, or 0 beside inf
  special_columns,  ///< special rows of the last operand
  same_special,     ///< an infinity in the middle of some rows of every operand
  inf_runs,         ///< -inf in the first or last 1 to 2048 elements of some rows, or in all
  inf_by_zero,      ///< the first operand with an infinity in each row, the others 0 and -0
  special_between,  ///< special rows of the operands between the first and the last
  range_edge,       ///< the largest finite value, beside values up to its ulp
  thresholds,       ///< values near those at which functions overflow, vanish or change formula
  one_sided,      ///< rows of large values of one sign, beside operands in [1, 2): a whole row lies
                  ///< below the finite value by which a kernel may mask elements
  wide_integers,  ///< integers whose sums and products are exact, some of up to 19 bits in operands
                  ///< 0, 2, ...: bfloat16 and TensorFloat-32 round these
  wide_others,    ///< the same with the wide integers in operands 1, 3, ...
  peak_last,      ///< one large element at the end of each row: exp overflows beside the maximum of
                  ///< the others
  last_row,  ///< a NaN at the end of the last row, for sums over more rows than a worst-case bound
             ///< can count
};

inline constexpr int kHostileKinds = static_cast<int>(Hostile::last_row) + 1;

std::string_view name(Hostile kind);
/// Returns the kind for one of `count` operands: a kind that would hide others, such as NaN, goes
/// to one operand only.
Hostile kind_for_operand(Hostile kind, std::size_t operand, std::size_t count);

/// The random draws from which an element of every kind is made.
struct HostileDice {
  double uniform;  ///< uniform on [0, 1)
  double sign;     ///< 1 or -1
  double normal;   ///< standard normal
};

/// An operand of a kernel. Values are rounded to its dtype; indices follow the spec. Booleans are
/// all true for `positive` and all false for `signed_zeros`. For kinds with an infinity they are
/// true except at its place; for kinds with a NaN, or the 1 of `one_hot`, they are false except at
/// its place. They are random for the other kinds. Another stream of the key gives other values.
class HostileOperand {
 public:
  HostileOperand(const OperandSpec& spec, DType dtype, RandomKey key);

  Values values(Hostile kind) const;

 private:
  void put_in_row(Hostile kind, std::size_t number, double* row) const;

  OperandSpec spec_;
  DType dtype_;
  RandomKey key_;
  std::int64_t row_ = 1;  // elements in a row
  std::vector<HostileDice> dice_, row_dice_;
};

}  // namespace halfgrad::testing
