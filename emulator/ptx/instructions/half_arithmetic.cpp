// PTX ISA, "Half Precision Floating-Point Instructions": add sub mul fma min max abs neg of f16,
// bf16 and their packed pairs. Each formula is computed in double and rounded once.

#include <halfgrad/emulator/ptx/instructions/float_minimum_maximum.h>
#include <halfgrad/emulator/ptx/instructions/half_lanes.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/mutation.h>

namespace halfgrad::emulator {
namespace {

struct AddHalves {
  static constexpr unsigned kSources = 2;
  static double compute(double a, double b) { return a + b; }
};

struct SubtractHalves {
  static constexpr unsigned kSources = 2;
  static double compute(double a, double b) { return a - b; }
};

struct MultiplyHalves {
  static constexpr unsigned kSources = 2;
  static double compute(double a, double b) { return a * b; }
};

/// The product is exact in double. The sum need not be: to odd, as it is rounded again.
struct FusedMultiplyAddHalves {
  static constexpr unsigned kSources = 3;
  static double compute(double a, double b, double c) { return add_to_odd(a * b, c); }
};

/// A mutant of fma (mutation.h).
struct FusedMultiplySubtractHalves {
  static constexpr unsigned kSources = 3;
  static double compute(double a, double b, double c) { return add_to_odd(a * b, -c); }
};

template <bool Largest, bool KeepNan, bool XorSign>
struct Choose {
  static constexpr unsigned kSources = 2;
  static double compute(float a, float b) { return Extremum<Largest, KeepNan, XorSign>{}(a, b); }
};

/// .relu: a negative result becomes +0, NaN stays.
constexpr double relu(double x) { return x < 0 || x == 0 ? 0.0 : x; }

enum class Clamp : unsigned char { none, saturate, relu };

template <class Operation, bool Ftz, Clamp C>
struct WithModifiers {
  template <class Format>
  struct On {
    template <class... T>
    std::uint16_t operator()(T... operands) const {
      double value =
          Operation::compute(widen<Format>(Ftz ? flush_half<Format>(operands) : operands)...);
      if (C == Clamp::saturate) value = saturate(value);
      if (C == Clamp::relu) value = relu(value);
      const auto result = static_cast<std::uint16_t>(narrow<Format, Rounding::nearest>(value));
      return Ftz ? flush_half<Format>(result) : result;
    }
  };
};

template <class Operation>
Execute select_half_formula(const Statement& statement) {
  const bool saturated = statement.has("sat"), rectified = statement.has("relu");
  if (saturated && rectified) return nullptr;
  return with_constant(statement.has("ftz"), [&](auto ftz) -> Execute {
    constexpr unsigned n = Operation::kSources;
    const Type type = statement.type();
    if (saturated) {
      return for_half<WithModifiers<Operation, ftz(), Clamp::saturate>::template On, n>(type);
    }
    if (rectified) {
      return for_half<WithModifiers<Operation, ftz(), Clamp::relu>::template On, n>(type);
    }
    return for_half<WithModifiers<Operation, ftz(), Clamp::none>::template On, n>(type);
  });
}

Execute select_extremum(const Statement& statement) {
  return with_constant(statement.opcode == "max", [&](auto largest) {
    return with_constant(statement.has("NaN"), [&](auto nan) {
      return with_constant(statement.has("xorsign"), [&](auto xorsign) {
        return select_half_formula<Choose<largest(), nan(), xorsign()>>(statement);
      });
    });
  });
}

template <class Operation>
void choose_half_formula(Encoder& encoder) {
  execute_with(encoder, select_half_formula<Operation>(encoder.statement));
  uniform_operands(encoder, encoder.statement.type(), Operation::kSources);
}

template <class Format>
struct NegateHalf {
  std::uint16_t operator()(std::uint16_t a) const { return a ^ 0x8000; }
};
template <class Format>
struct AbsoluteHalf {
  std::uint16_t operator()(std::uint16_t a) const { return a & 0x7fff; }
};
template <template <class> class F>
struct FlushedHalf {
  template <class Format>
  struct On {
    std::uint16_t operator()(std::uint16_t a) const { return F<Format>{}(flush_half<Format>(a)); }
  };
};

template <template <class> class F>
Execute select_half_sign(Type type, bool ftz) {
  return ftz ? for_half<FlushedHalf<F>::template On, 1>(type) : for_half<F, 1>(type);
}

}  // namespace

void half_arithmetic(Encoder& encoder) {
  only_modifiers(encoder, {"rn", "ftz", "sat", "relu"});
  if (type_count(encoder.statement) != 1) encoder.unknown("expected one type");
  encoder.instruction.kind = InstructionClass::f16;
  const std::string_view opcode = encoder.statement.opcode;
  if (opcode == "add") return choose_half_formula<AddHalves>(encoder);
  if (opcode == "sub") return choose_half_formula<SubtractHalves>(encoder);
  if (opcode == "mul") return choose_half_formula<MultiplyHalves>(encoder);
  if (opcode == "fma") return choose_half_formula<FusedMultiplyAddHalves>(encoder);
  if (opcode == kMultiplySubtract) return choose_half_formula<FusedMultiplySubtractHalves>(encoder);
  encoder.unknown("no such operation on f16 and bf16");
}

void half_minimum_maximum(Encoder& encoder) {
  only_modifiers(encoder, {"ftz", "NaN", "xorsign", "abs"});
  encoder.instruction.kind = InstructionClass::f16;
  execute_with(encoder, select_extremum(encoder.statement));
  uniform_operands(encoder, encoder.statement.type(), 2);
}

void half_sign(Encoder& encoder) {
  only_modifiers(encoder, {"ftz"});
  encoder.instruction.kind = InstructionClass::f16;
  const Type type = encoder.statement.type();
  const bool ftz = encoder.statement.has("ftz");
  execute_with(encoder, encoder.statement.opcode == "neg"
                            ? select_half_sign<NegateHalf>(type, ftz)
                            : select_half_sign<AbsoluteHalf>(type, ftz));
  uniform_operands(encoder, type, 1);
}

}  // namespace halfgrad::emulator
