#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/op_table.h>

/// Runs the examples of the table of ops: for the tests, docs/ops.md and the kernel checker.
namespace halfgrad {

/// Operands for an example, drawn as its specs say: numbers in `dtype`, indices in int64. The same
/// seed gives the same numbers on every device.
std::vector<Tensor> draw_operands(const OpExample& example, DType dtype, std::uint64_t seed,
                                  Device device = {});

/// The numbers of a tensor, as references take them.
Values values_of(const Tensor& tensor);

/// What the reference gives for these operands, in float64.
Tensor expected_result(const OpExample& example, const std::vector<Tensor>& operands);

/// The op's largest error over all its examples and several draws, in roundoffs of the dtype.
double measured_roundoffs(const OpEntry& op, DType dtype, Device device = {});

}  // namespace halfgrad
