// PTX ISA, "Warp Level Matrix Instructions": mma.sync and wmma.mma.
//
// Model of a tensor core: products are exact, the sum of the k products and of C is a double in
// order of k, and one rounding to nearest gives D. A GPU's sum keeps fewer bits and truncates some
// of them; which, differs between architectures. f64 rounds as a chain of fma in order of k. tf32
// ignores the low 13 bits of its operands. Results that are NaN are the canonical NaN.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>
#include <halfgrad/emulator/ptx/instructions/matrix_product.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kMostOperandElements = 1024, kMostResultElements = 256;

struct Fragments {
  const Execution& execution;
  const Instruction& instruction;
  const ProductOptions& options;

  const Offset* d() const { return instruction.list.data(); }
  const Offset* a() const { return d() + options.d; }
  const Offset* b() const { return a() + options.a; }
  const Offset* c() const { return b() + options.b; }
};

/// Calls `value(bits)` for each element of a fragment and puts it into a row-major matrix. `Bits`
/// is the width of an element in a register of type Word.
template <class Word, unsigned Bits, class T, class F>
void unpack(const Execution& execution, const Offset* registers, const FragmentLayout& layout,
            T* matrix, F value) {
  constexpr Word kMask = ~Word{0} >> (8 * sizeof(Word) - Bits);
  const std::uint16_t* place = layout.row_major.data();
  for (unsigned i = 0; i < layout.registers; ++i) {
    const Word* words = execution.lanes<Word>(registers[i]);
    for (unsigned j = 0; j < layout.per_register; ++j, place += kWarpSize) {
      T values[kWarpSize];
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        values[lane] = value(static_cast<Word>(words[lane] >> (Bits * j) & kMask));
      }
      for (unsigned lane = 0; lane < kWarpSize; ++lane) matrix[place[lane]] = values[lane];
    }
  }
}

/// e4m3 has no infinity, and its NaN has all bits set but the sign.
double widen_e4m3(std::uint32_t x) {
  if ((x & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = static_cast<int>(x >> 3 & 15), fraction = static_cast<int>(x & 7);
  const double size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (x & 0x80) != 0 ? -size : size;
}

void unpack_floats(const Execution& execution, const Offset* registers,
                   const FragmentLayout& layout, Element type, double* matrix) {
  switch (type) {
    case Element::f16:
      return unpack<std::uint32_t, 16>(execution, registers, layout, matrix,
                                       [](std::uint32_t x) { return double{widen<F16>(x)}; });
    case Element::bf16:
      return unpack<std::uint32_t, 16>(execution, registers, layout, matrix,
                                       [](std::uint32_t x) { return double{widen<BF16>(x)}; });
    case Element::e4m3:
      return unpack<std::uint32_t, 8>(execution, registers, layout, matrix, widen_e4m3);
    case Element::e5m2:  // the upper byte of an f16
      return unpack<std::uint32_t, 8>(execution, registers, layout, matrix,
                                      [](std::uint32_t x) { return double{widen<F16>(x << 8)}; });
    case Element::tf32:
      return unpack<std::uint32_t, 32>(execution, registers, layout, matrix, [](std::uint32_t x) {
        return double{std::bit_cast<float>(x & ~0x1fffu)};
      });
    case Element::f64:
      return unpack<std::uint64_t, 64>(execution, registers, layout, matrix,
                                       [](std::uint64_t x) { return std::bit_cast<double>(x); });
    default:
      return unpack<std::uint32_t, 32>(execution, registers, layout, matrix, [](std::uint32_t x) {
        return double{std::bit_cast<float>(x)};
      });
  }
}

void unpack_integers(const Execution& execution, const Offset* registers,
                     const FragmentLayout& layout, Element type, std::int32_t* matrix) {
  switch (type) {
    case Element::s8:
      return unpack<std::uint32_t, 8>(execution, registers, layout, matrix, [](std::uint32_t x) {
        return std::int32_t{static_cast<std::int8_t>(x)};
      });
    case Element::u8:
      return unpack<std::uint32_t, 8>(execution, registers, layout, matrix,
                                      [](std::uint32_t x) { return static_cast<std::int32_t>(x); });
    case Element::s4:
      return unpack<std::uint32_t, 4>(execution, registers, layout, matrix, [](std::uint32_t x) {
        return static_cast<std::int32_t>(x ^ 8u) - 8;
      });
    case Element::u4:
      return unpack<std::uint32_t, 4>(execution, registers, layout, matrix,
                                      [](std::uint32_t x) { return static_cast<std::int32_t>(x); });
    default:  // s32, and words of 32 elements of b1
      return unpack<std::uint32_t, 32>(execution, registers, layout, matrix, [](std::uint32_t x) {
        return static_cast<std::int32_t>(x);
      });
  }
}

/// Writes the registers of D from a row-major matrix.
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

void pack_floats(const Execution& execution, const Offset* registers, const FragmentLayout& layout,
                 Element type, const double* matrix) {
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

void count_flops(const Execution& execution, const Instruction& instruction, MatrixShape shape) {
  counters_of(execution, instruction).flops += 2ull * shape.m * shape.n * shape.k;
}

/// result[i][j] += sum over k of a[i][k] b[k][j]. N is a constant, so that the sums of a row stay
/// in vector registers.
template <unsigned N>
void add_product(MatrixShape shape, const double* a, const double* b, double* result) {
  for (unsigned row = 0; row < shape.m; ++row) {
    double sums[N] = {};
    for (unsigned k = 0; k < shape.k; ++k) {
      const double factor = a[row * shape.k + k];
      for (unsigned j = 0; j < N; ++j) sums[j] += factor * b[k * N + j];
    }
    for (unsigned j = 0; j < N; ++j) result[row * N + j] += sums[j];
  }
}

void add_product_f64(MatrixShape shape, const double* a, const double* b, double* result) {
  for (unsigned row = 0; row < shape.m; ++row) {
    for (unsigned j = 0; j < shape.n; ++j) {
      double& sum = result[row * shape.n + j];
      for (unsigned k = 0; k < shape.k; ++k) {
        sum = std::fma(a[row * shape.k + k], b[k * shape.n + j], sum);
      }
    }
  }
}

void execute_float_product(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const auto& options = instruction.options<ProductOptions>();
  const Product& product = *options.product;
  const Fragments fragments{execution, instruction, options};
  alignas(64) double a[kMostOperandElements], b[kMostOperandElements], sum[kMostResultElements];
  unpack_floats(execution, fragments.a(), *product.layout_a, product.a, a);
  unpack_floats(execution, fragments.b(), *product.layout_b, product.b, b);
  unpack_floats(execution, fragments.c(), *product.layout_c, product.c, sum);
  if (product.a == Element::f64) {
    add_product_f64(product.shape, a, b, sum);
  } else if (product.shape.n == 8) {
    add_product<8>(product.shape, a, b, sum);
  } else if (product.shape.n == 16) {
    add_product<16>(product.shape, a, b, sum);
  } else {
    add_product<32>(product.shape, a, b, sum);
  }
  pack_floats(execution, fragments.d(), *product.layout_d, product.d, sum);
  count_flops(execution, instruction, product.shape);
}

/// C plus a sum that fits 32 bits: it wraps, or stops at the ends of the range with .satfinite.
std::int32_t add_integers(std::int32_t c, std::int32_t sum, bool saturate) {
  if (!saturate) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(c) +
                                     static_cast<std::uint32_t>(sum));
  }
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(std::int64_t{c} + sum, Limits::min(), Limits::max()));
}

