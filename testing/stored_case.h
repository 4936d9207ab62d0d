#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

/// Cases of a check for kernels that run elsewhere: their operands as tensors, their results judged
/// one by one.
namespace halfgrad::testing {

/// The cases of a check in its first layout, one after the other. Throws as check_kernel().
std::vector<KernelCase> listed_cases(const KernelOp& op, const KernelCheckOptions& options);

/// A name for files, distinct among the cases of one check: "m3_n5_k7-zero_by_inf".
std::string file_name(const KernelCase& kernel_case);

/// The operands of an op as tensors of their dtypes (operand_dtype()).
std::vector<Tensor> operand_tensors(const KernelOp& op, const std::vector<Values>& operands,
                                    DType dtype);

/// The expected result of one output.
struct ExpectedOutput {
  DType dtype = kFloat32;
  Tensor expected, allowed;  ///< the exact result and the budget, in float64
};
/// The outputs of a case with these operands, in the op's order.
std::vector<ExpectedOutput> expected_outputs(const KernelOp& op, const Dims& dims,
                                             const std::vector<Values>& operands,
                                             const KernelContract& contract);

/// The end of names such as "output" in a file: "_dx", or nothing for an op with one output.
std::string output_suffix(const KernelOp& op, std::size_t output);

/// Writes the smallest failing case to a .safetensors file, so that it can be run again: input0,
/// input1, ..., `expected`, `allowed` (the budget; of several outputs expected_dx, ...), and the
/// fault as metadata. Throws std::invalid_argument for a report without such a case, and for one
/// of another op than `op`.
void save_case(const std::filesystem::path& file, const KernelReport& report, const KernelOp& op);
/// Writes the case of an op that kernel_op() knows by its name.
void save_case(const std::filesystem::path& file, const KernelReport& report);

}  // namespace halfgrad::testing
