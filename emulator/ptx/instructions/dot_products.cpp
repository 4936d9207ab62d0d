// PTX ISA, "Integer Arithmetic Instructions": dp4a dp2a.

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

namespace halfgrad::emulator {
namespace {

using Word = std::uint32_t;

/// Bits [first, first + bits) of x, zero- or sign-extended.
template <bool Signed>
constexpr Word part(Word x, unsigned first, unsigned bits) {
  const Word top = x << (32 - bits - first);
  return Signed ? static_cast<Word>(static_cast<std::int32_t>(top) >> (32 - bits))
                : top >> (32 - bits);
}

/// c + the sum of a's bytes times b's.
template <bool SignedA, bool SignedB>
struct FourWay {
  Word operator()(Word a, Word b, Word c) const {
    for (unsigned i = 0; i < 32; i += 8) c += part<SignedA>(a, i, 8) * part<SignedB>(b, i, 8);
    return c;
  }
};

/// c + the sum of a's 16-bit halves times two bytes of b: .lo the lower two, .hi the upper two.
template <bool SignedA, bool SignedB, bool High>
struct TwoWay {
  Word operator()(Word a, Word b, Word c) const {
    constexpr unsigned first = High ? 16 : 0;
    return c + part<SignedA>(a, 0, 16) * part<SignedB>(b, first, 8) +
           part<SignedA>(a, 16, 16) * part<SignedB>(b, first + 8, 8);
  }
};

}  // namespace

void dot_product(Encoder& encoder) {
  only_modifiers(encoder, {"lo", "hi"});
  const Statement& statement = encoder.statement;
  const Type a = statement.type(1), b = statement.type();
  if (bytes_of(a) != 4 || bytes_of(b) != 4) encoder.unknown("expected two types of 32 bits");
  const bool two = statement.opcode == "dp2a";
  if (two && statement.has("lo") == statement.has("hi")) encoder.unknown("expected .lo or .hi");
  uniform_operands(encoder, Type::b32, 3);
  execute_with(encoder, with_constant(is_signed(a), [&](auto signed_a) {
                 return with_constant(is_signed(b), [&](auto signed_b) {
                   if (!two) return uniform<FourWay<signed_a(), signed_b()>, Word, 3>();
                   return with_constant(statement.has("hi"), [&](auto high) {
                     return uniform<TwoWay<signed_a(), signed_b(), high()>, Word, 3>();
                   });
                 });
               }));
}

}  // namespace halfgrad::emulator
