#pragma once

#include <filesystem>

namespace halfgrad::tests {

/// The folder of the programs of examples/lab_kernels. A lab links a function of its own, with the
/// folder of its changed program.
std::filesystem::path kernel_folder();

}  // namespace halfgrad::tests
