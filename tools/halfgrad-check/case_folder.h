#pragma once

#include <string>

#include <halfgrad/testing/kernel_check.h>

/// A folder of cases for kernels that run elsewhere: NAME.npz with input0, input1, ..., expected
/// and allowed for each case, and manifest.json, which names all. docs/kernel_check.md describes
/// both.
namespace halfgrad::check {

/// Writes the cases of a check of that op, and creates the folder. NumPy has no bfloat16: its
/// values are stored as float32. Returns the number of cases.
std::size_t write_cases(const std::string& folder, const std::string& op,
                        const testing::KernelCheckOptions& options);

/// Judges NAME.out.npy for each case of the manifest. Draws the inputs again from the seed, and
/// computes what is expected from them: only the outputs are read. Throws std::invalid_argument if
/// an output is missing or has another dtype, and FormatError for a damaged file.
testing::KernelReport judge_folder(const std::string& folder);

/// The directory for the compiler's option -I with which a kernel finds
/// <halfgrad/testing/kernel_abi.h>. Throws std::runtime_error if this program lies in no build tree
/// and in no installation.
std::string include_directory();

}  // namespace halfgrad::check
