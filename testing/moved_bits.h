#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/testing/kernel_op.h>

/// Ops that only move elements must keep every bit: the sign of a zero, and a NaN's payload.
namespace halfgrad::testing {

/// Gives each NaN of a floating-point array, in its bytes, a payload of its own.
void number_nans(std::vector<std::byte>& bytes, DType dtype);

/// Gives the NaNs of an array bits that a kernel may mistake for a number: a payload of ones of
/// both signs, a signalling NaN of one bit (unless `quiet`), and the negative NaN of x86
/// processors. Each element gets its own if `mixed`; else all get the same, so that no order of
/// them shows.
void vary_nans(std::vector<std::byte>& bytes, DType dtype, std::size_t first, bool mixed,
               bool quiet);

/// Describes the first element of an output whose bits are not those of the element that it was
/// moved from; empty if there is none. `inputs` are the bytes of the operands, in a dtype of the
/// same size as the output's; `sizes` is the shape of the output.
std::string wrongly_moved(const KernelOp& op, const std::vector<Values>& operands,
                          const std::vector<std::vector<std::byte>>& inputs,
                          const std::vector<std::byte>& output, const Shape& sizes);

}  // namespace halfgrad::testing
