#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <halfgrad/emulator/ptx/function.h>

namespace halfgrad::emulator {

/// The special register of a name such as `%tid.x`, or nothing.
std::optional<Special> special_named(std::string_view name);

/// Registers that change while a kernel runs. An instruction samples them before each one that
/// reads them.
enum class ClockRegister : std::uint8_t {
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi
};

std::optional<ClockRegister> clock_named(std::string_view name);
/// 8 for clock64 and globaltimer, 4 for the others.
unsigned bytes_of(ClockRegister clock);
/// Makes `instruction` sample the clock into its destination, which the caller sets.
void sample_clock(ClockRegister clock, Instruction& instruction);

}  // namespace halfgrad::emulator
