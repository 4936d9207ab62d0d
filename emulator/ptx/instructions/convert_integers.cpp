// PTX ISA, "Data Movement and Conversion Instructions: cvt": between integers. A register may be
// larger than the type: then the value is in its low bits, and a result is extended by its type's
// sign.

#include <halfgrad/emulator/ptx/instructions/conversions.h>

#include <algorithm>

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
template <class Narrow, class Result>
struct Extend {
  template <class T>
  Result operator()(T x) const {
    return static_cast<Result>(static_cast<Narrow>(x));
  }
};

/// Calls f with the C++ types of two registers.
template <class F>
Execute with_registers(Type result, Type source, F f) {
  const auto with_source = [&]<class Result>(Result to) -> Execute {
    switch (bytes_of(source)) {
      case 2:
        return f(to, std::uint16_t{});
      case 4:
        return f(to, std::uint32_t{});
      default:
        return f(to, std::uint64_t{});
    }
  };
  switch (bytes_of(result)) {
    case 2:
      return with_source(std::uint16_t{});
    case 4:
      return with_source(std::uint32_t{});
    default:
      return with_source(std::uint64_t{});
  }
}

/// An integer type by its facts.
struct Integer {
  std::uint8_t bits;
  bool is_signed;

  explicit Integer(Type type)
      : bits(static_cast<std::uint8_t>(8 * bytes_of(type))), is_signed(emulator::is_signed(type)) {}
  Signed128 lowest() const { return is_signed ? -(Signed128{1} << (bits - 1)) : 0; }
  Signed128 highest() const { return (Signed128{1} << (bits - is_signed)) - 1; }
  /// The low bits of x as a value of the type.
  Signed128 value(std::uint64_t x) const {
    const unsigned unused = 64 - bits;
    const auto extended = static_cast<std::int64_t>(x << unused) >> unused;
    return is_signed ? Signed128{extended} : Signed128{x << unused >> unused};
  }
};

/// .sat, and results narrower than their register but wider than the source.
struct IntegerForm {
  Integer result, source;
  bool saturated;
};

template <class Result, class Source>
void convert(Execution& execution, const Instruction& instruction) {
  const IntegerForm form = instruction.options<IntegerForm>();
  const Source* source = execution.lanes<Source>(instruction.source(0));
  Result* result = execution.lanes<Result>(instruction.operands[0]);
  const Signed128 lowest = form.result.lowest(), highest = form.result.highest();
  each_lane(execution.mask, [&](unsigned lane) {
    Signed128 value = form.source.value(source[lane]);
    if (form.saturated) value = std::clamp(value, lowest, highest);
    result[lane] = static_cast<Result>(form.result.value(static_cast<std::uint64_t>(value)));
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
  const auto extend = [&]<class Narrow>(Narrow) {
    return with_registers(to, from, []<class Result, class Source>(Result, Source) -> Execute {
      return &lanewise<Extend<Narrow, Result>, Result, Source>;
    });
  };
  const bool saturated = encoder.statement.has("sat");
  if (!saturated && plain) {
    return execute_with(encoder, with_integer(narrows ? result : source, extend));
  }
  encoder.instruction.set_options(IntegerForm{Integer(result), Integer(source), saturated});
  execute_with(encoder,
               with_registers(to, from, []<class Result, class Source>(Result, Source) -> Execute {
                 return &convert<Result, Source>;
               }));
}

}  // namespace halfgrad::emulator
