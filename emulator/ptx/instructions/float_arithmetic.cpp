// PTX ISA, "Floating-Point Instructions": add sub mul fma mad div rcp sqrt of f32 and f64, in the
// four rounding modes. div.full, div.approx and their like have errors of some ulp on a GPU; here
// they are correctly rounded.

#include <halfgrad/emulator/ptx/instructions/float_values.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>
#include <halfgrad/emulator/ptx/mutation.h>

#include <cfenv>
#include <cmath>

namespace halfgrad::emulator {
namespace {

// Each operation: its formula, and for f32 operands the result in double rounded to odd, from which
// every rounding mode gets its result without changing the mode of the host.

struct AddFloats {
  static constexpr unsigned kSources = 2;
  template <class T>
  static T compute(T a, T b) {
    return a + b;
  }
  template <Rounding R>
  static double odd(double a, double b) {
    return add_to_odd<R>(a, b);
  }
};

struct SubtractFloats {
  static constexpr unsigned kSources = 2;
  template <class T>
  static T compute(T a, T b) {
    return a - b;
  }
  template <Rounding R>
  static double odd(double a, double b) {
    return add_to_odd<R>(a, -b);
  }
};

struct MultiplyFloats {
  static constexpr unsigned kSources = 2;
  template <class T>
  static T compute(T a, T b) {
    return a * b;
  }
  template <Rounding>
  static double odd(double a, double b) {
    return a * b;  // exact: 48 bits
  }
};

struct FusedMultiplyAddFloats {
  static constexpr unsigned kSources = 3;
  template <class T>
  static T compute(T a, T b, T c) {
    return std::fma(a, b, c);
  }
  template <Rounding R>
  static double odd(double a, double b, double c) {
    return add_to_odd<R>(a * b, c);
  }
};

/// A mutant of fma (mutation.h).
struct FusedMultiplySubtractFloats {
  static constexpr unsigned kSources = 3;
  template <class T>
  static T compute(T a, T b, T c) {
    return std::fma(a, b, -c);
  }
  template <Rounding R>
  static double odd(double a, double b, double c) {
    return add_to_odd<R>(a * b, -c);
  }
};

struct DivideFloats {
  static constexpr unsigned kSources = 2;
  template <class T>
  static T compute(T a, T b) {
    return a / b;
  }
  template <Rounding>
  static double odd(double a, double b) {
    const double q = a / b;
    return to_odd(q, std::fma(-q, b, a), b);
  }
};

struct ReciprocalOfFloat {
  static constexpr unsigned kSources = 1;
  template <class T>
  static T compute(T a) {
    return T{1} / a;
  }
  template <Rounding R>
  static double odd(double a) {
    return DivideFloats::odd<R>(1.0, a);
  }
};

struct SquareRoot {
  static constexpr unsigned kSources = 1;
  template <class T>
  static T compute(T a) {
    return std::sqrt(a);
  }
  template <Rounding>
  static double odd(double a) {
    const double q = std::sqrt(a);
    return to_odd(q, std::fma(-q, q, a), q);
  }
};

/// f32 with its modifiers around the formula.
template <class Operation, Rounding R, bool Ftz, bool Saturate>
struct RoundedSingle {
  template <class... T>
  float operator()(T... operands) const {
    float result;
    if constexpr (R == Rounding::nearest) {
      result = Operation::compute(flush_if<Ftz>(operands)...);
    } else {
      const double odd = Operation::template odd<R>(double{flush_if<Ftz>(operands)}...);
      result = bits_to_float(narrow<F32, R>(odd));
    }
    result = flush_if<Ftz>(result);
    return Saturate ? saturate(result) : canonical(result);
  }
};

template <class Operation>
struct RoundedDouble {
  template <class... T>
  double operator()(T... operands) const {
    return Operation::compute(operands...);
  }
};

/// f64 in a directed rounding mode: changes the mode of the host for the loop over the lanes. The
/// loop is between two barriers for the compiler, which otherwise takes the mode for constant.
template <class Operation, int Mode>
void directed(Execution& execution, const Instruction& instruction) {
  std::fesetround(Mode);
  asm volatile("" ::: "memory");
  uniform<RoundedDouble<Operation>, double, Operation::kSources>()(execution, instruction);
  asm volatile("" ::: "memory");
  std::fesetround(FE_TONEAREST);
}

template <class Operation>
Execute of_rounded_double(Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return &directed<Operation, FE_TOWARDZERO>;
    case Rounding::down:
      return &directed<Operation, FE_DOWNWARD>;
    case Rounding::up:
      return &directed<Operation, FE_UPWARD>;
    default:
      return uniform<RoundedDouble<Operation>, double, Operation::kSources>();
  }
}

template <class Operation, Rounding R>
Execute of_rounded_single(bool ftz, bool saturated) {
  return with_constant(ftz, [&](auto flushes) {
    return with_constant(saturated, [&](auto clamps) {
      return uniform<RoundedSingle<Operation, R, flushes(), clamps()>, float,
                     Operation::kSources>();
    });
  });
}

template <class Operation>
Execute of_rounded_single(Rounding rounding, bool ftz, bool saturated) {
  switch (rounding) {
    case Rounding::zero:
      return of_rounded_single<Operation, Rounding::zero>(ftz, saturated);
    case Rounding::down:
      return of_rounded_single<Operation, Rounding::down>(ftz, saturated);
    case Rounding::up:
      return of_rounded_single<Operation, Rounding::up>(ftz, saturated);
    default:
      return of_rounded_single<Operation, Rounding::nearest>(ftz, saturated);
  }
}

template <class Operation>
void choose_rounded(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  const Rounding rounding = rounding_of(statement);
  const bool ftz = statement.has("ftz"), saturated = statement.has("sat");
  const Type type = statement.type();
  if (type == Type::f32) {
    execute_with(encoder, of_rounded_single<Operation>(rounding, ftz, saturated));
  } else if (type == Type::f64 && !ftz && !saturated) {
    execute_with(encoder, of_rounded_double<Operation>(rounding));
  } else {
    encoder.unknown("no such operation on this type");
  }
  uniform_operands(encoder, type, Operation::kSources);
}

}  // namespace

void float_arithmetic(Encoder& encoder) {
  only_modifiers(encoder, {"rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full"});
  const Statement& statement = encoder.statement;
  const std::string_view opcode = statement.opcode;
  if (type_count(statement) != 1) encoder.unknown("expected one type");
  encoder.instruction.kind = class_of(statement.type());
  if (opcode == "add") return choose_rounded<AddFloats>(encoder);
  if (opcode == "sub") return choose_rounded<SubtractFloats>(encoder);
  if (opcode == "mul") return choose_rounded<MultiplyFloats>(encoder);
  if (opcode == "fma" || opcode == "mad") return choose_rounded<FusedMultiplyAddFloats>(encoder);
  if (opcode == kMultiplySubtract) return choose_rounded<FusedMultiplySubtractFloats>(encoder);
  encoder.instruction.kind = InstructionClass::special_function;
  if (opcode == "div") return choose_rounded<DivideFloats>(encoder);
  if (opcode == "sqrt") return choose_rounded<SquareRoot>(encoder);
  if (opcode == "rcp") return choose_rounded<ReciprocalOfFloat>(encoder);
  encoder.unknown("no such operation on f32 and f64");
}

}  // namespace halfgrad::emulator
