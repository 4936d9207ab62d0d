#pragma once

#include <string>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

/// Operands and results of kernels in files, for users who write no C++. The tensors are called
/// input0, input1, ... and output: names in .safetensors and .npz files, file names for .npy.
namespace halfgrad::check {

/// Runs the kernel on the inputs in these files, in every layout of the options, and in place if
/// the options ask for it. Without a kernel, checks the output in the files. Inputs keep the dtype
/// of the file. Throws std::invalid_argument for shapes that the op does not take, for indices out
/// of range, and for options that leave nothing to run.
testing::KernelReport judge_files(const std::string& op, const std::vector<std::string>& files,
                                  const testing::Kernel& kernel,
                                  const testing::KernelCheckOptions& options);

}  // namespace halfgrad::check
