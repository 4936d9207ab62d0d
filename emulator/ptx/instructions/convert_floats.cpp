// PTX ISA, "Data Movement and Conversion Instructions: cvt": between f16, bf16, f32 and f64, and to
// integers of the same type.

#include <halfgrad/emulator/ptx/instructions/conversions.h>

namespace halfgrad::emulator {
namespace {

/// Modifiers that most conversions lack.
struct FloatModifiers {
  bool to_integer, saturated, rectified, finite, flush_source, flush_result;
  Rounding integer_rounding;
};

double round_to_integer(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return std::trunc(x);
    case Rounding::down:
      return std::floor(x);
    case Rounding::up:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

double modify(double x, const FloatModifiers& modifiers) {
  if (modifiers.flush_source) x = flush(static_cast<float>(x));
  if (modifiers.to_integer) x = round_to_integer(x, modifiers.integer_rounding);
  if (modifiers.saturated) x = saturate(x);
  if (modifiers.rectified) x = x > 0 || x != x ? x : 0;
  return x;
}

template <class Format, Rounding R>
struct WriteFormat {
  using Bits = std::conditional_t<Format::mantissa_bits == 23, std::uint32_t, std::uint16_t>;
  static Bits write(double x, bool finite) {
    return static_cast<Bits>(narrow<Format, R>(x, finite));
  }
};

/// Hardware converts f64 to the nearest f32 as C++ does.
template <>
struct WriteFormat<F32, Rounding::nearest> {
  using Bits = float;
  static float write(double x, bool) { return canonical(static_cast<float>(x)); }
};

struct WriteDouble {
  using Bits = double;
  static double write(double x, bool) { return x; }
};

template <class Reader, class Writer>
struct PlainConversion {
  auto operator()(typename Reader::Bits x) const { return Writer::write(Reader::read(x), false); }
};

template <class Bits>
Bits flush_bits(Bits x) {
  if constexpr (sizeof(Bits) == 4) return std::bit_cast<Bits>(flush(std::bit_cast<float>(x)));
  return x;
}

template <class Reader, class Writer>
void modified(Execution& execution, const Instruction& instruction) {
  const FloatModifiers modifiers = instruction.options<FloatModifiers>();
  const auto formula = [modifiers](typename Reader::Bits x) {
    const auto result = Writer::write(modify(Reader::read(x), modifiers), modifiers.finite);
    return modifiers.flush_result ? flush_bits(result) : result;
  };
  compute_lanes<typename Writer::Bits, typename Reader::Bits>(execution, instruction, formula,
                                                              std::index_sequence<0>{});
}

template <class Reader, class Writer>
Execute choose_conversion(bool plain) {
  return plain ? &lanewise<PlainConversion<Reader, Writer>, typename Writer::Bits,
                           typename Reader::Bits>
               : &modified<Reader, Writer>;
}

template <class Reader, Rounding R>
Execute choose_conversion(Type result, bool plain) {
  switch (result) {
    case Type::f16:
      return choose_conversion<Reader, WriteFormat<F16, R>>(plain);
    case Type::bf16:
      return choose_conversion<Reader, WriteFormat<BF16, R>>(plain);
    case Type::f32:
      return choose_conversion<Reader, WriteFormat<F32, R>>(plain);
    case Type::f64:
      return choose_conversion<Reader, WriteDouble>(plain);
    default:
      return nullptr;
  }
}

}  // namespace

void float_to_float(Encoder& encoder, Type result, Type source) {
  only_modifiers(encoder, {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu",
                           "satfinite"});
  const Statement& statement = encoder.statement;
  const bool to_integer = rounds_to_integer(statement), ftz = statement.has("ftz");
  if (to_integer && result != source) encoder.unknown("expected the same type on both sides");
  const FloatModifiers modifiers{.to_integer = to_integer,
                                 .saturated = statement.has("sat"),
                                 .rectified = statement.has("relu"),
                                 .finite = statement.has("satfinite"),
                                 .flush_source = ftz && source == Type::f32,
                                 .flush_result = ftz && result == Type::f32,
                                 .integer_rounding = rounding_of(statement)};
  const bool plain =
      !to_integer && !modifiers.saturated && !modifiers.rectified && !modifiers.finite && !ftz;
  const Rounding rounding = to_integer ? Rounding::nearest : rounding_of(statement);
  encoder.instruction.set_options(modifiers);
  encoder.operands_of(result, {source});
  execute_with(encoder, with_reader(source, [&]<class Reader>(Reader) {
                 return with_rounding(rounding, [&](auto constant) {
                   return choose_conversion<Reader, constant()>(result, plain);
                 });
               }));
}

}  // namespace halfgrad::emulator
