#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <halfgrad/emulator/ptx/type.h>

namespace halfgrad::emulator {

/// One operand of a statement as the parser read it. Names are views of the module's text; names of
/// registers are already resolved to an index in the function's table of registers.
struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,        ///< `index` in the function's registers
    special,    ///< `%tid.x` and the like, by `name`
    immediate,  ///< `bits`; `literal` says how they were written
    symbol,     ///< variable, parameter, function or label `name`, plus `offset` bytes
    /// `[parts[0] + offset]`; parts[0] is a register, a symbol or an immediate. Coordinates of a
    /// tensor or a texture, `[base, {x, y}]`, are further parts.
    address,
    vector,  ///< `{parts...}`; also `(parts...)` of a call
    pair,    ///< `parts[0]|parts[1]`, as setp, shfl and tex write two destinations
    sink,    ///< `_`
  };
  enum class Literal : std::uint8_t { integer, f32, f64 };

  Kind kind = Kind::none;
  Literal literal = Literal::integer;
  bool negated = false;  ///< `!p`
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::string_view name;  ///< a register's: the part `b0` of `%r1.b0`, or empty
  std::vector<Operand> parts;
};

/// The place of a statement: in the PTX text, and in the CUDA source if compiled with -lineinfo.
struct Location {
  std::uint32_t ptx_line = 0;
  std::uint32_t file = 0, line = 0;                  ///< from .loc; line 0: unknown
  std::uint32_t inlined_file = 0, inlined_line = 0;  ///< outermost call site of an inlined function
};

/// One instruction as text: `@!p add.sat.s32 a, b, c;` has opcode "add", modifiers {"sat", "s32"}.
/// `shared::cta`, `param::entry` and `param::func` are written as the modifiers shared and param.
struct Statement {
  std::string_view text;  ///< the whole statement, for messages
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  bool guarded = false, guard_negated = false;
  std::uint32_t guard = 0;  ///< index of the predicate register
  Location location;

  bool has(std::string_view modifier) const;

  /// The last modifier that names a type, or the n-th from the end: `cvt.f32.s16` has type() s16
  /// and type(1) f32. Type::none if there are fewer.
  Type type(unsigned from_end = 0) const;
};

/// The type that a modifier names, or Type::none.
Type type_named(std::string_view name);

}  // namespace halfgrad::emulator
