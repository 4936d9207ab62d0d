// PTX ISA, "Integer Arithmetic Instructions": add sub div rem abs neg min max sad.

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

#include <algorithm>
#include <limits>

namespace halfgrad::emulator {
namespace {

struct AddIntegers {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(modular(a) + modular(b));
  }
};

struct SubtractIntegers {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(modular(a) - modular(b));
  }
};

std::int32_t clamp_to_s32(std::int64_t x) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      x, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

struct AddSaturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamp_to_s32(std::int64_t{a} + b);
  }
};

struct SubtractSaturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamp_to_s32(std::int64_t{a} - b);
  }
};

/// Whether C++ leaves a / b undefined: a zero divisor, or the lowest integer by -1.
template <class T>
constexpr bool is_special_divisor(T b) {
  return b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1));
}

/// The hardware's quotient by 0 has all bits set; PTX leaves it open.
struct DivideIntegers {
  template <class T>
  T operator()(T a, T b) const {
    const T quotient = static_cast<T>(a / (is_special_divisor(b) ? T{1} : b));
    if (b == 0) return static_cast<T>(-1);
    return is_special_divisor(b) ? static_cast<T>(0 - modular(a)) : quotient;
  }
};

/// The remainder has the sign of the dividend; by 0 it has all bits set, as the quotient.
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    const T remainder = static_cast<T>(a % (is_special_divisor(b) ? T{1} : b));
    return b == 0 ? static_cast<T>(-1) : remainder;
  }
};

struct NegateInteger {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(0 - modular(a));
  }
};

/// The lowest integer stays: its magnitude has no representation.
struct AbsoluteInteger {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? NegateInteger{}(a) : a;
  }
};

struct MinimumOfIntegers {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct MaximumOfIntegers {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

template <class F>
struct ThenRelu {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const { return std::max(F{}(a, b), 0); }
};

struct SumOfAbsoluteDifference {
  template <class T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(modular(c) + (a < b ? modular(b) - modular(a) : modular(a) - modular(b)));
  }
};

template <class F>
Execute only_s32(Type type) {
  return type == Type::s32 ? uniform<F, std::int32_t, 2>() : nullptr;
}

template <class F>
Execute only_signed(Type type) {
  return is_signed(type) ? for_integer<F, 1>(type) : nullptr;
}

Execute select_integer_formula(std::string_view opcode, Type type, bool saturated, bool relu) {
  if (opcode == "add") {
    return saturated ? only_s32<AddSaturated>(type) : for_integer<AddIntegers, 2>(type);
  }
  if (opcode == "sub") {
    return saturated ? only_s32<SubtractSaturated>(type) : for_integer<SubtractIntegers, 2>(type);
  }
  if (saturated) return nullptr;
  if (opcode == "min") {
    return relu ? only_s32<ThenRelu<MinimumOfIntegers>>(type)
                : for_integer<MinimumOfIntegers, 2>(type);
  }
  if (opcode == "max") {
    return relu ? only_s32<ThenRelu<MaximumOfIntegers>>(type)
                : for_integer<MaximumOfIntegers, 2>(type);
  }
  if (relu) return nullptr;
  if (opcode == "div") return for_integer<DivideIntegers, 2>(type);
  if (opcode == "rem") return for_integer<Remainder, 2>(type);
  if (opcode == "neg") return only_signed<NegateInteger>(type);
  if (opcode == "abs") return only_signed<AbsoluteInteger>(type);
  return opcode == "sad" ? for_integer<SumOfAbsoluteDifference, 3>(type) : nullptr;
}

}  // namespace

void integer_arithmetic(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  only_modifiers(encoder, {"sat", "relu"});
  const std::string_view opcode = statement.opcode;
  const unsigned sources = opcode == "neg" || opcode == "abs" ? 1 : opcode == "sad" ? 3 : 2;
  execute_with(encoder, select_integer_formula(opcode, statement.type(), statement.has("sat"),
                                               statement.has("relu")));
  uniform_operands(encoder, statement.type(), sources);
}

}  // namespace halfgrad::emulator
