#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

/// 16 bytes of a register or of memory.
using Bits128 = std::array<std::uint64_t, 2>;

/// Modifiers of ld, st, atom, red and similar instructions. Cache operators, eviction priorities
/// and prefetch sizes are hints: they are accepted and have no effect.
struct MemoryForm {
  Space space = Space::generic;
  Order order = Order::weak;
  Scope scope = Scope::gpu;
  std::uint8_t count = 1;  ///< elements of a vector
  bool scope_given = false;
  Type type = Type::none;
};

/// Reads the statement's modifiers. Each one must be known, or be in `others`.
MemoryForm memory_form(const Encoder& encoder, std::span<const std::string_view> others = {});

/// Options of an executing instruction (Instruction::options).
struct MemoryOptions {
  Space space = Space::generic;
  Order order = Order::weak;
  Scope scope = Scope::gpu;
  std::uint8_t base_bytes = 8;  ///< bytes of the base address: 4 or 8
  bool scope_given = false;     ///< kept for mbarriers only
  bool overwrites = false;      ///< an atomic exchange whose old value no instruction reads
  AccessPath path = AccessPath::memory;
};

/// An access of `bytes` bytes a lane, aligned to them, as the options say.
inline Access access_of(const MemoryOptions& options, AccessKind kind, unsigned bytes) {
  return {.space = options.space,
          .kind = kind,
          .bytes = static_cast<std::uint8_t>(bytes),
          .alignment = static_cast<std::uint8_t>(bytes),
          .order = options.order,
          .scope = options.scope,
          .overwrites = options.overwrites,
          .path = options.path};
}

/// The untyped type of `bytes` bytes, such as .b32 for 4.
Type bits_of(unsigned bytes);

/// Throws unless the statement has `count` operands, or one more for a cache policy.
void expect_operands_or_policy(const Encoder& encoder, unsigned count);

/// The elements of a vector operand `{a, b}`, or the operand itself.
std::span<const Operand> elements_of(const Operand& operand);

/// Bytes of the registers that hold the elements, which must be the same for all. Without a
/// register, the bytes of the type, but at least 2. Throws for a vector of another size than the
/// form says.
unsigned element_register_bytes(const Encoder& encoder, std::span<const Operand> elements,
                                const MemoryForm& form);

/// Calls f.operator()<R>() with the unsigned type R of a register of `bytes` bytes.
template <class F>
auto with_register(unsigned bytes, F f) {
  switch (bytes) {
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 16:
      return f.template operator()<Bits128>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

/// Calls f.operator()<E>() with the type E of an element in memory. Only integers that are loaded
/// into wider registers need a sign.
template <class F>
auto with_element(Type type, F f) {
  const bool sign = is_signed(type);
  switch (bytes_of(type)) {
    case 1:
      return sign ? f.template operator()<std::int8_t>() : f.template operator()<std::uint8_t>();
    case 2:
      return sign ? f.template operator()<std::int16_t>() : f.template operator()<std::uint16_t>();
    case 4:
      return sign ? f.template operator()<std::int32_t>() : f.template operator()<std::uint32_t>();
    case 16:
      return f.template operator()<Bits128>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

}  // namespace halfgrad::emulator
