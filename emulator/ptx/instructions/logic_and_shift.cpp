// PTX ISA, "Logic and Shift Instructions": and or xor not cnot lop3 shl shr shf.

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/predicates.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

#include <algorithm>

namespace halfgrad::emulator {
namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};

/// C's `!`: 1 for 0, and 0 otherwise.
struct LogicalNot {
  template <class T>
  T operator()(T a) const {
    return a == 0;
  }
};

/// On predicates the same formula works on the masks of all lanes at once.
template <class F, unsigned Sources>
void on_predicates(Execution& execution, const Instruction& instruction) {
  const LaneMask a = source_predicate(execution, instruction, 0);
  LaneMask result;
  if constexpr (Sources == 1) {
    result = F{}(a);
  } else {
    result = F{}(a, source_predicate(execution, instruction, 1));
  }
  set_predicate(execution, instruction.operands[0], result);
}

template <class F, unsigned Sources>
void choose_logic(Encoder& encoder) {
  const Type type = encoder.statement.type();
  if (type == Type::pred) {
    execute_with(encoder, &on_predicates<F, Sources>);
    require_operands(encoder, Sources + 1);
    encoder.destination(0, type);
    predicate_sources(encoder, 1, Sources);
  } else {
    execute_with(encoder, for_bits<F, Sources>(type));
    uniform_operands(encoder, type, Sources);
  }
}

/// The truth table's bit for each combination of bits of a, b and c: entry 4a + 2b + c.
template <unsigned Entry>
std::uint32_t minterm(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  const std::uint32_t here = (Entry & 4 ? a : ~a) & (Entry & 2 ? b : ~b) & (Entry & 1 ? c : ~c);
  return here & (0u - (table >> Entry & 1));
}

struct LookupLogic {
  std::uint32_t table;
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return minterm<0>(a, b, c, table) | minterm<1>(a, b, c, table) | minterm<2>(a, b, c, table) |
           minterm<3>(a, b, c, table) | minterm<4>(a, b, c, table) | minterm<5>(a, b, c, table) |
           minterm<6>(a, b, c, table) | minterm<7>(a, b, c, table);
  }
};

void run_lookup(Execution& execution, const Instruction& instruction) {
  const LookupLogic formula{static_cast<std::uint32_t>(instruction.immediate)};
  using Bits = std::uint32_t;
  compute_lanes<Bits, Bits, Bits, Bits>(execution, instruction, formula,
                                        std::index_sequence_for<Bits, Bits, Bits>{});
}

/// lop3.and and lop3.or: p = (d != 0) combined with q.
template <class Combine>
void run_lookup_predicate(Execution& execution, const Instruction& instruction) {
  const LookupLogic formula{static_cast<std::uint32_t>(instruction.immediate)};
  const std::uint32_t* x[3];
  for (unsigned i = 0; i < 3; ++i) x[i] = execution.lanes<std::uint32_t>(instruction.source(i));
  auto* result = execution.lanes<std::uint32_t>(instruction.operands[0]);
  LaneMask nonzero = 0;
  each_lane(execution.mask, [&](unsigned lane) {
    const std::uint32_t d = formula(x[0][lane], x[1][lane], x[2][lane]);
    nonzero |= LaneMask{d != 0} << lane;
    result[lane] = d;
  });
  const LaneMask other = source_predicate(execution, instruction, 3);
  set_predicate(execution, instruction.operands[1], Combine{}(nonzero, other));
}

void lookup_predicate(Encoder& encoder) {
  require_operands(encoder, 6);
  const Operand& targets = encoder.statement.operands[0];
  const Operand& table = encoder.statement.operands[4];
  if (targets.kind != Operand::Kind::pair || table.kind != Operand::Kind::immediate) {
    encoder.unknown("expected d|p and a constant table");
  }
  encoder.instruction.immediate = static_cast<std::int64_t>(table.bits & 0xff);
  encoder.destination(targets.parts[0], Type::b32);
  encoder.destination(targets.parts[1], Type::pred);
  for (unsigned i = 1; i <= 3; ++i) encoder.source(i, Type::b32);
  predicate_sources(encoder, 5, 1);
  execute_with(encoder, encoder.statement.has("and") ? &run_lookup_predicate<And>
                                                     : &run_lookup_predicate<Or>);
}

// Shifts by the width or more give 0, or copies of the sign.

