#include <halfgrad/core/engines/sorting.h>

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/cuda/kernels/sort.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/math/philox.h>

namespace halfgrad::detail {
namespace {

template <std::size_t kBytes>
using bits_t = std::conditional_t<
    kBytes == 8, std::uint64_t,
    std::conditional_t<kBytes == 4, std::uint32_t,
                       std::conditional_t<kBytes == 2, std::uint16_t, std::uint8_t>>>;

// Maps x to an unsigned integer of the same order. The bits of positive floats are ordered like
// integers; those of negative floats in reverse, so they are inverted.
template <class T>
HG_HD bits_t<sizeof(T)> order_key(T x) {
  using Bits = bits_t<sizeof(T)>;
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  const auto bits = same_bits<Bits>(x);
  if constexpr (std::is_unsigned_v<T>) {  // also bool
    return bits;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Bits>(bits ^ kSign);
  } else {
    const auto value = static_cast<compute_t<T>>(x);
    if (value != value) return static_cast<Bits>(~Bits{0});
    if (value == 0) return kSign;
    return static_cast<Bits>((bits & kSign) != 0 ? ~bits : bits | kSign);
  }
}

template <class T>
struct KeyOf {
  const T* x;
  bool descending;

  HG_HD bits_t<sizeof(T)> operator()(std::int64_t i) const {
    const auto key = order_key(x[i]);
    return static_cast<decltype(key)>(descending ? ~key : key);
  }
};

template <class T>
void order_on_cpu(const KeyOf<T>& key_of, std::int64_t rows, std::int64_t n, std::int64_t count,
                  std::int64_t* out) {
  constexpr std::int64_t kGrain = 4 * 1024;
  parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / n), [&](auto begin, auto end) {
    // The index makes all pairs different, so any sort is stable.
    std::vector<std::pair<bits_t<sizeof(T)>, std::int64_t>> row(static_cast<std::size_t>(n));
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        row[static_cast<std::size_t>(i)] = {key_of(r * n + i), i};
      }
      std::nth_element(row.begin(), row.begin() + count, row.end());
      std::sort(row.begin(), row.begin() + count);
      for (std::int64_t i = 0; i < count; ++i) {
        out[r * count + i] = row[static_cast<std::size_t>(i)].second;
      }
    }
  });
}

template <class T>
struct WriteKeys {
  KeyOf<T> key_of;
  std::int64_t* keys;

  HG_HD void operator()(std::int64_t i) const { keys[i] = static_cast<std::int64_t>(key_of(i)); }
};

struct CountUp {
  std::int64_t* out;

  HG_HD void operator()(std::int64_t i) const { out[i] = i; }
};

struct RowOf {
  const std::int64_t* place;
  std::int64_t n;
  std::int64_t* row;

  HG_HD void operator()(std::int64_t i) const { row[i] = place[i] / n; }
};

struct FirstOfRow {
  const std::int64_t* place;
  std::int64_t n, count;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t row, std::int64_t i) const {
    out[row * count + i] = place[row * n + i] - row * n;
  }
};

// Sorts all elements by value, and then by row; the second sort is stable, so each row stays sorted
// by value.
template <class T>
void order_on_cuda(const char* op, const KeyOf<T>& key_of, std::int64_t n, const Array& out) {
  const std::int64_t rows = out.size(0), count = out.size(1), elements = rows * n;
  const Device device = out.device();
  const Array keys = Array::empty({elements}, DType::i64, device);
  auto* const key = keys.data_as<std::int64_t>();
  parallel_for_each(op, device, elements, WriteKeys<T>{key_of, key});
  const SortedKeys by_value = sort_keys_on_cuda(op, keys, 8 * sizeof(T));
  Array places = by_value.places;
  if (rows > 1) {
    parallel_for_each(op, device, elements, RowOf{places.data_as<std::int64_t>(), n, key});
    places = Array::empty({elements}, DType::i64, device);
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows - 1)));
    sort_pairs_on_cuda(op, keys, by_value.places, by_value.keys, places, bits);
  }
  parallel_for_each(
      op, device, rows, count,
      FirstOfRow{places.data_as<std::int64_t>(), n, count, out.data_as<std::int64_t>()});
}

}  // namespace

Array row_order(const char* op, const Array& x, std::int64_t count, bool descending) {
  const std::int64_t rows = x.size(0), n = x.size(1);
  Array out = Array::empty({rows, count}, DType::i64, x.device());
  if (out.numel() == 0) return out;
  visit(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const KeyOf<T> key_of{x.data_as<T>(), descending};
    x.device().is_cuda() ? order_on_cuda(op, key_of, n, out)
                         : order_on_cpu(key_of, rows, n, count, out.data_as<std::int64_t>());
  });
  return out;
}

SortedKeys sort_keys_on_cuda(const char* op, const Array& keys, int bits) {
  const auto like_keys = [&] { return Array::empty(keys.sizes(), DType::i64, keys.device()); };
  const Array places = like_keys();
  parallel_for_each(op, keys.device(), keys.numel(), CountUp{places.data_as<std::int64_t>()});
  SortedKeys sorted{like_keys(), like_keys()};
  sort_pairs_on_cuda(op, keys, places, sorted.keys, sorted.places, bits);
  return sorted;
}

}  // namespace halfgrad::detail
