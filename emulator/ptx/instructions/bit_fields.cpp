// PTX ISA, "Integer Arithmetic Instructions": popc clz bfind fns brev bfe bfi bmsk szext; and prmt
// of "Data Movement and Conversion Instructions".

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

#include <algorithm>
#include <bit>

namespace halfgrad::emulator {
namespace {

using Word = std::uint32_t;

/// n low bits set; all for n of the width or more.
template <class T>
constexpr T low_bits(Word n) {
  return n >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << n % kBits<T>)-1);
}

struct PopulationCount {
  template <class T>
  Word operator()(T a) const {
    return static_cast<Word>(std::popcount(a));
  }
};

struct LeadingZeros {
  template <class T>
  Word operator()(T a) const {
    return static_cast<Word>(std::countl_zero(a));
  }
};

/// Position of the highest bit that differs from the sign, all ones if none does. .shiftamt: how
/// far to shift left to bring it to the top.
template <bool ShiftAmount>
struct FindBit {
  template <class T>
  Word operator()(T a) const {
    using Unsigned = std::make_unsigned_t<T>;
    const Unsigned x = static_cast<Unsigned>(a < 0 ? ~a : a);
    const Word zeros = static_cast<Word>(std::countl_zero(x));
    return x == 0 ? ~Word{0} : ShiftAmount ? zeros : kBits<T> - 1 - zeros;
  }
};

struct Reverse {
  template <class T>
  T operator()(T x) const {
    constexpr T kOdd = static_cast<T>(0x5555555555555555),
                kPairs = static_cast<T>(0x3333333333333333);
    constexpr T kNibbles = static_cast<T>(0x0f0f0f0f0f0f0f0f);
    x = static_cast<T>((x >> 1 & kOdd) | (x & kOdd) << 1);
    x = static_cast<T>((x >> 2 & kPairs) | (x & kPairs) << 2);
    x = static_cast<T>((x >> 4 & kNibbles) | (x & kNibbles) << 4);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(x);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(x);
    return static_cast<T>(x >> 8 | x << 8);
  }
};

/// bfe: `length` bits from `position` on, extended by the field's highest bit if T is signed. Bits
/// above the operand are its sign.
struct Extract {
  template <class T>
  T operator()(T a, Word position, Word length) const {
    using Unsigned = std::make_unsigned_t<T>;
    const Word p = position & 0xff, n = length & 0xff, last = kBits<T> - 1;
    const Unsigned x = static_cast<Unsigned>(a);
    const bool negative =
        std::is_signed_v<T> && n != 0 && (x >> std::min(p + n - 1, last) & 1) != 0;
    const Unsigned shifted = p > last ? Unsigned{0} : static_cast<Unsigned>(x >> std::min(p, last));
    const Unsigned field = low_bits<Unsigned>(p > last ? 0 : std::min(n, last + 1 - p));
    return static_cast<T>((shifted & field) | (negative ? ~field : Unsigned{0}));
  }
};

/// bfi: b with `length` bits of a at `position`.
struct Insert {
  template <class T>
  T operator()(T a, T b, Word position, Word length) const {
    const Word p = position & 0xff, n = length & 0xff;
    const Word within = std::min(p, kBits<T> - 1);
    const T field = p < kBits<T> ? static_cast<T>(low_bits<T>(n) << within) : T{0};
    return (b & ~field) | (static_cast<T>(a << within) & field);
  }
};

/// bmsk: a mask of b bits from bit a on.
template <bool Wrap>
struct Mask {
  Word operator()(Word a, Word b) const {
    const Word position = Wrap ? a & 31 : a, n = Wrap ? b & 31 : b;
    return position < 32 ? low_bits<Word>(n) << (position & 31) : 0;
  }
};

/// szext: a as an integer of b bits, extended to 32.
template <bool Signed, bool Wrap>
struct Resize {
  Word operator()(Word a, Word b) const {
    const Word n = Wrap ? b & 31 : std::min(b, 32u);
    const Word field = low_bits<Word>(n);
    const bool negative = Signed && n != 0 && (a >> (n - 1) & 1) != 0;
    return (a & field) | (negative ? ~field : 0);
  }
};

/// fns: position of the n-th set bit from `base` up (n > 0) or down (n < 0); n = 0: of bit `base`.
struct FindNthSet {
  Word operator()(Word mask, Word base, std::int32_t n) const {
    const std::int64_t step = n < 0 ? -1 : 1;
    std::int64_t left = n == 0 ? 1 : n < 0 ? -std::int64_t{n} : n;
    const std::int64_t end = n == 0 ? std::int64_t{base} + 1 : n < 0 ? -1 : 32;
    for (std::int64_t bit = base; bit != end && bit < 32; bit += step) {
      if ((mask >> bit & 1) != 0 && --left == 0) return static_cast<Word>(bit);
    }
    return ~Word{0};
  }
};

enum class Permutation : std::uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };

/// Returns the index, 0 to 7, of the byte of b:a that byte `i` of the result copies. Adding 8 to
/// the index selects eight copies of that byte's sign bit instead.
template <Permutation P>
constexpr Word selected(Word control, Word i) {
  const Word n = control & 3;
  switch (P) {
    case Permutation::index:
      return control >> 4 * i & 15;
    case Permutation::f4e:
      return (n + i) & 7;
    case Permutation::b4e:
      return (n - i) & 7;
    case Permutation::rc8:
      return n;
    case Permutation::ecl:
      return std::max(n, i);
    case Permutation::ecr:
      return std::min(n, i);
    case Permutation::rc16:
      return (n & 1) * 2 + (i & 1);
  }
}

