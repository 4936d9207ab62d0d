#pragma once

#include <cstdint>

#include <halfgrad/testing/hostile_inputs.h>

/// The value of one element by the kind of its inputs, without what depends on its place.
namespace halfgrad::testing::detail {

/// Returns a value of an operand, whose number is `stream`, before it is rounded to its dtype. Its
/// row has a sign of its own, which some kinds use.
double finite_number(Hostile kind, const OperandSpec& spec, DType dtype, const HostileDice& dice,
                     double row_sign, std::uint64_t stream);

}  // namespace halfgrad::testing::detail
