#include <halfgrad/core/engines/sorting.h>

#include <algorithm>
#include <array>
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

constexpr std::int64_t kElementsPerChunk = 4 * 1024;

template <class T>
void order_on_cpu(const KeyOf<T>& key_of, std::int64_t rows, std::int64_t n, std::int64_t count,
                  std::int64_t* out) {
  // partial_sort() compares nearly every element with the largest of `count` only. It is faster
  // than nth_element() for a small part of the row, and much slower for a large one.
  constexpr std::int64_t kManyTimes = 64;
  const std::int64_t grain = std::max<std::int64_t>(1, kElementsPerChunk / n);
  parallel_for(0, rows, grain, [&](auto begin, auto end) {
    // The index makes all pairs different, so any sort is stable.
    std::vector<std::pair<bits_t<sizeof(T)>, std::int64_t>> row(static_cast<std::size_t>(n));
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        row[static_cast<std::size_t>(i)] = {key_of(r * n + i), i};
      }
      if (count < n / kManyTimes) {
        std::partial_sort(row.begin(), row.begin() + count, row.end());
      } else {
        std::nth_element(row.begin(), row.begin() + count, row.end());
        std::sort(row.begin(), row.begin() + count);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        out[r * count + i] = row[static_cast<std::size_t>(i)].second;
      }
    }
  });
}

// Writes the index of the element at place[r] in the sorted order of each row r.
template <class T>
void select_on_cpu(const KeyOf<T>& key_of, const Array& place, std::int64_t n, std::int64_t* out) {
  const auto* const places = place.data_as<std::int64_t>();
  const std::int64_t grain = std::max<std::int64_t>(1, kElementsPerChunk / n);
  parallel_for(0, place.numel(), grain, [&](auto begin, auto end) {
    std::vector<std::pair<bits_t<sizeof(T)>, std::int64_t>> row(static_cast<std::size_t>(n));
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        row[static_cast<std::size_t>(i)] = {key_of(r * n + i), i};
      }
      const auto selected = row.begin() + places[r];
      std::nth_element(row.begin(), selected, row.end());
      out[r] = selected->second;
    }
  });
}

// Counts the elements of the sorted `sequence` [rows, n] before values[i]; one row serves all
// values, or each row serves m neighbouring ones.
template <class T>
struct CountBefore {
  const T* sequence;
  const T* values;
  std::int64_t n, m;
  bool shared, right;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t i) const {
    const T* const row = shared ? sequence : sequence + i / m * n;
    const auto value = order_key(values[i]);
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const auto key = order_key(row[middle]);
      if (key < value || (right && key == value)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    out[i] = low;
  }
};

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

struct ElementOfRow {
  const std::int64_t* order;
  const std::int64_t* place;
  std::int64_t n;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t row) const { out[row] = order[row * n + place[row]]; }
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

Array row_selection(const char* op, const Array& x, const Array& place) {
  const std::int64_t rows = x.size(0), n = x.size(1);
  const Array out = Array::empty({rows, 1}, DType::i64, x.device());
  if (x.device().is_cuda()) {
    const Array order = row_order(op, x, n, false);
    parallel_for_each(op, x.device(), rows,
                      ElementOfRow{order.data_as<std::int64_t>(), place.data_as<std::int64_t>(), n,
                                   out.data_as<std::int64_t>()});
    return out;
  }
  visit(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    select_on_cpu(KeyOf<T>{x.data_as<T>(), false}, place, n, out.data_as<std::int64_t>());
  });
  return out;
}

Array count_before(const char* op, const Array& sequence, const Array& values, bool right) {
  const Array out = Array::empty(values.sizes(), DType::i64, values.device());
  expect_one_device(op, out, std::array{&sequence, &values});
  if (out.numel() == 0) return out;
  const std::int64_t n = sequence.size(-1), m = values.size(-1);
  visit(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for_each(op, values.device(), out.numel(),
                      CountBefore<T>{sequence.data_as<T>(), values.data_as<T>(), n, m,
                                     sequence.ndim() == 1, right, out.data_as<std::int64_t>()});
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