template <Permutation P>
struct Permute {
  Word operator()(Word a, Word b, Word control) const {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    Word result = 0;
    for (Word i = 0; i < 4; ++i) {
      const Word from = selected<P>(control, i);
      const Word byte = static_cast<Word>(bytes >> 8 * (from & 7)) & 0xff;
      const Word sign = (byte & 0x80) != 0 ? 0xff : 0;
      result |= ((from & 8) != 0 ? sign : byte) << 8 * i;
    }
    return result;
  }
};

Execute permutation(const Statement& statement) {
  if (statement.has("f4e")) return uniform<Permute<Permutation::f4e>, Word, 3>();
  if (statement.has("b4e")) return uniform<Permute<Permutation::b4e>, Word, 3>();
  if (statement.has("rc8")) return uniform<Permute<Permutation::rc8>, Word, 3>();
  if (statement.has("ecl")) return uniform<Permute<Permutation::ecl>, Word, 3>();
  if (statement.has("ecr")) return uniform<Permute<Permutation::ecr>, Word, 3>();
  if (statement.has("rc16")) return uniform<Permute<Permutation::rc16>, Word, 3>();
  return uniform<Permute<Permutation::index>, Word, 3>();
}

/// A word counted in an integer of 32 or 64 bits.
template <class F>
Execute counted(Type type) {
  switch (type) {
    case Type::b32:
    case Type::u32:
      return &lanewise<F, Word, std::uint32_t>;
    case Type::b64:
    case Type::u64:
      return &lanewise<F, Word, std::uint64_t>;
    default:
      return nullptr;
  }
}

template <class F>
Execute found(Type type) {
  switch (type) {
    case Type::s32:
      return &lanewise<F, Word, std::int32_t>;
    case Type::s64:
      return &lanewise<F, Word, std::int64_t>;
    case Type::b32:
    case Type::b64:
      return nullptr;
    default:
      return counted<F>(type);
  }
}

/// A formula with one or two values of the type, and two words.
template <class T>
Execute extract_from() {
  return &lanewise<Extract, T, T, Word, Word>;
}

Execute extraction(Type type) {
  switch (type) {
    case Type::u32:
      return extract_from<std::uint32_t>();
    case Type::s32:
      return extract_from<std::int32_t>();
    case Type::u64:
      return extract_from<std::uint64_t>();
    case Type::s64:
      return extract_from<std::int64_t>();
    default:
      return nullptr;
  }
}

void extract_or_insert(Encoder& encoder) {
  const Type type = encoder.statement.type();
  if (encoder.statement.opcode == "bfe") {
    execute_with(encoder, extraction(type));
    return encoder.operands_of(type, {type, Type::u32, Type::u32});
  }
  using Long = std::uint64_t;
  execute_with(encoder, bytes_of(type) == 4   ? &lanewise<Insert, Word, Word, Word, Word, Word>
                        : bytes_of(type) == 8 ? &lanewise<Insert, Long, Long, Long, Word, Word>
                                              : nullptr);
  encoder.operands_of(type, {type, type, Type::u32, Type::u32});
}

void mask_or_resize(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  const bool wrap = statement.has("wrap");
  if (wrap == statement.has("clamp")) encoder.unknown("expected .clamp or .wrap");
  uniform_operands(encoder, Type::b32, 2);
  execute_with(encoder, with_constant(wrap, [&](auto wraps) {
                 if (statement.opcode == "bmsk") return uniform<Mask<wraps()>, Word, 2>();
                 return with_constant(statement.type() == Type::s32, [&](auto is_signed) {
                   return uniform<Resize<is_signed(), wraps()>, Word, 2>();
                 });
               }));
}

}  // namespace

void bit_fields(Encoder& encoder) {
  only_modifiers(encoder, {"clamp", "wrap"});
  const std::string_view opcode = encoder.statement.opcode;
  if (opcode == "bfe" || opcode == "bfi") return extract_or_insert(encoder);
  if (opcode == "bmsk" || opcode == "szext") return mask_or_resize(encoder);
  encoder.operands_of(Type::b32, {Type::b32, Type::b32, Type::s32});
  execute_with(encoder, &lanewise<FindNthSet, Word, Word, Word, std::int32_t>);
}

void bit_counts(Encoder& encoder) {
  only_modifiers(encoder, {"shiftamt"});
  const Type type = encoder.statement.type();
  const std::string_view opcode = encoder.statement.opcode;
  if (opcode == "brev") {
    execute_with(encoder,
                 counted<PopulationCount>(type) == nullptr ? nullptr : for_bits<Reverse, 1>(type));
    return encoder.operands_of(type, {type});
  }
  encoder.operands_of(Type::u32, {type});
  if (opcode == "popc") return execute_with(encoder, counted<PopulationCount>(type));
  if (opcode == "clz") return execute_with(encoder, counted<LeadingZeros>(type));
  const bool amount = encoder.statement.has("shiftamt");
  execute_with(encoder, amount ? found<FindBit<true>>(type) : found<FindBit<false>>(type));
}

void byte_permutation(Encoder& encoder) {
  only_modifiers(encoder, {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  uniform_operands(encoder, Type::b32, 3);
  execute_with(encoder, permutation(encoder.statement));
}

}  // namespace halfgrad::emulator
