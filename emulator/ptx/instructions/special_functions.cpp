// PTX ISA, "Floating-Point Instructions": rsqrt sin cos lg2 ex2 tanh, and the approximations of
// f64. A GPU computes them with errors of some ulp. Here they are computed in double and rounded
// once.

#include <halfgrad/emulator/ptx/instructions/half_lanes.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>

#include <cmath>

namespace halfgrad::emulator {
namespace {

struct ReciprocalRoot {
  static double compute(double x) { return 1.0 / std::sqrt(x); }
};
struct Sine {
  static double compute(double x) { return std::sin(x); }
};
struct Cosine {
  static double compute(double x) { return std::cos(x); }
};
struct Logarithm {
  static double compute(double x) { return std::log2(x); }
};
struct Power {
  static double compute(double x) { return std::exp2(x); }
};
struct HyperbolicTangent {
  static double compute(double x) { return std::tanh(x); }
};

template <class F, bool Ftz>
struct ApproximateSingle {
  float operator()(float x) const {
    return canonical(flush_if<Ftz>(static_cast<float>(F::compute(flush_if<Ftz>(x)))));
  }
};

template <class F, bool Ftz>
struct HalfOf {
  template <class Format>
  struct On {
    std::uint16_t operator()(std::uint16_t x) const {
      const double value = F::compute(widen<Format>(Ftz ? flush_half<Format>(x) : x));
      const auto result = static_cast<std::uint16_t>(narrow<Format, Rounding::nearest>(value));
      return Ftz ? flush_half<Format>(result) : result;
    }
  };
};

template <class F>
struct ApproximateDouble {
  double operator()(double x) const { return F::compute(x); }
};

template <class F>
Execute of_approximate_single(const Statement& statement) {
  return with_constant(statement.has("ftz"),
                       [](auto ftz) { return uniform<ApproximateSingle<F, ftz()>, float, 1>(); });
}

template <class F>
Execute with_halves(const Statement& statement) {
  if (statement.type() == Type::f32) return of_approximate_single<F>(statement);
  return with_constant(statement.has("ftz"), [&](auto ftz) {
    return for_half<HalfOf<F, ftz()>::template On, 1>(statement.type());
  });
}

Execute select_approximation(const Statement& statement) {
  const std::string_view opcode = statement.opcode;
  const bool single = statement.type() == Type::f32;
  if (opcode == "ex2") return with_halves<Power>(statement);
  if (opcode == "tanh") return with_halves<HyperbolicTangent>(statement);
  if (opcode == "rsqrt" && statement.type() == Type::f64) {
    return uniform<ApproximateDouble<ReciprocalRoot>, double, 1>();
  }
  if (!single) return nullptr;
  if (opcode == "rsqrt") return of_approximate_single<ReciprocalRoot>(statement);
  if (opcode == "sin") return of_approximate_single<Sine>(statement);
  if (opcode == "cos") return of_approximate_single<Cosine>(statement);
  return opcode == "lg2" ? of_approximate_single<Logarithm>(statement) : nullptr;
}

/// The approximations of f64 read and write the upper 32 bits only.
constexpr std::uint64_t kUpperHalf = 0xffffffff00000000;
double upper_half(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & kUpperHalf);
}

template <class F>
struct Coarse {
  double operator()(double x) const {
    const double smallest = 2.2250738585072014e-308;
    const double read = upper_half(x), flushed = std::fabs(read) < smallest ? read * 0 : read;
    const double result = upper_half(F::compute(flushed));
    return std::fabs(result) < smallest ? result * 0 : result;
  }
};

struct Reciprocal {
  static double compute(double x) { return 1.0 / x; }
};

}  // namespace

void special_functions(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  only_modifiers(encoder, {"approx", "ftz"});
  encoder.instruction.kind = InstructionClass::special_function;
  uniform_operands(encoder, statement.type(), 1);
  if (statement.type() == Type::f64 && statement.has("ftz")) {
    return execute_with(encoder,
                        statement.opcode == "rcp"     ? uniform<Coarse<Reciprocal>, double, 1>()
                        : statement.opcode == "rsqrt" ? uniform<Coarse<ReciprocalRoot>, double, 1>()
                                                      : nullptr);
  }
  execute_with(encoder, select_approximation(statement));
}

}  // namespace halfgrad::emulator