/// Terms that an integer product adds up: the product of two integers, or for b1 matrices the count
/// of bits set in `a & b` or `a ^ b`, where a and b are words of 32 elements.
struct Times {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a * b; }
};
struct CommonBits {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return std::popcount(static_cast<std::uint32_t>(a & b));
  }
};
struct DifferentBits {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return std::popcount(static_cast<std::uint32_t>(a ^ b));
  }
};

template <class Term>
void execute_integer_product(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const auto& options = instruction.options<ProductOptions>();
  const Product& product = *options.product;
  const Fragments fragments{execution, instruction, options};
  alignas(64) std::int32_t a[kMostOperandElements], b[kMostOperandElements],
      result[kMostResultElements];
  unpack_integers(execution, fragments.a(), *product.layout_a, product.a, a);
  unpack_integers(execution, fragments.b(), *product.layout_b, product.b, b);
  unpack_integers(execution, fragments.c(), *product.layout_c, product.c, result);
  const unsigned columns = product.shape.n, depth = product.layout_a->columns;
  for (unsigned row = 0; row < product.shape.m; ++row) {
    std::int32_t sums[32] = {};
    for (unsigned k = 0; k < depth; ++k) {
      const std::int32_t factor = a[row * depth + k];
      for (unsigned j = 0; j < columns; ++j) sums[j] += Term{}(factor, b[k * columns + j]);
    }
    for (unsigned j = 0; j < columns; ++j) {
      std::int32_t& one = result[row * columns + j];
      one = add_integers(one, sums[j], product.saturate);
    }
  }
  pack<std::uint32_t, 32>(execution, fragments.d(), *product.layout_d, result,
                          [](std::int32_t x) { return static_cast<std::uint32_t>(x); });
  count_flops(execution, instruction, product.shape);
}

}  // namespace

Execute execute_of_product(const Product& product) {
  switch (product.a) {
    case Element::b1:
      return product.exclusive_or ? execute_integer_product<DifferentBits>
                                  : execute_integer_product<CommonBits>;
    case Element::s8:
    case Element::u8:
    case Element::s4:
    case Element::u4:
      return execute_integer_product<Times>;
    default:
      return execute_float_product;
  }
}

}  // namespace halfgrad::emulator