struct ShiftLeft {
  template <class T>
  T operator()(T a, std::uint32_t n) const {
    return n < kBits<T> ? static_cast<T>(modular(a) << (n % kBits<T>)) : T{0};
  }
};

struct ShiftRight {
  template <class T>
  T operator()(T a, std::uint32_t n) const {
    const std::uint32_t within = std::min<std::uint32_t>(n, kBits<T> - 1);
    const T shifted = static_cast<T>(a >> within);
    return std::is_signed_v<T> || n < kBits<T> ? shifted : T{0};
  }
};

template <class F, class T>
Execute by_amount() {
  return &lanewise<F, T, T, std::uint32_t>;
}

Execute shift_right(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return by_amount<ShiftRight, std::uint16_t>();
    case Type::s16:
      return by_amount<ShiftRight, std::int16_t>();
    case Type::b32:
    case Type::u32:
      return by_amount<ShiftRight, std::uint32_t>();
    case Type::s32:
      return by_amount<ShiftRight, std::int32_t>();
    case Type::b64:
    case Type::u64:
      return by_amount<ShiftRight, std::uint64_t>();
    case Type::s64:
      return by_amount<ShiftRight, std::int64_t>();
    default:
      return nullptr;
  }
}

Execute shift_left(Type type) {
  switch (bytes_of(type)) {
    case 2:
      return by_amount<ShiftLeft, std::uint16_t>();
    case 4:
      return by_amount<ShiftLeft, std::uint32_t>();
    case 8:
      return by_amount<ShiftLeft, std::uint64_t>();
    default:
      return nullptr;
  }
}

/// shf: shifts the 64 bits of high:low. .l gives the upper word of the result, .r the lower one.
template <bool Left, bool Wrap>
struct FunnelShift {
  std::uint32_t operator()(std::uint32_t low, std::uint32_t high, std::uint32_t amount) const {
    const std::uint32_t n = Wrap ? amount % 32 : std::min(amount, 32u);
    const std::uint64_t both = std::uint64_t{high} << 32 | low;
    return static_cast<std::uint32_t>(Left ? both << n >> 32 : both >> n);
  }
};

}  // namespace

void logic(Encoder& encoder) {
  only_modifiers(encoder, {});
  const std::string_view opcode = encoder.statement.opcode;
  if (opcode == "and") return choose_logic<And, 2>(encoder);
  if (opcode == "or") return choose_logic<Or, 2>(encoder);
  if (opcode == "xor") return choose_logic<Xor, 2>(encoder);
  if (opcode == "not") return choose_logic<Not, 1>(encoder);
  execute_with(encoder, for_bits<LogicalNot, 1>(encoder.statement.type()));
  uniform_operands(encoder, encoder.statement.type(), 1);
}

void lookup_logic(Encoder& encoder) {
  only_modifiers(encoder, {"and", "or"});
  if (!encoder.statement.has("b32")) encoder.unknown("expected .b32");
  if (encoder.statement.modifiers.size() == 2) return lookup_predicate(encoder);
  require_operands(encoder, 5);
  const Operand& table = encoder.statement.operands[4];
  if (table.kind != Operand::Kind::immediate) encoder.unknown("expected a constant table");
  encoder.instruction.immediate = static_cast<std::int64_t>(table.bits & 0xff);
  encoder.destination(0, Type::b32);
  for (unsigned i = 1; i <= 3; ++i) encoder.source(i, Type::b32);
  execute_with(encoder, &run_lookup);
}

void shift(Encoder& encoder) {
  only_modifiers(encoder, {});
  const Type type = encoder.statement.type();
  execute_with(encoder, encoder.statement.opcode == "shl" ? shift_left(type) : shift_right(type));
  require_operands(encoder, 3);
  encoder.operands_of(type, {type, Type::u32});
}

void funnel_shift(Encoder& encoder) {
  only_modifiers(encoder, {"l", "r", "clamp", "wrap"});
  execute_with(encoder, with_constant(encoder.statement.has("l"), [&](auto left) {
                 return with_constant(encoder.statement.has("wrap"), [&](auto wrap) {
                   return uniform<FunnelShift<left(), wrap()>, std::uint32_t, 3>();
                 });
               }));
  uniform_operands(encoder, Type::b32, 3);
}

}  // namespace halfgrad::emulator
