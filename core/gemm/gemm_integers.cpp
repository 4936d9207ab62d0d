// Matrix products of integers, which wrap on overflow. They are computed in unsigned words, whose
// overflow is defined to wrap. So every order of a sum gives the same result, and no word needs
// more bits than the result.

#include <halfgrad/core/gemm/gemm_integers.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

// Copies B to contiguous rows, so that the innermost loop reads contiguous memory.
template <class S, class Word>
void copy_rows(const MatrixView& b, Word* rows) {
  const auto* const in = static_cast<const S*>(b.data);
  parallel_for(
      0, b.rows, grain_of(b.cols, kCopiesPerChunk), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
          for (std::int64_t j = 0; j < b.cols; ++j) {
            rows[k * b.cols + j] = static_cast<Word>(in[k * b.row_stride + j * b.col_stride]);
          }
        }
      });
}

template <class S, class Word>
struct IntegerProduct {
  Word alpha, beta;
  const MatrixView& a;
  const Word* b;
  const MutableMatrixView& c;
  const S* bias;

  static constexpr std::int64_t kColumns = 256;  // their sums stay in the L1 cache

  void multiply_row(std::int64_t row) const {
    for (std::int64_t col = 0; col < c.cols; col += kColumns) {
      multiply_part(row, col, std::min(kColumns, c.cols - col));
    }
  }

 private:
  void multiply_part(std::int64_t row, std::int64_t col, std::int64_t columns) const {
    Word sums[kColumns] = {};
    const auto* const factors = static_cast<const S*>(a.data);
    for (std::int64_t k = 0; k < a.cols; ++k) {
      const auto factor = static_cast<Word>(factors[row * a.row_stride + k * a.col_stride]);
      const Word* const b_row = b + k * c.cols + col;
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += factor * b_row[j];
    }
    S* const out = static_cast<S*>(c.data) + row * c.row_stride + col * c.col_stride;
    for (std::int64_t j = 0; j < columns; ++j) {
      S& to = out[j * c.col_stride];
      Word value = alpha * sums[j];
      if (beta != 0) value += beta * static_cast<Word>(to);
      if (bias != nullptr) value += static_cast<Word>(bias[col + j]);
      to = static_cast<S>(value);
    }
  }
};

template <class S>
void multiply_stored_as(std::int64_t alpha, const MatrixView& a, const MatrixView& b,
                        std::int64_t beta, const MutableMatrixView& c, const RowBias& bias) {
  using Word = std::conditional_t<sizeof(S) == 8, std::uint64_t, std::uint32_t>;
  Scratch<Word> scratch(b.rows * b.cols);
  Word* const rows_of_b = scratch.take(b.rows * b.cols);
  copy_rows<S>(b, rows_of_b);
  const IntegerProduct<S, Word> product{
      static_cast<Word>(alpha),        static_cast<Word>(beta), a, rows_of_b, c,
      static_cast<const S*>(bias.data)};
  parallel_for(0, c.rows, grain_of(a.cols * c.cols, kMultiplyAddsPerChunk),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) product.multiply_row(row);
               });
}

}  // namespace

void multiply_integers(std::int64_t alpha, const MatrixView& a, const MatrixView& b,
                       std::int64_t beta, const MutableMatrixView& c, const RowBias& bias) {
  switch (c.dtype) {
    case DType::i64:
      return multiply_stored_as<std::int64_t>(alpha, a, b, beta, c, bias);
    case DType::i32:
      return multiply_stored_as<std::int32_t>(alpha, a, b, beta, c, bias);
    case DType::i16:
      return multiply_stored_as<std::int16_t>(alpha, a, b, beta, c, bias);
    case DType::i8:
      return multiply_stored_as<std::int8_t>(alpha, a, b, beta, c, bias);
    case DType::u8:
      return multiply_stored_as<std::uint8_t>(alpha, a, b, beta, c, bias);
    default:
      fail<std::logic_error>("multiply_integers", "expected an integer dtype, got {}", c.dtype);
  }
}

}  // namespace halfgrad::detail
