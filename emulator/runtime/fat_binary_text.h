#pragma once

#include <span>
#include <string>

namespace halfgrad::emulator {

/// The newest PTX text in a fat binary that runs on sm_`target`. Throws CallFailed, and adds a
/// finding that says why, if there is none.
std::string ptx_for(const void* fat_binary, unsigned target);

/// The PTX texts of fat binaries that a program links as device code, as one text. The CUDA
/// Toolkit's own device library has PTX for the newest GPU only: binaries without PTX for
/// sm_`target` are left out, and a call of their functions says what is missing. Throws CallFailed
/// if no binary has PTX that the GPU runs.
std::string linked_ptx_for(std::span<const void* const> fat_binaries, unsigned target);

}  // namespace halfgrad::emulator
