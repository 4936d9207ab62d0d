// PTX ISA, "Floating-Point Instructions": min max abs neg copysign of f32 and f64.

#include <halfgrad/emulator/ptx/instructions/float_minimum_maximum.h>

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

namespace halfgrad::emulator {
namespace {

template <class Formula, bool Ftz>
struct FlushedSingle {
  template <class... T>
  float operator()(T... operands) const {
    return Formula{}(flush_if<Ftz>(operands)...);
  }
};

template <bool Largest>
struct DoubleExtremum {
  double operator()(double a, double b) const { return Largest ? maximum(a, b) : minimum(a, b); }
};

template <unsigned Sources>
Execute select_extremum_of_floats(const Statement& statement) {
  return with_constant(statement.opcode == "max", [&](auto largest) {
    return with_constant(statement.has("NaN"), [&](auto nan) {
      return with_constant(statement.has("xorsign"), [&](auto xorsign) {
        return with_constant(statement.has("ftz"), [&](auto ftz) {
          return uniform<FlushedSingle<Extremum<largest(), nan(), xorsign()>, ftz()>, float,
                         Sources>();
        });
      });
    });
  });
}

// Signs change in the bits: a NaN keeps its payload, as nothing is computed. With .ftz the hardware
// adds a zero, which makes NaN canonical.

template <class Bits>
struct NegateFloat {
  Bits operator()(Bits a) const {
    return a ^ Bits { 1 } << (kBits<Bits> - 1);
  }
};

template <class Bits>
struct AbsoluteFloat {
  Bits operator()(Bits a) const { return a & ~(Bits{1} << (kBits<Bits> - 1)); }
};

/// copysign: the magnitude of b with the sign of a.
template <class Bits>
struct CopySign {
  Bits operator()(Bits a, Bits b) const {
    constexpr Bits kSign = Bits{1} << (kBits<Bits> - 1);
    return (b & ~kSign) | (a & kSign);
  }
};

template <template <class> class F>
struct FlushedSign {
  float operator()(float a) const {
    const auto bits = std::bit_cast<std::uint32_t>(flush(a));
    return canonical(bits_to_float(F<std::uint32_t>{}(bits)));
  }
};

template <template <class> class F>
Execute select_float_sign(Type type, bool ftz) {
  if (type == Type::f64) {
    return ftz ? nullptr : uniform<F<std::uint64_t>, std::uint64_t, 1>();
  }
  return ftz ? uniform<FlushedSign<F>, float, 1>() : uniform<F<std::uint32_t>, std::uint32_t, 1>();
}

}  // namespace

void float_minimum_maximum(Encoder& encoder) {
  only_modifiers(encoder, {"ftz", "NaN", "xorsign", "abs"});
  const Statement& statement = encoder.statement;
  const Type type = statement.type();
  const unsigned sources = encoder.operands() == 4 ? 3 : 2;
  if (type == Type::f64) {
    if (statement.modifiers.size() != 1 || sources == 3) encoder.unknown("no such form of f64");
    execute_with(encoder, statement.opcode == "max" ? uniform<DoubleExtremum<true>, double, 2>()
                                                    : uniform<DoubleExtremum<false>, double, 2>());
  } else {
    if (statement.has("xorsign") && sources == 3) encoder.unknown("three operands with .xorsign");
    execute_with(encoder, sources == 3 ? select_extremum_of_floats<3>(statement)
                                       : select_extremum_of_floats<2>(statement));
  }
  encoder.instruction.kind = class_of(type);
  uniform_operands(encoder, type, sources);
}

void copy_sign(Encoder& encoder) {
  only_modifiers(encoder, {});
  const Type type = encoder.statement.type();
  encoder.instruction.kind = class_of(type);
  execute_with(encoder, type == Type::f32   ? uniform<CopySign<std::uint32_t>, std::uint32_t, 2>()
                        : type == Type::f64 ? uniform<CopySign<std::uint64_t>, std::uint64_t, 2>()
                                            : nullptr);
  uniform_operands(encoder, type, 2);
}

void float_sign(Encoder& encoder) {
  only_modifiers(encoder, {"ftz"});
  const Statement& statement = encoder.statement;
  const Type type = statement.type();
  const bool ftz = statement.has("ftz");
  execute_with(encoder, statement.opcode == "neg" ? select_float_sign<NegateFloat>(type, ftz)
                                                  : select_float_sign<AbsoluteFloat>(type, ftz));
  encoder.instruction.kind = class_of(type);
  uniform_operands(encoder, type, 1);
}

}  // namespace halfgrad::emulator
