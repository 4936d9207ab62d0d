#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace halfgrad::emulator {

struct Execution;
struct Instruction;

/// Runs one instruction for the lanes in `execution.mask`.
using Execute = void (*)(Execution& execution, const Instruction& instruction);

/// Byte offset of an operand in a frame's register file. An operand is an array of 32 values, one a
/// lane; a predicate is one 32-bit mask. Constants and special registers have a place in the
/// register file, too, so an instruction reads all operands alike.
using Offset = std::uint32_t;
inline constexpr Offset kNoOffset = ~Offset{0};

/// The scheduler's part in an instruction, beside calling `execute`.
enum class Control : std::uint8_t {
  none,
  branch,          ///< to `target`
  branch_indexed,  ///< to table `target`, entry operands[0] (brx.idx)
  call,            ///< call `target` of the function
  ret,
  exit,
  barrier,    ///< bar and barrier: waits for other warps of the block
  warp_sync,  ///< waits for the lanes that the mask `operands[mask_operand]` names, then executes
  pause,      ///< executes, then lets other warps run: loads in spin loops, nanosleep
  trap,
};

/// Classes that counters tell apart.
enum class InstructionClass : std::uint8_t {
  integer,
  f16,
  f32,
  f64,
  special_function,
  conversion,
  move,
  load,
  store,
  atomic,
  async_copy,
  matrix,
  warp,
  barrier,
  control,
  count
};

/// A decoded instruction.
struct Instruction {
  Execute execute = nullptr;  ///< nullptr: only `control` matters
  Control control = Control::none;
  InstructionClass kind = InstructionClass::integer;
  bool guard_negated = false;
  std::uint8_t destinations = 0;  ///< operands[0 .. destinations) are written
  std::uint8_t sources = 0;       ///< the `sources` operands after them are read
  std::uint8_t mask_operand = 0;
  Offset guard = kNoOffset;
  std::array<Offset, 6> operands{};
  std::int64_t immediate = 0;
  std::uint32_t target = 0;
  std::uint32_t index = 0;  ///< this instruction's place in its function: names its statement
  alignas(8) std::array<std::uint8_t, 16> bytes{};  ///< see options()
  std::span<const Offset> list;  ///< operands of vectors and fragments, where six are too few

  Offset source(unsigned i) const { return operands[destinations + i]; }

  /// A family's own small struct of facts about the instruction, at most 16 bytes.
  template <class T>
  const T& options() const {
    static_assert(sizeof(T) <= 16 && alignof(T) <= 8);
    return *reinterpret_cast<const T*>(bytes.data());
  }
  template <class T>
  void set_options(const T& value) {
    static_assert(sizeof(T) <= 16 && alignof(T) <= 8);
    *reinterpret_cast<T*>(bytes.data()) = value;
  }
};

}  // namespace halfgrad::emulator
