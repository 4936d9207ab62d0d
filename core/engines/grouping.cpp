#include <halfgrad/core/engines/grouping.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/engines/sorting.h>
#include <halfgrad/core/numbers/convert.h>

namespace halfgrad::detail {
namespace {

// starts[g] = the number of sorted values below g
struct LowerBound {
  const std::int64_t* sorted;
  std::int64_t n;
  std::int64_t* starts;

  HG_HD void operator()(std::int64_t g) const {
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (sorted[middle] < g) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    starts[g] = low;
  }
};

Grouping by_counting(const Array& group, std::int64_t groups) {
  const Device device = group.device();
  Grouping result{Array::empty({group.numel()}, DType::i64, device),
                  Array::empty({groups + 1}, DType::i64, device)};
  const auto* const of = group.data_as<std::int64_t>();
  auto* const starts = result.starts.data_as<std::int64_t>();
  auto* const order = result.order.data_as<std::int64_t>();
  const std::int64_t n = group.numel();
  std::fill_n(starts, groups + 1, std::int64_t{0});
  for (std::int64_t i = 0; i < n; ++i) ++starts[of[i]];
  // starts[g] is the end of group g here; placing the items from last to first lowers it to the
  // start.
  for (std::int64_t g = 1; g <= groups; ++g) starts[g] += starts[g - 1];
  for (std::int64_t i = n - 1; i >= 0; --i) order[--starts[of[i]]] = i;
  return result;
}

Grouping by_sorting(const char* op, const Array& group, std::int64_t groups) {
  const Device device = group.device();
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(groups)));
  const SortedKeys sorted = sort_keys_on_cuda(op, group, bits);
  Grouping result{sorted.places, Array::empty({groups + 1}, DType::i64, device)};
  parallel_for_each(op, device, groups + 1,
                    LowerBound{sorted.keys.data_as<std::int64_t>(), group.numel(),
                               result.starts.data_as<std::int64_t>()});
  return result;
}

// Sums kWidth neighbouring columns at once: one per thread on a GPU; several SIMD registers on the
// CPU, which would otherwise pass over the items once per column.
template <class T, int kWidth>
struct SumOfGroup {
  T* sums;
  const T* initial;
  const T* items;
  const std::int64_t* order;
  const std::int64_t* starts;
  std::int64_t count, groups, inner, skipped;

  // Row r of sums is group r % groups of slab r / groups.
  HG_HD void operator()(std::int64_t row, std::int64_t block) const {
    using Sum = compute_t<T>;
    const std::int64_t slab = row / groups, group = row - slab * groups;
    const std::int64_t first = block * kWidth;
    const int width = inner - first < kWidth ? static_cast<int>(inner - first) : kWidth;
    T* const out = sums + row * inner + first;
    Sum sum[kWidth] = {};
    if (initial != nullptr) {
      const T* const from = initial + row * inner + first;
      for (int c = 0; c < width; ++c) sum[c] = convert<Sum>(from[c]);
    }
    if (group != skipped) {
      for (std::int64_t k = starts[group]; k < starts[group + 1]; ++k) {
        const T* const item = items + (slab * count + order[k]) * inner + first;
        for (int c = 0; c < width; ++c) sum[c] += convert<Sum>(item[c]);
      }
    }
    for (int c = 0; c < width; ++c) out[c] = convert<T>(sum[c]);
  }
};

// Adds items[o, j, :] to sums[o, group[j], :] in the order of j. A thread adds whole columns.
template <class T>
void add_items(T* sums, const T* items, const std::int64_t* group, std::int64_t count,
               std::int64_t groups, std::int64_t outer, std::int64_t inner) {
  constexpr std::int64_t kColumns = 256, kElementsPerChunk = 32 * 1024;
  const std::int64_t blocks = (inner + kColumns - 1) / kColumns;
  const std::int64_t block_elements = std::max<std::int64_t>(1, count * std::min(inner, kColumns));
  const std::int64_t grain = std::max<std::int64_t>(1, kElementsPerChunk / block_elements);
  parallel_for(0, outer * blocks, grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t slab = i / blocks, first = i % blocks * kColumns;
      const std::int64_t width = std::min(kColumns, inner - first);
      T* const out = sums + slab * groups * inner + first;
      const T* const in = items + slab * count * inner + first;
      for (std::int64_t j = 0; j < count; ++j) {
        for (std::int64_t c = 0; c < width; ++c) out[group[j] * inner + c] += in[j * inner + c];
      }
    }
  });
}

}  // namespace

Grouping group_by(const char* op, const Array& group, std::int64_t groups) {
  return group.device().is_cuda() ? by_sorting(op, group, groups) : by_counting(group, groups);
}

void sum_groups(const char* op, const Array& sums, const Array& initial, const Array& items,
                const Grouping& grouping, std::int64_t outer, std::int64_t inner,
                std::int64_t skipped) {
  const std::int64_t groups = grouping.starts.numel() - 1;
  const auto run = [&]<class T, int kWidth>() {
    const SumOfGroup<T, kWidth> sum{sums.data_as<T>(),
                                    initial.defined() ? initial.data_as<T>() : nullptr,
                                    items.data_as<T>(),
                                    grouping.order.data_as<std::int64_t>(),
                                    grouping.starts.data_as<std::int64_t>(),
                                    grouping.order.numel(),
                                    groups,
                                    inner,
                                    skipped};
    const std::int64_t blocks = (inner + kWidth - 1) / kWidth;
    const std::int64_t items_a_group = sum.count / std::max<std::int64_t>(1, groups);
    parallel_for_each(op, sums.device(), outer * groups, blocks, sum, kWidth * (1 + items_a_group));
  };
  visit(sums.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    sums.device().is_cuda() ? run.template operator()<T, 1>() : run.template operator()<T, 32>();
  });
}

void sum_by_group(const char* op, const Array& sums, const Array& initial, const Array& items,
                  const Array& group, std::int64_t groups, std::int64_t outer, std::int64_t inner) {
  const bool added = visit(sums.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, compute_t<T>>) {
      if (sums.device().is_cuda()) return false;
      sums.copy_(initial);
      add_items(sums.data_as<T>(), items.data_as<T>(), group.data_as<std::int64_t>(), group.numel(),
                groups, outer, inner);
      return true;
    } else {
      return false;
    }
  });
  if (added) return;
  sum_groups(op, sums, initial.contiguous(), items, group_by(op, group, groups), outer, inner);
}

}  // namespace halfgrad::detail
