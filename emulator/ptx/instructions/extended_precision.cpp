// PTX ISA, "Extended-Precision Integer Arithmetic Instructions": add.cc addc sub.cc subc mad.cc
// madc. The carry flag CC.CF is a hidden predicate, one bit a lane; subtraction keeps its borrow
// there.

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

namespace halfgrad::emulator {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Extended = Wider<Unsigned<T>>;

/// Every formula gives one bit more than T has: the carry, or the borrow.
struct AddWithCarry {
  template <class T>
  static auto compute(T a, T b, T, bool carry) {
    return static_cast<Extended<T>>(Extended<T>{a} + b + carry);
  }
};

struct SubtractWithBorrow {
  template <class T>
  static auto compute(T a, T b, T, bool borrow) {
    return static_cast<Extended<T>>(Extended<T>{a} - b - borrow);
  }
};

struct MultiplyLowAddWithCarry {
  template <class T>
  static auto compute(T a, T b, T c, bool carry) {
    const auto product = static_cast<Unsigned<T>>(modular(a) * modular(b));
    return static_cast<Extended<T>>(Extended<T>{product} + static_cast<Unsigned<T>>(c) + carry);
  }
};

struct MultiplyHighAddWithCarry {
  template <class T>
  static auto compute(T a, T b, T c, bool carry) {
    const auto product = static_cast<Unsigned<T>>((Wider<T>{a} * b) >> kBits<T>);
    return static_cast<Extended<T>>(Extended<T>{product} + static_cast<Unsigned<T>>(c) + carry);
  }
};

struct CarryForm {
  bool reads_carry, writes_carry;
  std::uint8_t sources;
};

/// Operands: result, carry flag if written, sources, carry flag if read.
template <class F, class T>
void with_carry(Execution& execution, const Instruction& instruction) {
  const CarryForm form = instruction.options<CarryForm>();
  const T* a = execution.lanes<T>(instruction.source(0));
  const T* b = execution.lanes<T>(instruction.source(1));
  const T* c = form.sources == 3 ? execution.lanes<T>(instruction.source(2)) : b;
  const LaneMask carry_in =
      form.reads_carry ? execution.predicate(instruction.source(form.sources)) : 0;
  T* result = execution.lanes<T>(instruction.operands[0]);
  LaneMask carry_out = 0;
  each_lane(execution.mask, [&](unsigned lane) {
    const auto exact = F::compute(a[lane], b[lane], c[lane], (carry_in >> lane & 1) != 0);
    result[lane] = static_cast<T>(exact);
    carry_out |= static_cast<LaneMask>(exact >> kBits<T> & 1) << lane;
  });
  if (form.writes_carry) {
    LaneMask& flag = execution.predicate(instruction.operands[1]);
    flag = (flag & ~execution.mask) | carry_out;
  }
}

/// Signed and unsigned sums have the same bits; the high half of a product has not.
template <class F>
Execute of_size(Type type) {
  const unsigned bytes = bytes_of(type);
  return bytes == 4   ? &with_carry<F, std::uint32_t>
         : bytes == 8 ? &with_carry<F, std::uint64_t>
                      : nullptr;
}

Execute select_with_carry(const Statement& statement) {
  const Type type = statement.type();
  const std::string_view name = statement.opcode.substr(0, 3);
  if (name == "add") return of_size<AddWithCarry>(type);
  if (name == "sub") return of_size<SubtractWithBorrow>(type);
  if (statement.has("lo")) return of_size<MultiplyLowAddWithCarry>(type);
  if (!statement.has("hi")) return nullptr;
  switch (type) {
    case Type::s32:
      return &with_carry<MultiplyHighAddWithCarry, std::int32_t>;
    case Type::s64:
      return &with_carry<MultiplyHighAddWithCarry, std::int64_t>;
    default:
      return of_size<MultiplyHighAddWithCarry>(type);
  }
}

}  // namespace

void extended_precision(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  only_modifiers(encoder, {"cc", "lo", "hi"});
  const CarryForm form{.reads_carry = statement.opcode.size() == 4,
                       .writes_carry = statement.has("cc"),
                       .sources = static_cast<std::uint8_t>(statement.opcode[0] == 'm' ? 3 : 2)};
  execute_with(encoder, select_with_carry(statement));
  require_operands(encoder, form.sources + 1u);
  Instruction& instruction = encoder.instruction;
  encoder.destination(0, statement.type());
  if (form.writes_carry) instruction.operands[instruction.destinations++] = encoder.carry();
  for (unsigned i = 1; i <= form.sources; ++i) encoder.source(i, statement.type());
  if (form.reads_carry) {
    instruction.operands[instruction.destinations + instruction.sources++] = encoder.carry();
  }
  instruction.set_options(form);
}

}  // namespace halfgrad::emulator
