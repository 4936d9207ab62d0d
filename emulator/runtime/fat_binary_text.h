#pragma once

#include <string>

namespace halfgrad::emulator {

/// The newest PTX text in a fat binary that runs on sm_`target`. Throws CallFailed, and adds a
/// finding that says why, if there is none.
std::string ptx_for(const void* fat_binary, unsigned target);

}  // namespace halfgrad::emulator
