#pragma once

#include <halfgrad/testing/kernel.h>

namespace halfgrad::testing {

/// Runs every third call of a kernel on a second thread, and waits for it: a kernel that keeps
/// state for each thread, or expects the first one, behaves differently there. For kernels on the
/// CPU.
Kernel on_two_threads(const Kernel& kernel);

}  // namespace halfgrad::testing
