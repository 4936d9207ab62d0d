#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <halfgrad/testing/error_budget.h>

/// Outputs that tell how much a case is worth. A case that also accepts zeros says little about the
/// kernel that passes it; so each case is given to outputs that no kernel should return, and its
/// report says which of them it accepts.
namespace halfgrad::testing {

/// Outputs that are wrong or less exact than they should be, and that weak tests accept.
enum class Impostor : std::uint8_t {
  zeros,
  copied_input,   ///< the first elements of an operand: out[i] = in[i]
  mean,           ///< every element is the mean of the right ones
  last_output,    ///< the right output for other inputs: what a kernel that does nothing leaves
  low_precision,  ///< the same maths, each operation rounded to 16 bits, or 32 for float64
};
inline constexpr std::size_t kImpostors = 5;
inline constexpr Impostor kAllImpostors[] = {Impostor::zeros, Impostor::copied_input,
                                             Impostor::mean, Impostor::last_output,
                                             Impostor::low_precision};

std::string_view name(Impostor impostor);

enum class ImpostorResult : std::uint8_t { not_tried, refused, accepted };
using ImpostorResults = std::array<ImpostorResult, kImpostors>;

/// Whether a case accepts each impostor. None is tried without elements; `last` (the right output
/// for other inputs) not if it is empty; a copy not where it is what the op does; low precision not
/// if it gives the right result, if the kernel may accumulate in 16 bits anyway, or if the case is
/// large, as emulated arithmetic is slow. `rounded` is the maths in the output's dtype, or empty.
ImpostorResults judge_impostors(const KernelOp& op, const std::vector<Values>& operands,
                                const ErrorBudget& budget, DType accumulate, DType output,
                                const std::vector<double>& rounded,
                                const std::vector<double>& last);

/// The results of a case that has two sets of inputs: it accepts what both accept.
ImpostorResults both(const ImpostorResults& first, const ImpostorResults& second);

}  // namespace halfgrad::testing
