// PTX ISA, "Data Movement and Conversion Instructions: cvt": pairs of 16 and 8 bits, and tf32;
// cvt.pack.

#include <halfgrad/emulator/ptx/instructions/conversions.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>

#include <algorithm>

namespace halfgrad::emulator {
namespace {

struct PairModifiers {
  bool rectified, finite;
};

float rectify(float x, const PairModifiers& modifiers) {
  return modifiers.rectified && x <= 0 ? 0.0f : x;
}

/// Two values in a format, `high` in the upper half.
template <class Format, Rounding R>
std::uint32_t pair_of(float high, float low, const PairModifiers& modifiers) {
  constexpr int bits = 1 + Format::exponent_bits + Format::mantissa_bits;
  return narrow<Format, R>(rectify(high, modifiers), modifiers.finite) << bits |
         narrow<Format, R>(rectify(low, modifiers), modifiers.finite);
}

template <class Format>
using PairBits = std::conditional_t<Format::exponent_bits + Format::mantissa_bits == 15,
                                    std::uint32_t, std::uint16_t>;

/// d, a, b of f32: a becomes the upper half.
template <class Format, Rounding R>
void from_two(Execution& execution, const Instruction& instruction) {
  const auto modifiers = instruction.options<PairModifiers>();
  const auto formula = [modifiers](float a, float b) {
    return static_cast<PairBits<Format>>(pair_of<Format, R>(a, b, modifiers));
  };
  compute_lanes<PairBits<Format>, float, float>(execution, instruction, formula,
                                                std::index_sequence<0, 1>{});
}

/// From one pair to another, such as f16x2 to e4m3x2.
template <class To, class From>
void from_pair(Execution& execution, const Instruction& instruction) {
  constexpr int bits = 1 + From::exponent_bits + From::mantissa_bits;
  const auto modifiers = instruction.options<PairModifiers>();
  const auto formula = [modifiers](PairBits<From> pair) {
    const float low = widen<From>(pair & ((1u << bits) - 1)), high = widen<From>(pair >> bits);
    return static_cast<PairBits<To>>(pair_of<To, Rounding::nearest>(high, low, modifiers));
  };
  compute_lanes<PairBits<To>, PairBits<From>>(execution, instruction, formula,
                                              std::index_sequence<0>{});
}

Execute select_two(Type result, bool to_zero) {
  constexpr auto kNearest = Rounding::nearest, kZero = Rounding::zero;
  switch (result) {
    case Type::f16x2:
      return to_zero ? &from_two<F16, kZero> : &from_two<F16, kNearest>;
    case Type::bf16x2:
      return to_zero ? &from_two<BF16, kZero> : &from_two<BF16, kNearest>;
    case Type::e4m3x2:
      return to_zero ? nullptr : &from_two<E4M3, kNearest>;
    case Type::e5m2x2:
      return to_zero ? nullptr : &from_two<E5M2, kNearest>;
    default:
      return nullptr;
  }
}

Execute select_pair(Type result, Type source) {
  if (source == Type::f16x2) {
    if (result == Type::e4m3x2) return &from_pair<E4M3, F16>;
    if (result == Type::e5m2x2) return &from_pair<E5M2, F16>;
  }
  if (result == Type::f16x2) {
    if (source == Type::e4m3x2) return &from_pair<F16, E4M3>;
    if (source == Type::e5m2x2) return &from_pair<F16, E5M2>;
  }
  return nullptr;
}

template <Rounding R>
struct ToTf32 {
  static std::uint32_t round(float x, const PairModifiers& modifiers) {
    const std::uint32_t bits = narrow<TF32, R>(rectify(x, modifiers), modifiers.finite) << 13;
    return x == x ? bits : F32::nan;
  }
  static void run(Execution& execution, const Instruction& instruction) {
    const auto modifiers = instruction.options<PairModifiers>();
    compute_lanes<std::uint32_t, float>(
        execution, instruction, [modifiers](float x) { return round(x, modifiers); },
        std::index_sequence<0>{});
  }
};

struct PackForm {
  std::int32_t lowest, highest;
  std::uint32_t bits;
  bool inserts;
};

/// cvt.pack.sat: d = {sat(a), sat(b)}; with c, the pair is shifted into c from below.
void pack_saturated(Execution& execution, const Instruction& instruction) {
  const PackForm form = instruction.options<PackForm>();
  const auto formula = [form](std::int32_t a, std::int32_t b, std::uint32_t c) {
    const std::uint32_t field = (1u << form.bits) - 1;
    const auto part = [&](std::int32_t x) {
      return static_cast<std::uint32_t>(std::clamp(x, form.lowest, form.highest)) & field;
    };
    const std::uint32_t kept = form.inserts ? c << 2 * form.bits : 0;
    return kept | part(a) << form.bits | part(b);
  };
  compute_lanes<std::uint32_t, std::int32_t, std::int32_t, std::uint32_t>(
      execution, instruction, formula, std::index_sequence<0, 1, 2>{});
}

PackForm pack_form(const Encoder& encoder) {
  for (const unsigned bits : {16u, 8u, 4u, 2u}) {
    const std::string digits = std::to_string(bits);
    const bool inserts = bits < 16;
    if (encoder.statement.has("u" + digits)) return {0, (1 << bits) - 1, bits, inserts};
    if (encoder.statement.has("s" + digits)) {
      return {-(1 << (bits - 1)), (1 << (bits - 1)) - 1, bits, inserts};
    }
  }
  encoder.unknown("expected a type of 16, 8, 4 or 2 bits");
}

}  // namespace

void to_pair(Encoder& encoder, Type result, Type source) {
  only_modifiers(encoder, {"rn", "rz", "relu", "satfinite"});
  const Statement& statement = encoder.statement;
  const bool eight_bits = result == Type::e4m3x2 || result == Type::e5m2x2;
  if (eight_bits && !statement.has("satfinite")) encoder.unknown("expected .satfinite");
  encoder.instruction.set_options(PairModifiers{statement.has("relu"), statement.has("satfinite")});
  if (source == Type::f32) {
    execute_with(encoder, select_two(result, statement.has("rz")));
    encoder.operands_of(result, {source, source});
  } else {
    if (statement.has("rz")) encoder.unknown("expected .rn");
    execute_with(encoder, select_pair(result, source));
    encoder.operands_of(result, {source});
  }
}

void to_tf32(Encoder& encoder) {
  only_modifiers(encoder, {"rn", "rz", "rna", "relu", "satfinite"});
  const Statement& statement = encoder.statement;
  encoder.instruction.set_options(PairModifiers{statement.has("relu"), statement.has("satfinite")});
  execute_with(encoder, statement.has("rna")  ? &ToTf32<Rounding::nearest_away>::run
                        : statement.has("rz") ? &ToTf32<Rounding::zero>::run
                                              : &ToTf32<Rounding::nearest>::run);
  encoder.operands_of(Type::b32, {Type::f32});
}

void packing_conversion(Encoder& encoder) {
  only_modifiers(encoder, {"pack", "sat", "u4", "s4", "u2", "s2"});
  encoder.instruction.kind = InstructionClass::conversion;
  const PackForm form = pack_form(encoder);
  require_operands(encoder, form.inserts ? 4 : 3);
  encoder.instruction.set_options(form);
  encoder.destination(0, Type::b32);
  encoder.source(1, Type::s32);
  encoder.source(2, Type::s32);
  encoder.source(form.inserts ? 3 : 2, Type::b32);
  execute_with(encoder, &pack_saturated);
}

}  // namespace halfgrad::emulator
