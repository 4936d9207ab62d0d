// PTX ISA, "Warp Level Matrix Instructions": mma.sync and wmma.mma.
//
// Model of a tensor core: products are exact, the sum of the k products and of C is a double in
// order of k, and one rounding to nearest gives D. A GPU's sum keeps fewer bits and truncates some
// of them; which, differs between architectures. f64 rounds as a chain of fma in order of k.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <halfgrad/emulator/ptx/instructions/matrix_product.h>
#include <halfgrad/emulator/ptx/instructions/matrix_values.h>
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

void count_flops(const Execution& execution, const Instruction& instruction, MatrixShape shape) {
  counters_of(execution, instruction).flops += 2ull * shape.m * shape.n * shape.k;
}

/// result[i][j] += sum over k of a[i][k] b[k][j]. N is a constant, so that the sums of a row stay
/// in vector registers.
template <unsigned N>
void add_columns(MatrixShape shape, const double* a, const double* b, double* result) {
  for (unsigned row = 0; row < shape.m; ++row) {
    double sums[N] = {};
    for (unsigned k = 0; k < shape.k; ++k) {
      const double factor = a[row * shape.k + k];
      for (unsigned j = 0; j < N; ++j) sums[j] += factor * b[k * N + j];
    }
    for (unsigned j = 0; j < N; ++j) result[row * N + j] += sums[j];
  }
}

void add_fma_chains(MatrixShape shape, const double* a, const double* b, double* result) {
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
  unpack_fragment(execution, fragments.a(), *product.layout_a, product.a, a);
  unpack_fragment(execution, fragments.b(), *product.layout_b, product.b, b);
  unpack_fragment(execution, fragments.c(), *product.layout_c, product.c, sum);
  add_product(product, a, b, sum);
  pack_fragment(execution, fragments.d(), *product.layout_d, product.d, sum);
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
void add_terms(const Product& product, const std::int32_t* a, const std::int32_t* b,
               std::int32_t* result) {
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
}

void execute_integer_product(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const auto& options = instruction.options<ProductOptions>();
  const Product& product = *options.product;
  const Fragments fragments{execution, instruction, options};
  alignas(64) std::int32_t a[kMostOperandElements], b[kMostOperandElements],
      result[kMostResultElements];
  unpack_fragment(execution, fragments.a(), *product.layout_a, product.a, a);
  unpack_fragment(execution, fragments.b(), *product.layout_b, product.b, b);
  unpack_fragment(execution, fragments.c(), *product.layout_c, product.c, result);
  add_product(product, a, b, result);
  pack_fragment(execution, fragments.d(), *product.layout_d, product.d, result);
  count_flops(execution, instruction, product.shape);
}

}  // namespace

void add_product(const Product& product, const double* a, const double* b, double* result) {
  if (product.a == Element::f64) return add_fma_chains(product.shape, a, b, result);
  if (product.shape.n == 8) return add_columns<8>(product.shape, a, b, result);
  if (product.shape.n == 16) return add_columns<16>(product.shape, a, b, result);
  add_columns<32>(product.shape, a, b, result);
}

void add_product(const Product& product, const std::int32_t* a, const std::int32_t* b,
                 std::int32_t* result) {
  if (product.a != Element::b1) return add_terms<Times>(product, a, b, result);
  if (product.exclusive_or) return add_terms<DifferentBits>(product, a, b, result);
  add_terms<CommonBits>(product, a, b, result);
}

Execute execute_of_product(const Product& product) {
  return is_integer(product.a) ? execute_integer_product : execute_float_product;
}

}  // namespace halfgrad::emulator
