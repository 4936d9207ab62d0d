// PTX ISA, "Data Movement and Conversion Instructions: cvt": between floating point and integers.

#include <halfgrad/emulator/ptx/instructions/conversions.h>

#include <limits>

namespace halfgrad::emulator {
namespace {

/// Values outside of the range are clamped to it. NaN becomes 0, but 1 << (bits - 1) from f64 and
/// for 64-bit results.
template <class Integer, bool NanIsZero>
Integer clamp_to_integer(double x) {
  using Limits = std::numeric_limits<Integer>;
  constexpr double kLowest = static_cast<double>(Limits::min());
  constexpr double kEnd = static_cast<double>(Limits::max() / 2 + 1) * 2;
  constexpr auto kNan =
      NanIsZero ? Integer{0} : static_cast<Integer>(modular(Integer{1}) << (kBits<Integer> - 1));
  const bool low = x < kLowest, high = x >= kEnd, number = x == x;
  const Integer inside = static_cast<Integer>(low || high || !number ? 0.0 : x);
  return !number ? kNan : low ? Limits::min() : high ? Limits::max() : inside;
}

template <class Reader, class Integer, Rounding R, bool Ftz>
struct ToInteger {
  Integer operator()(typename Reader::Bits x) const {
    constexpr bool nan_is_zero = sizeof(Integer) < 8 && !std::is_same_v<Reader, ReadDouble>;
    const double value = Reader::read(flush_if<Ftz>(x));
    return clamp_to_integer<Integer, nan_is_zero>(integral<R>(value));
  }
};

template <class Integer>
constexpr double sign_of_error(Integer exact, double rounded) {
  const Signed128 error = static_cast<Signed128>(exact) - static_cast<Signed128>(rounded);
  return error > 0 ? 1 : error < 0 ? -1 : 0;
}

/// An integer as double rounded to odd, so that rounding it again to fewer bits is exact.
template <class Integer>
double odd_double(Integer x) {
  const double rounded = static_cast<double>(x);
  return sizeof(Integer) < 8 ? rounded : to_odd(rounded, sign_of_error(x, rounded), 1);
}

template <Rounding R, class Integer>
double rounded_double(Integer x) {
  const double nearest = static_cast<double>(x);
  if (sizeof(Integer) < 8 || R == Rounding::nearest) return nearest;
  const double error = sign_of_error(x, nearest);
  const double infinity = std::numeric_limits<double>::infinity();
  const bool up = R == Rounding::up || (R == Rounding::zero && nearest < 0);
  if (up) return error > 0 ? std::nextafter(nearest, infinity) : nearest;
  return error < 0 ? std::nextafter(nearest, -infinity) : nearest;
}

/// Writes to f16, bf16 or f32. The nearest f32 of an integer is what C++ computes.
template <class Format, Rounding R, class Integer>
struct ToFormat {
  using Bits = std::conditional_t<Format::mantissa_bits == 23, std::uint32_t, std::uint16_t>;
  template <class Register>
  Bits operator()(Register x) const {
    const Integer value = static_cast<Integer>(x);
    if constexpr (std::is_same_v<Format, F32> && R == Rounding::nearest) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    } else {
      return static_cast<Bits>(narrow<Format, R>(odd_double(value)));
    }
  }
};

template <Rounding R, class Integer>
struct ToDouble {
  using Bits = double;
  template <class Register>
  double operator()(Register x) const {
    return rounded_double<R>(static_cast<Integer>(x));
  }
};

/// Calls f with the C++ type of a register that holds integers of the type Integer.
template <class Integer, class F>
Execute with_integer_register(Type held, F f) {
  if (bytes_of(held) == 8) return f(std::uint64_t{});
  if constexpr (sizeof(Integer) <= 4) {
    if (bytes_of(held) == 4) return f(std::uint32_t{});
  }
  if constexpr (sizeof(Integer) <= 2) {
    if (bytes_of(held) == 2) return f(std::uint16_t{});
  }
  return nullptr;
}

template <Rounding R, class Integer, class Register>
Execute from_integer(Type result) {
  switch (result) {
    case Type::f16:
      return &lanewise<ToFormat<F16, R, Integer>, std::uint16_t, Register>;
    case Type::bf16:
      return &lanewise<ToFormat<BF16, R, Integer>, std::uint16_t, Register>;
    case Type::f32:
      return &lanewise<ToFormat<F32, R, Integer>, std::uint32_t, Register>;
    case Type::f64:
      return &lanewise<ToDouble<R, Integer>, double, Register>;
    default:
      return nullptr;
  }
}

template <class Reader, class Integer, Rounding R>
Execute to_integer(Type held, bool ftz) {
  return with_integer_register<Integer>(held, [&]<class Register>(Register) -> Execute {
    using Bits = typename Reader::Bits;
    if constexpr (std::is_same_v<Reader, ReadSingle>) {
      if (ftz) return &lanewise<ToInteger<Reader, Integer, R, true>, Register, Bits>;
    }
    return &lanewise<ToInteger<Reader, Integer, R, false>, Register, Bits>;
  });
}

}  // namespace

void float_to_integer(Encoder& encoder, Type result, Type source) {
  only_modifiers(encoder, {"rni", "rzi", "rmi", "rpi", "ftz", "sat"});
  const Statement& statement = encoder.statement;
  if (!rounds_to_integer(statement)) encoder.unknown("expected .rni, .rzi, .rmi or .rpi");
  const Type held = integer_destination(encoder, 0, result);
  encoder.source(1, source);
  const auto select = [&]<class Reader, class Integer>(Reader, Integer) {
    return with_rounding(rounding_of(statement), [&](auto rounding) {
      return to_integer<Reader, Integer, rounding()>(held, statement.has("ftz"));
    });
  };
  execute_with(encoder, with_reader(source, [&]<class Reader>(Reader reader) {
                 return with_integer(result,
                                     [&]<class Integer>(Integer x) { return select(reader, x); });
               }));
}

void integer_to_float(Encoder& encoder, Type result, Type source) {
  only_modifiers(encoder, {"rn", "rz", "rm", "rp"});
  encoder.destination(0, result);
  const Type held = integer_source(encoder, 1, source);
  const auto select = [&]<class Integer>(Integer) {
    return with_rounding(rounding_of(encoder.statement), [&](auto rounding) {
      return with_integer_register<Integer>(held, [&]<class Register>(Register) {
        return from_integer<rounding(), Integer, Register>(result);
      });
    });
  };
  execute_with(encoder, with_integer(source, select));
}

}  // namespace halfgrad::emulator
