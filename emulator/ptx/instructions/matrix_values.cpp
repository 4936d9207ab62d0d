#include <halfgrad/emulator/ptx/instructions/matrix_values.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>

namespace halfgrad::emulator {
namespace {

/// e4m3 has no infinity, and its NaN has all bits set but the sign.
double widen_e4m3(std::uint32_t x) {
  if ((x & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = static_cast<int>(x >> 3 & 15), fraction = static_cast<int>(x & 7);
  const double size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (x & 0x80) != 0 ? -size : size;
}

/// Calls f.operator()<Word, Bits>(value): value(x) is the value of the element with the bits x, and
/// a register of type Word holds elements of Bits bits.
template <class F>
void with_float(Element type, F f) {
  switch (type) {
    case Element::f16:
      return f.template operator()<std::uint32_t, 16>(
          [](std::uint32_t x) { return double{widen<F16>(x)}; });
    case Element::bf16:
      return f.template operator()<std::uint32_t, 16>(
          [](std::uint32_t x) { return double{widen<BF16>(x)}; });
    case Element::e4m3:
      return f.template operator()<std::uint32_t, 8>(widen_e4m3);
    case Element::e5m2:  // the upper byte of an f16
      return f.template operator()<std::uint32_t, 8>(
          [](std::uint32_t x) { return double{widen<F16>(x << 8)}; });
    case Element::tf32:
      return f.template operator()<std::uint32_t, 32>(
          [](std::uint32_t x) { return double{std::bit_cast<float>(x & ~0x1fffu)}; });
    case Element::f64:
      return f.template operator()<std::uint64_t, 64>(
          [](std::uint64_t x) { return std::bit_cast<double>(x); });
    default:
      return f.template operator()<std::uint32_t, 32>(
          [](std::uint32_t x) { return double{std::bit_cast<float>(x)}; });
  }
}

/// The same choice for types of integers: value(x) is a 32-bit integer.
template <class F>
void with_integer(Element type, F f) {
  switch (type) {
    case Element::s8:
      return f.template operator()<std::uint32_t, 8>(
          [](std::uint32_t x) { return std::int32_t{static_cast<std::int8_t>(x)}; });
    case Element::u8:
      return f.template operator()<std::uint32_t, 8>(
          [](std::uint32_t x) { return static_cast<std::int32_t>(x); });
    case Element::s4:
      return f.template operator()<std::uint32_t, 4>(
          [](std::uint32_t x) { return static_cast<std::int32_t>(x ^ 8u) - 8; });
    case Element::u4:
      return f.template operator()<std::uint32_t, 4>(
          [](std::uint32_t x) { return static_cast<std::int32_t>(x); });
    default:  // s32, and words of 32 elements of b1
      return f.template operator()<std::uint32_t, 32>(
          [](std::uint32_t x) { return static_cast<std::int32_t>(x); });
  }
}

template <class Word, unsigned Bits>
inline constexpr Word kElementMask = ~Word{0} >> (8 * sizeof(Word) - Bits);

template <class Word, unsigned Bits, class T, class F>
void unpack(const Execution& execution, const Offset* registers, const FragmentLayout& layout,
            T* matrix, F value) {
  const std::uint16_t* place = layout.row_major.data();
  for (unsigned i = 0; i < layout.registers; ++i) {
    const Word* words = execution.lanes<Word>(registers[i]);
    for (unsigned j = 0; j < layout.per_register; ++j, place += kWarpSize) {
      T values[kWarpSize];
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        values[lane] =
            value(static_cast<Word>(words[lane] >> (Bits * j) & kElementMask<Word, Bits>));
      }
      for (unsigned lane = 0; lane < kWarpSize; ++lane) matrix[place[lane]] = values[lane];
    }
  }
}

template <class Word, unsigned Bits, class T, class F>
void pack(const Execution& execution, const Offset* registers, const FragmentLayout& layout,
          const T* matrix, F bits) {
  const std::uint16_t* place = layout.row_major.data();
  for (unsigned i = 0; i < layout.registers; ++i) {
    Word words[kWarpSize] = {};
    for (unsigned j = 0; j < layout.per_register; ++j, place += kWarpSize) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        words[lane] |=
            static_cast<Word>(static_cast<Word>(bits(matrix[place[lane]])) << (Bits * j));
      }
    }
    write_lanes(execution.lanes<Word>(registers[i]), words, execution.mask);
  }
}

template <class Word, unsigned Bits, class T, class F>
void read(const std::byte* chunk, T* values, F value) {
  constexpr unsigned kPerWord = 8 * sizeof(Word) / Bits;
  Word words[kChunkBytes / sizeof(Word)];
  std::memcpy(words, chunk, kChunkBytes);
  for (const Word word : words) {
    for (unsigned j = 0; j < kPerWord; ++j) {
      *values++ = value(static_cast<Word>(word >> (Bits * j) & kElementMask<Word, Bits>));
    }
  }
}

}  // namespace

void unpack_fragment(const Execution& execution, const Offset* registers,
                     const FragmentLayout& layout, Element type, double* matrix) {
  with_float(type, [&]<class Word, unsigned Bits>(auto value) {
    unpack<Word, Bits>(execution, registers, layout, matrix, value);
  });
}

void unpack_fragment(const Execution& execution, const Offset* registers,
                     const FragmentLayout& layout, Element type, std::int32_t* matrix) {
  with_integer(type, [&]<class Word, unsigned Bits>(auto value) {
    unpack<Word, Bits>(execution, registers, layout, matrix, value);
  });
}

void pack_fragment(const Execution& execution, const Offset* registers,
                   const FragmentLayout& layout, Element type, const double* matrix) {
  if (type == Element::f16) {
    return pack<std::uint32_t, 16>(execution, registers, layout, matrix,
                                   [](double x) { return narrow<F16, Rounding::nearest>(x); });
  }
  if (type == Element::f64) {
    return pack<std::uint64_t, 64>(execution, registers, layout, matrix, [](double x) {
      return x != x ? 0x7fffffffffffffffull : std::bit_cast<std::uint64_t>(x);
    });
  }
  pack<std::uint32_t, 32>(execution, registers, layout, matrix, [](double x) {
    return x != x ? F32::nan : std::bit_cast<std::uint32_t>(static_cast<float>(x));
  });
}

void pack_fragment(const Execution& execution, const Offset* registers,
                   const FragmentLayout& layout, Element, const std::int32_t* matrix) {
  pack<std::uint32_t, 32>(execution, registers, layout, matrix,
                          [](std::int32_t x) { return static_cast<std::uint32_t>(x); });
}

void read_chunk(Element type, const std::byte* chunk, double* values) {
  with_float(
      type, [&]<class Word, unsigned Bits>(auto value) { read<Word, Bits>(chunk, values, value); });
}

void read_chunk(Element type, const std::byte* chunk, std::int32_t* values) {
  with_integer(
      type, [&]<class Word, unsigned Bits>(auto value) { read<Word, Bits>(chunk, values, value); });
}

}  // namespace halfgrad::emulator
