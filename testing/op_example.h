#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>

/// Runs the examples of the table of ops: for the tests, docs/ops.md and the kernel checker.
namespace halfgrad {

/// Operands for an example, drawn from its specs: values in `dtype`, indices in int64. The same
/// seed gives the same values on every device.
std::vector<Tensor> draw_operands(const OpExample& example, DType dtype, std::uint64_t seed,
                                  Device device = {});

/// The elements of a tensor in the form that references take.
Values values_of(const Tensor& tensor);

/// The reference's result for these operands, in float64.
Tensor expected_result(const OpExample& example, const std::vector<Tensor>& operands);

/// The op's largest error over all its examples and several draws, in roundoffs of the dtype.
double measured_roundoffs(const OpEntry& op, DType dtype, Device device = {});

}  // namespace halfgrad
