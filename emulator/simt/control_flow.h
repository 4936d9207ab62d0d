#pragma once

#include <halfgrad/emulator/ptx/function.h>

namespace halfgrad::emulator {

/// Whether a lane that executes instruction `from` can execute instruction `to` later, in the same
/// call of the function.
bool can_follow(const Function& function, std::uint32_t from, std::uint32_t to);

}  // namespace halfgrad::emulator
