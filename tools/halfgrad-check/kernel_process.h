#pragma once

#include <string>

#include <halfgrad/testing/kernel_case.h>

/// The process of a kernel: this program, started again with hidden arguments. It knows neither the
/// seed of the inputs nor what is expected.
namespace halfgrad::check {

/// Returns the kernel of a library in a process of its own (testing/kernel_process.h), with arrays
/// on `device`.
testing::Kernel kernel_in_new_process(const std::string& library, const std::string& symbol,
                                      const std::string& device, double timeout);

/// Closes this process's memory, environment and files to the kernel's process, and overwrites the
/// seed among its arguments, which everybody can read.
void hide_from_kernels(int argc, char** argv);

/// True for the arguments of such a process.
bool is_kernel_process(int argc, char** argv);
/// Runs the kernel until the check ends.
[[noreturn]] void run_kernel_process(char** argv);

}  // namespace halfgrad::check
