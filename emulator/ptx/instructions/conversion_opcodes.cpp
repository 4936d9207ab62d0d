#include <halfgrad/emulator/ptx/families.h>

#include <halfgrad/emulator/ptx/instructions/conversions.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>

namespace halfgrad::emulator {
namespace {

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::e4m3x2 ||
         type == Type::e5m2x2;
}

}  // namespace

/// cvt, by the kinds of its two types.
void conversion(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (statement.has("pack")) return packing_conversion(encoder);
  encoder.instruction.kind = InstructionClass::conversion;
  if (type_count(statement) != 2) encoder.unknown("expected two types");
  const Type result = statement.type(1), source = statement.type();
  if (result == Type::tf32) return to_tf32(encoder);
  if (is_pair(result)) return to_pair(encoder, result, source);
  require_operands(encoder, 2);
  if (is_integer(result)) {
    return is_integer(source) ? integer_to_integer(encoder, result, source)
                              : float_to_integer(encoder, result, source);
  }
  return is_integer(source) ? integer_to_float(encoder, result, source)
                            : float_to_float(encoder, result, source);
}

std::span<const OpcodeEntry> conversion_opcodes() {
  static constexpr OpcodeEntry kEntries[] = {
      {"cvt", &conversion},
      {"cvta", &address_conversion},
      {"isspacep", &address_test},
      {"mov", &move},
  };
  return kEntries;
}

}  // namespace halfgrad::emulator
