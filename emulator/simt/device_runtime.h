#pragma once

#include <string_view>

#include <halfgrad/emulator/simt/lane_call.h>

namespace halfgrad::emulator {

/// A function of the device runtime: what cudaLaunchDevice and other calls of the CUDA runtime in a
/// kernel compile to (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). nullptr: unknown.
void (*device_runtime_function(std::string_view name))(LaneCall& call);

}  // namespace halfgrad::emulator
