#include <halfgrad/emulator/ptx/families.h>

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

namespace halfgrad::emulator {
namespace {

/// add, sub, div, rcp and the like: the page of the type.
void arithmetic(Encoder& encoder) {
  const Type type = encoder.statement.type();
  if (encoder.statement.has("cc")) return extended_precision(encoder);
  if (is_float(type)) return float_arithmetic(encoder);
  return is_half(type) ? half_arithmetic(encoder) : integer_arithmetic(encoder);
}

/// mul, mad and fma.
void product(Encoder& encoder) {
  const Type type = encoder.statement.type();
  if (encoder.statement.has("cc")) return extended_precision(encoder);
  if (is_float(type)) return float_arithmetic(encoder);
  return is_half(type) ? half_arithmetic(encoder) : integer_products(encoder);
}

void minimum_maximum(Encoder& encoder) {
  const Type type = encoder.statement.type();
  if (is_float(type)) return float_minimum_maximum(encoder);
  return is_half(type) ? half_minimum_maximum(encoder) : integer_arithmetic(encoder);
}

void sign(Encoder& encoder) {
  const Type type = encoder.statement.type();
  if (is_float(type)) return float_sign(encoder);
  return is_half(type) ? half_sign(encoder) : integer_arithmetic(encoder);
}

}  // namespace

std::span<const OpcodeEntry> arithmetic_opcodes() {
  static constexpr OpcodeEntry kEntries[] = {
      {"add", &arithmetic},
      {"sub", &arithmetic},
      {"div", &arithmetic},
      {"rem", &arithmetic},
      {"sad", &arithmetic},
      {"rcp", &arithmetic},
      {"sqrt", &arithmetic},
      {"mul", &product},
      {"mad", &product},
      {"fma", &product},
      {"mul24", &integer_products},
      {"mad24", &integer_products},
      {"abs", &sign},
      {"neg", &sign},
      {"min", &minimum_maximum},
      {"max", &minimum_maximum},
      {"addc", &extended_precision},
      {"subc", &extended_precision},
      {"madc", &extended_precision},
      {"set", &comparison},
      {"setp", &comparison},
      {"selp", &selection},
      {"slct", &selection},
      {"testp", &test_property},
      {"and", &logic},
      {"or", &logic},
      {"xor", &logic},
      {"not", &logic},
      {"cnot", &logic},
      {"lop3", &lookup_logic},
      {"shl", &shift},
      {"shr", &shift},
      {"shf", &funnel_shift},
  };
  return kEntries;
}

}  // namespace halfgrad::emulator
