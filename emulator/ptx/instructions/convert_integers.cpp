// PTX ISA, "Data Movement and Conversion Instructions: cvt": between integers. A register may be
// larger than the type: then the value is in its low bits, and a result is extended by its type's
// sign.

#include <halfgrad/emulator/ptx/instructions/conversions.h>

#include <limits>

namespace halfgrad::emulator {
namespace {

Type type_of_size(unsigned bytes) {
  return bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
}

Type held_type(const Encoder& encoder, unsigned i, Type type) {
  const unsigned held = encoder.register_bytes(encoder.statement.operands[i]);
  if (held == 0) return type_of_size(std::max(2u, bytes_of(type)));
  if (held < bytes_of(type) || held > 8) encoder.unknown("expected a register of another size");
  return type_of_size(held);
}

/// Keeps the low bits of a register as the type Narrow, and extends them.
template <class Narrow>
struct Extend {
  template <class Result>
  struct To {
    template <class T>
    Result operator()(T x) const {
      return static_cast<Result>(static_cast<Narrow>(x));
    }
  };
};

/// Any conversion: as the source's type, clamped if .sat, as the result's type.
template <class Result, class Source, bool Saturate>
struct Convert {
  template <class Register>
  struct To {
    template <class T>
    Register operator()(T x) const {
      const Signed128 value = static_cast<Source>(x);
      using Limits = std::numeric_limits<Result>;
      if (Saturate && value < Limits::min()) return static_cast<Register>(Limits::min());
      if (Saturate && value > Limits::max()) return static_cast<Register>(Limits::max());
      return static_cast<Register>(static_cast<Result>(value));
    }
  };
};

template <template <class> class F>
Execute between_registers(Type result, Type source) {
  return with_integer(result, [&]<class To>(To) -> Execute {
    return with_integer(source, [&]<class From>(From) -> Execute {
      if constexpr (sizeof(To) == 1 || sizeof(From) == 1) {
        return nullptr;  // no register has 8 bits
      } else {
        return &lanewise<F<To>, To, From>;
      }
    });
  });
}

}  // namespace

Type integer_source(Encoder& encoder, unsigned i, Type type) {
  const Type held = held_type(encoder, i, type);
  encoder.source(i, held);
  return held;
}

Type integer_destination(Encoder& encoder, unsigned i, Type type) {
  const Type held = held_type(encoder, i, type);
  encoder.destination(i, held);
  return held;
}

void integer_to_integer(Encoder& encoder, Type result, Type source) {
  only_modifiers(encoder, {"sat"});
  const Type to = integer_destination(encoder, 0, result);
  const Type from = integer_source(encoder, 1, source);
  const bool narrows = bytes_of(result) <= bytes_of(source);
  const bool plain = narrows || bytes_of(to) == bytes_of(result);
  if (!encoder.statement.has("sat") && plain) {
    return execute_with(encoder, with_integer(narrows ? result : source, [&]<class Narrow>(Narrow) {
                          return between_registers<Extend<Narrow>::template To>(to, from);
                        }));
  }
  execute_with(encoder, with_integer(result, [&]<class Result>(Result) {
                 return with_integer(source, [&]<class Source>(Source) {
                   return with_constant(encoder.statement.has("sat"), [&](auto saturated) {
                     using Conversion = Convert<Result, Source, saturated()>;
                     return between_registers<Conversion::template To>(to, from);
                   });
                 });
               }));
}

}  // namespace halfgrad::emulator
