#include <halfgrad/emulator/ptx/syntax.h>

#include <algorithm>
#include <array>
#include <utility>

namespace halfgrad::emulator {

Type type_named(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Type>, 25> kTypes = {{
      {"b32", Type::b32},       {"f32", Type::f32},     {"u32", Type::u32},
      {"s32", Type::s32},       {"b64", Type::b64},     {"u64", Type::u64},
      {"s64", Type::s64},       {"f64", Type::f64},     {"b16", Type::b16},
      {"u16", Type::u16},       {"s16", Type::s16},     {"f16", Type::f16},
      {"pred", Type::pred},     {"b8", Type::b8},       {"u8", Type::u8},
      {"s8", Type::s8},         {"b128", Type::b128},   {"bf16", Type::bf16},
      {"tf32", Type::tf32},     {"f16x2", Type::f16x2}, {"bf16x2", Type::bf16x2},
      {"u16x2", Type::u16x2},   {"s16x2", Type::s16x2}, {"e4m3x2", Type::e4m3x2},
      {"e5m2x2", Type::e5m2x2},
  }};
  if (name.size() < 2 || name.size() > 6) return Type::none;
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return Type::none;
}

bool Statement::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Type Statement::type(unsigned from_end) const {
  for (std::size_t i = modifiers.size(); i-- > 0;) {
    const Type type = type_named(modifiers[i]);
    if (type != Type::none && from_end-- == 0) return type;
  }
  return Type::none;
}

}  // namespace halfgrad::emulator
