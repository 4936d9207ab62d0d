#pragma once

#include <functional>

#include <halfgrad/testing/kernel_case.h>

namespace halfgrad::testing {

/// The process of a kernel: maps the shared memory `memory`, makes the kernel, and runs it for each
/// message on `socket`, until the socket is closed. While it runs, only the pages of its arrays are
/// accessible, and those of its inputs can only be read. Arrays are copied to `device` and back.
/// Never returns.
[[noreturn]] void serve_kernel(int socket, int memory, const std::function<Kernel()>& make,
                               Device device);

}  // namespace halfgrad::testing
