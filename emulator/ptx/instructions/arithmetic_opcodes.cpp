#include <halfgrad/emulator/ptx/families.h>

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>
#include <halfgrad/emulator/ptx/instructions/video_selectors.h>
#include <halfgrad/emulator/ptx/mutation.h>

namespace halfgrad::emulator {
namespace {

/// add, sub, div, rcp and the like: the page of the type.
void arithmetic(Encoder& encoder) {
  const Type type = encoder.statement.type();
  if (encoder.statement.has("cc")) return extended_precision(encoder);
  if (type == Type::f64 && encoder.statement.has("approx")) return special_functions(encoder);
  if (is_float(type)) return float_arithmetic(encoder);
  if (is_packed_integer(type)) return packed_integers(encoder);
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
  if (is_packed_integer(type)) return packed_integers(encoder);
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
      {kMultiplySubtract, &product},
      {"mul24", &integer_products},
      {"mad24", &integer_products},
      {"abs", &sign},
      {"neg", &sign},
      {"copysign", &copy_sign},
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
      {"bfe", &bit_fields},
      {"bfi", &bit_fields},
      {"bmsk", &bit_fields},
      {"szext", &bit_fields},
      {"fns", &bit_fields},
      {"popc", &bit_counts},
      {"clz", &bit_counts},
      {"bfind", &bit_counts},
      {"brev", &bit_counts},
      {"prmt", &byte_permutation},
      {"dp4a", &dot_product},
      {"dp2a", &dot_product},
      {"vshl", &video_scalar},
      {"vshr", &video_scalar},
      {"vmad", &video_scalar},
      {"vset", &video_scalar},
      {"vadd", &video},
      {"vadd2", &video},
      {"vadd4", &video},
      {"vsub", &video},
      {"vsub2", &video},
      {"vsub4", &video},
      {"vabsdiff", &video},
      {"vabsdiff2", &video},
      {"vabsdiff4", &video},
      {"vmin", &video},
      {"vmin2", &video},
      {"vmin4", &video},
      {"vmax", &video},
      {"vmax2", &video},
      {"vmax4", &video},
      {"rsqrt", &special_functions},
      {"sin", &special_functions},
      {"cos", &special_functions},
      {"lg2", &special_functions},
      {"ex2", &special_functions},
      {"tanh", &special_functions},
  };
  return kEntries;
}

}  // namespace halfgrad::emulator
