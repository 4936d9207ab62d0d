// PTX ISA, "Integer Arithmetic Instructions": mul mad mul24 mad24.

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

#include <algorithm>
#include <limits>

namespace halfgrad::emulator {
namespace {

struct Low {
  template <class T>
  static T product(T a, T b) {
    return static_cast<T>(modular(a) * modular(b));
  }
};

struct High {
  template <class T>
  static T product(T a, T b) {
    return static_cast<T>((Wider<T>{a} * b) >> kBits<T>);
  }
};

/// An operand of mul24: 24 bits, zero- or sign-extended.
constexpr std::int64_t of_24_bits(std::int32_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << 8) >> 8;
}
constexpr std::uint64_t of_24_bits(std::uint32_t x) { return x & 0xffffff; }

struct Low24 {
  template <class T>
  static T product(T a, T b) {
    return static_cast<T>(of_24_bits(a) * of_24_bits(b));
  }
};

/// Bits 47 to 16 of the product of 48 bits.
struct High24 {
  template <class T>
  static T product(T a, T b) {
    return static_cast<T>((of_24_bits(a) * of_24_bits(b)) >> 16);
  }
};

template <class Part>
struct MultiplyIntegers {
  template <class T>
  T operator()(T a, T b) const {
    return Part::product(a, b);
  }
};

template <class Part>
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(modular(Part::product(a, b)) + modular(c));
  }
};

template <class Part>
struct MultiplyAddSaturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    using Limits = std::numeric_limits<std::int32_t>;
    const std::int64_t sum = std::int64_t{Part::product(a, b)} + c;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()));
  }
};

struct MultiplyWide {
  template <class T>
  Wider<T> operator()(T a, T b) const {
    return static_cast<Wider<T>>(modular(Wider<T>{a}) * modular(Wider<T>{b}));
  }
};

struct MultiplyAddWide {
  template <class T>
  Wider<T> operator()(T a, T b, Wider<T> c) const {
    return static_cast<Wider<T>>(modular(Wider<T>{a}) * modular(Wider<T>{b}) + modular(c));
  }
};

template <class T>
Execute wide(bool add) {
  return add ? &lanewise<MultiplyAddWide, Wider<T>, T, T, Wider<T>>
             : &lanewise<MultiplyWide, Wider<T>, T, T>;
}

/// mul.wide and mad.wide: results of twice the size.
void widening(Encoder& encoder, Type type, bool add) {
  struct Form {
    Type result;
    Execute execute;
  };
  const auto form = [&]() -> Form {
    switch (type) {
      case Type::u16:
        return {Type::u32, wide<std::uint16_t>(add)};
      case Type::s16:
        return {Type::s32, wide<std::int16_t>(add)};
      case Type::u32:
        return {Type::u64, wide<std::uint32_t>(add)};
      case Type::s32:
        return {Type::s64, wide<std::int32_t>(add)};
      default:
        return {Type::none, nullptr};
    }
  }();
  execute_with(encoder, form.execute);
  if (add) {
    encoder.operands_of(form.result, {type, type, form.result});
  } else {
    encoder.operands_of(form.result, {type, type});
  }
}

template <class Part>
Execute whole(Type type, bool add, bool saturated) {
  if (saturated) {
    return add && type == Type::s32 ? uniform<MultiplyAddSaturated<Part>, std::int32_t, 3>()
                                    : nullptr;
  }
  return add ? for_integer<MultiplyAdd<Part>, 3>(type)
             : for_integer<MultiplyIntegers<Part>, 2>(type);
}

template <class Part>
Execute of_24(Type type, bool add, bool saturated) {
  if (type == Type::s32) {
    if (saturated) return uniform<MultiplyAddSaturated<Part>, std::int32_t, 3>();
    return add ? uniform<MultiplyAdd<Part>, std::int32_t, 3>()
               : uniform<MultiplyIntegers<Part>, std::int32_t, 2>();
  }
  if (type != Type::u32 || saturated) return nullptr;
  return add ? uniform<MultiplyAdd<Part>, std::uint32_t, 3>()
             : uniform<MultiplyIntegers<Part>, std::uint32_t, 2>();
}

}  // namespace

void integer_products(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  only_modifiers(encoder, {"lo", "hi", "wide", "sat"});
  const std::string_view opcode = statement.opcode;
  const bool add = opcode.substr(0, 3) == "mad", in_24_bits = opcode.size() == 5;
  const bool high = statement.has("hi"), saturated = statement.has("sat");
  const Type type = statement.type();
  if (statement.has("wide") && !in_24_bits && !saturated) return widening(encoder, type, add);
  if (high == statement.has("lo")) encoder.unknown("expected .lo, .hi or .wide");
  if (saturated && (!high || !add)) encoder.unknown("expected .sat only with mad.hi.s32");
  if (in_24_bits) {
    execute_with(encoder,
                 high ? of_24<High24>(type, add, saturated) : of_24<Low24>(type, add, saturated));
  } else {
    execute_with(encoder,
                 high ? whole<High>(type, add, saturated) : whole<Low>(type, add, saturated));
  }
  uniform_operands(encoder, type, add ? 3 : 2);
}

}  // namespace halfgrad::emulator
