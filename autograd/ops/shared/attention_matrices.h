#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/core/math/attention_weights.h>
#include <halfgrad/core/math/simd.h>
#include <halfgrad/core/numbers/convert.h>

/// Tiles of matrices in the compute type T, and their products, for attention on a CPU.
namespace halfgrad::detail {

/// The number of queries of a tile, and of keys: 64 x 64 float weights take half of a 32 KiB L1
/// cache.
inline constexpr std::int64_t kAttentionTile = 64;

/// A tile of rows, each padded with zeros to whole packs.
template <class T>
struct TileRows {
  explicit TileRows(std::int64_t columns)
      : width((columns + Pack<T>::size - 1) / Pack<T>::size * Pack<T>::size),
        data(static_cast<std::size_t>(kAttentionTile * width)) {}

  T* row(std::int64_t i) { return data.data() + i * width; }
  const T* row(std::int64_t i) const { return data.data() + i * width; }
  void clear() { data.assign(data.size(), T(0)); }

  std::int64_t width;
  std::vector<T> data;
};

/// Columns of a tile of rows: row j has element j of kAttentionTile rows, zeros after the last one.
template <class T>
struct TileColumns {
  explicit TileColumns(std::int64_t columns)
      : data(static_cast<std::size_t>(columns * kAttentionTile)) {}

  T* column(std::int64_t j) { return data.data() + j * kAttentionTile; }

  std::vector<T> data;
};

/// A batch of matrices [batch..., rows, columns] of any dtype and strides.
class MatrixBatch {
 public:
  explicit MatrixBatch(const Array& x) : x_(x) {}

  std::int64_t columns() const { return x_.size(-1); }

  /// Reads rows [first, first + count) of a matrix.
  template <class T>
  void read(std::int64_t batch, std::int64_t first, std::int64_t count, TileRows<T>& to) const {
    for (std::int64_t i = 0; i < count; ++i) {
      read_row(batch, first + i, 0, columns(), to.row(i));
    }
  }
  template <class T>
  void read(std::int64_t batch, std::int64_t first, std::int64_t count, TileColumns<T>& to) const {
    to.data.assign(to.data.size(), T(0));
    std::vector<T> row(static_cast<std::size_t>(columns()));
    for (std::int64_t i = 0; i < count; ++i) {
      read_row(batch, first + i, 0, columns(), row.data());
      for (std::int64_t j = 0; j < columns(); ++j) {
        to.column(j)[i] = row[static_cast<std::size_t>(j)];
      }
    }
  }

  /// Reads elements [column, column + count) of a row.
  template <class T>
  void read_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                T* to) const {
    if (count == 0) return;  // there may be no memory
    visit(x_.dtype(), [&](auto tag) {
      using S = typename decltype(tag)::type;
      const std::int64_t stride = x_.stride(-1);
      const S* const from =
          x_.data_as<const S>() + offset(batch) + row * x_.stride(-2) + column * stride;
      if constexpr (std::is_same_v<T, float> && std::is_same_v<compute_t<S>, float> &&
                    !std::is_same_v<S, float>) {
        if (stride == 1) return widen(from, to, count);
      }
      for (std::int64_t j = 0; j < count; ++j) to[j] = convert<T>(from[j * stride]);
    });
  }

  /// Writes rows of a contiguous batch.
  template <class T>
  void write(std::int64_t batch, std::int64_t first, std::int64_t count,
             const TileRows<T>& from) const {
    if (columns() == 0) return;
    visit(x_.dtype(), [&](auto tag) {
      using S = typename decltype(tag)::type;
      S* to = x_.data_as<S>() + (batch * x_.size(-2) + first) * columns();
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < columns(); ++j) *to++ = convert<S>(from.row(i)[j]);
      }
    });
  }

 private:
  std::int64_t offset(std::int64_t batch) const {
    std::int64_t offset = 0;
    for (int d = x_.ndim() - 3; d >= 0; --d) {
      offset += batch % x_.size(d) * x_.stride(d);
      batch /= x_.size(d);
    }
    return offset;
  }

  const Array& x_;
};

/// Whether a product skips hidden weights, which is_hidden() knows by their -0. In the products
/// q k^T and dy v^T the weights are elements of operands, where -0 is a value like others.
enum class Weights : std::uint8_t { all, seen };

/// out[c] += sum_j weights[j] rows[j][c], for kPacks packs of columns.
template <Weights kWeights, int kPacks, class T>
void add_weighted_columns(const T* weights, std::int64_t n, const T* rows, std::int64_t width,
                          T* out) {
  constexpr std::int64_t kSize = Pack<T>::size;
  Pack<T> sums[kPacks];
  for (int k = 0; k < kPacks; ++k) sums[k] = Pack<T>::load(out + k * kSize);
  for (std::int64_t j = 0; j < n; ++j) {
    if (kWeights == Weights::seen && is_hidden(weights[j])) continue;
    const Pack<T> weight(weights[j]);
    for (int k = 0; k < kPacks; ++k) {
      sums[k] = sums[k] + weight * Pack<T>::load(rows + j * width + k * kSize);
    }
  }
  for (int k = 0; k < kPacks; ++k) sums[k].store(out + k * kSize);
}

/// Adds sum_j weights[i][j] rows[j] to out[i], for m rows of n weights. rows[j] and out[i] have
/// `width` elements, which are whole packs. Hidden weights add nothing.
template <Weights kWeights, class T>
void add_weighted_rows(const T* weights, std::int64_t weights_width, std::int64_t m, std::int64_t n,
                       const T* rows, std::int64_t width, T* out) {
  constexpr int kPacks = 8;
  constexpr std::int64_t kSize = Pack<T>::size;
  if (n == 0) return;  // there may be no memory
  for (std::int64_t i = 0; i < m; ++i) {
    const T* const w = weights + i * weights_width;
    T* const to = out + i * width;
    std::int64_t c = 0;
    for (; c + kPacks * kSize <= width; c += kPacks * kSize) {
      add_weighted_columns<kWeights, kPacks>(w, n, rows + c, width, to + c);
    }
    for (; c < width; c += kSize) {
      add_weighted_columns<kWeights, 1>(w, n, rows + c, width, to + c);
    }
  }
}

}  // namespace halfgrad::detail
