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
  template <class Register>
  struct To {
    Register operator()(typename Reader::Bits x) const {
      constexpr bool nan_is_zero =
          sizeof(Integer) < 8 && !std::is_same_v<typename Reader::Bits, double>;
      double value = 0;
      if constexpr (Ftz && std::is_same_v<Reader, ReadSingle>) {
        value = flush(x);
      } else {
        value = Reader::read(x);
      }
      return static_cast<Register>(clamp_to_integer<Integer, nan_is_zero>(integral<R>(value)));
    }
  };
};

template <template <class> class F, class Bits>
Execute into_register(Type held) {
  switch (bytes_of(held)) {
    case 2:
      return &lanewise<F<std::uint16_t>, std::uint16_t, Bits>;
    case 4:
      return &lanewise<F<std::uint32_t>, std::uint32_t, Bits>;
    default:
      return &lanewise<F<std::uint64_t>, std::uint64_t, Bits>;
  }
}

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
template <class Format, Rounding R, class Integer, bool Saturate>
struct ToFormat {
  using Bits = std::conditional_t<Format::mantissa_bits == 23, std::uint32_t, std::uint16_t>;
  template <class Register>
  Bits operator()(Register x) const {
    const Integer value = static_cast<Integer>(x);
    if constexpr (std::is_same_v<Format, F32> && R == Rounding::nearest && !Saturate) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    } else {
      const double odd = odd_double(value);
      return static_cast<Bits>(narrow<Format, R>(Saturate ? saturate(odd) : odd));
    }
  }
};

template <Rounding R, class Integer, bool Saturate>
struct ToDouble {
  using Bits = double;
  template <class Register>
  double operator()(Register x) const {
    const double value = rounded_double<R>(static_cast<Integer>(x));
    return Saturate ? saturate(value) : value;
  }
};

template <class F>
Execute from_register(Type held) {
  switch (bytes_of(held)) {
    case 2:
      return &lanewise<F, typename F::Bits, std::uint16_t>;
    case 4:
      return &lanewise<F, typename F::Bits, std::uint32_t>;
    default:
      return &lanewise<F, typename F::Bits, std::uint64_t>;
  }
}

template <Rounding R, class Integer, bool Saturate>
Execute from_integer(Type result, Type held) {
  switch (result) {
    case Type::f16:
      return from_register<ToFormat<F16, R, Integer, Saturate>>(held);
    case Type::bf16:
      return from_register<ToFormat<BF16, R, Integer, Saturate>>(held);
    case Type::f32:
      return from_register<ToFormat<F32, R, Integer, Saturate>>(held);
    case Type::f64:
      return from_register<ToDouble<R, Integer, Saturate>>(held);
    default:
      return nullptr;
  }
}

}  // namespace

void float_to_integer(Encoder& encoder, Type result, Type source) {
  only_modifiers(encoder, {"rni", "rzi", "rmi", "rpi", "ftz", "sat"});
  if (!rounds_to_integer(encoder.statement)) encoder.unknown("expected .rni, .rzi, .rmi or .rpi");
  const Type held = integer_destination(encoder, 0, result);
  encoder.source(1, source);
  execute_with(encoder, with_reader(source, [&]<class Reader>(Reader) {
                 return with_integer(result, [&]<class Integer>(Integer) {
                   return with_rounding(rounding_of(encoder.statement), [&](auto rounding) {
                     return with_constant(encoder.statement.has("ftz"), [&](auto ftz) {
                       using Conversion = ToInteger<Reader, Integer, rounding(), ftz()>;
                       return into_register<Conversion::template To, typename Reader::Bits>(held);
                     });
                   });
                 });
               }));
}

void integer_to_float(Encoder& encoder, Type result, Type source) {
  only_modifiers(encoder, {"rn", "rz", "rm", "rp", "sat"});
  encoder.destination(0, result);
  const Type held = integer_source(encoder, 1, source);
  execute_with(encoder, with_integer(source, [&]<class Integer>(Integer) {
                 return with_rounding(rounding_of(encoder.statement), [&](auto rounding) {
                   return with_constant(encoder.statement.has("sat"), [&](auto saturated) {
                     return from_integer<rounding(), Integer, saturated()>(result, held);
                   });
                 });
               }));
}

}  // namespace halfgrad::emulator
