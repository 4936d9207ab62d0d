#pragma once

#include <string>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

/// Operands and results of kernels in files, for people who write no C++.
namespace halfgrad::check {

/// Files hold tensors called input0, input1, ... and, if the kernel has run elsewhere, output:
/// .safetensors and .npz under these names, .npy files are called so.

/// Runs the kernel on the inputs in these files, in each of the options' layouts and in place if
/// they say so, or judges the output in the files if there is no kernel. Inputs have the dtype they
/// are stored in. Throws std::invalid_argument for shapes that the op has not, for indices that are
/// out of range, and for options that leave nothing to run.
testing::KernelReport judge_files(const std::string& op, const std::vector<std::string>& files,
                                  const testing::Kernel& kernel,
                                  const testing::KernelCheckOptions& options);

/// Writes the smallest failing case with all that is needed to run it again: the inputs, the
/// expected result and its budget, and what is wrong as metadata.
void save_case(const std::string& file, const testing::KernelReport& report);

}  // namespace halfgrad::check
