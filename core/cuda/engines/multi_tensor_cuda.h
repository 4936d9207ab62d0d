#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/engines/pack_view.h>
#include <halfgrad/core/cuda/engines/stored_pack.h>
#include <halfgrad/core/engines/multi_tensor.h>

/// The engine for lists of tensors on a GPU. The list is a kernel parameter, of at most 32764
/// bytes: about 200 tensors a launch for Adam. So nothing is uploaded or waited for, and a captured
/// graph has its own copy. Each block takes a chunk of one tensor. The engine is bounded by memory,
/// with 128-bit accesses if all operands of a tensor are contiguous and aligned.
namespace halfgrad::detail {

/// A contiguous operand of 16-bit or 32-bit elements, or one repeated element. It is smaller than a
/// PackView, so a table has more entries.
struct DenseView {
  static constexpr int kElements = kPerThread;

  std::byte* data;
  DType dtype;
  bool repeated;

  explicit DenseView(const PackView& view)
      : data(view.data), dtype(view.dtype), repeated(view.packs == PackView::Packs::repeated) {}
  static bool fits(const PackView& view) { return view.can_load() && view.dims == 1; }

  /// Issues the loads of a pack of `count` elements. load() then waits for no other loads.
  __device__ void fetch(std::int64_t at, int count, StoredPack& pack) const {
    if (!repeated && count == kElements) pack.load(data, dtype, at);
  }
  __device__ void load(std::int64_t at, int count, const StoredPack& fetched,
                       float (&x)[kElements]) const {
    if (repeated) return load_repeated(data, dtype, 0, x);
    if (count == kElements) return fetched.widen(dtype, x);
    load_packed(data, dtype, at, count, x);
  }
  __device__ void load(std::int64_t at, int count, float (&x)[kElements]) const {
    StoredPack pack;
    fetch(at, count, pack);
    load(at, count, pack, x);
  }
  __device__ void store(std::int64_t at, int count, const float (&x)[kElements]) const {
    store_packed(data, dtype, at, count, x);
  }
};

inline constexpr int kUpdateThreads = 256;
inline constexpr std::int64_t kUpdateChunk = 4096;
/// One pack a thread, for lists so short that all their blocks are at work at once on an H100: 2 on
/// each of its 132 multiprocessors, with Adam's registers.
inline constexpr std::int64_t kShortChunk = kUpdateThreads * kPerThread;
inline constexpr std::int64_t kShortList = std::int64_t{2} * 132 * kShortChunk;

/// One tensor of a table. `first_block` is the block that takes its first chunk.
template <class View, class Update, std::size_t N>
struct UpdateEntry {
  Update update;
  std::array<View, N> operands;
  std::int64_t n;
  unsigned first_block;

  /// The range of elements that `block` takes, of those that take `chunk` each.
  __device__ std::int64_t begin(unsigned block, std::int64_t chunk = kUpdateChunk) const {
    return (block - first_block) * chunk;
  }
  __device__ std::int64_t end(unsigned block, std::int64_t chunk = kUpdateChunk) const {
    return std::min(n, begin(block, chunk) + chunk);
  }
};

/// A list of tensors as a kernel parameter. A block finds the tensor of its chunk by a binary
/// search of `first_blocks_`.
template <class View, class Update, std::size_t N>
class UpdateTable {
 public:
  using Entry = UpdateEntry<View, Update, N>;
  static constexpr std::size_t kCapacity = 32 * 1000 / (sizeof(Entry) + sizeof(unsigned));
  static_assert(kCapacity > 0);

  explicit UpdateTable(const float* skip, std::int64_t chunk = kUpdateChunk)
      : skip_(skip), chunk_(chunk) {}

  bool full() const { return count_ == kCapacity; }
  unsigned size() const { return count_; }
  HG_HD unsigned blocks() const { return blocks_; }
  void clear() { count_ = blocks_ = 0; }
  void add(const Update& update, const std::array<View, N>& operands, std::int64_t n) {
    ::new (entries_ + count_ * sizeof(Entry)) Entry{update, operands, n, blocks_};
    first_blocks_[count_] = blocks_;
    ++count_;
    blocks_ += blocks_for(n, chunk_);
  }

  __device__ std::int64_t chunk() const { return chunk_; }
  __device__ bool skipped() const { return skip_ != nullptr && *skip_ != 0; }
  __device__ const Entry& entry(unsigned index) const {
    return reinterpret_cast<const Entry*>(entries_)[index];
  }
  /// Returns the entry whose chunk `block` takes.
  __device__ const Entry& entry_of(unsigned block) const {
    unsigned low = 0;
    for (unsigned high = count_; high - low > 1;) {
      const unsigned middle = (low + high) / 2;
      (first_blocks_[middle] <= block ? low : high) = middle;
    }
    return entry(low);
  }

 private:
  alignas(Entry) std::byte entries_[kCapacity * sizeof(Entry)];
  unsigned first_blocks_[kCapacity];  // UpdateEntry::first_block, adjacent for few cache misses
  const float* skip_;
  std::int64_t chunk_;
  unsigned count_ = 0;
  unsigned blocks_ = 0;
};

/// Returns the formula of `update`. One thread of the block makes it, since pow is slow.
template <class Update>
__device__ auto make_formula(const Update& update) {
  using Formula = decltype(update.make());
  __shared__ alignas(Formula) std::byte storage[sizeof(Formula)];
  if (threadIdx.x == 0) ::new (storage) Formula(update.make());
  __syncthreads();
  return *reinterpret_cast<const Formula*>(storage);
}

/// The elements of all operands that a thread takes at a time.
template <class T, class Formula, class View, std::size_t N>
class UpdatedElements {
 public:
  __device__ explicit UpdatedElements(const std::array<View, N>& operands) : operands_(operands) {}

  /// Issues the loads of the elements that start at `at` and are below `end`.
  __device__ void fetch(std::int64_t at, std::int64_t end) {
    at_ = at;
    count_ = pack_count(at, end);
    if constexpr (kFetches) each([&](auto i) { operands_[i].fetch(at_, count_, fetched_[i]); });
  }
  __device__ void update(const Formula& formula) const {
    update(formula, std::make_index_sequence<N>());
  }

 private:
  static constexpr bool kFetches = View::kElements == kPerThread;

  // Calls f with the index of every operand that the formula reads.
  template <class F>
  __device__ static void each(const F& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((reads_operand<Formula>(I) ? f(std::integral_constant<std::size_t, I>()) : void()), ...);
    }
    (std::make_index_sequence<N>());
  }

  template <std::size_t... I>
  __device__ void update(const Formula& formula, std::index_sequence<I...>) const {
    T x[N][View::kElements];
    each([&](auto i) {
      if constexpr (kFetches) {
        operands_[i].load(at_, count_, fetched_[i], x[i]);
      } else {
        operands_[i].load(at_, count_, x[i]);
      }
    });
#pragma unroll
    for (int k = 0; k < View::kElements; ++k) {
      if (k < count_) formula(x[I][k]...);
    }
    ((Formula::kWrites >> I & 1U ? operands_[I].store(at_, count_, x[I]) : void()), ...);
  }

  const std::array<View, N>& operands_;
  std::int64_t at_;
  int count_;
  StoredPack fetched_[N];
};

// The first elements are on their way while one thread of the block makes the formula.
template <class T, class View, class Update, std::size_t N>
__global__ void __launch_bounds__(kUpdateThreads)
    update_tensors(const __grid_constant__ UpdateTable<View, Update, N> table) {
  const auto& entry = table.entry_of(blockIdx.x);
  using Formula = decltype(entry.update.make());
  const std::int64_t end = entry.end(blockIdx.x, table.chunk());
  std::int64_t at = entry.begin(blockIdx.x, table.chunk()) + threadIdx.x * View::kElements;
  UpdatedElements<T, Formula, View, N> elements(entry.operands);
  if (at < end) elements.fetch(at, end);
  if (table.skipped()) return;
  const auto formula = make_formula(entry.update);
  while (at < end) {
    elements.update(formula);
    at += kUpdateThreads * View::kElements;
    if (at < end) elements.fetch(at, end);
  }
}

/// Collects updates of one kind, and calls run(launch, table) for each full table.
template <class T, class View, class Update, std::size_t N, class Run>
class UpdateQueue {
 public:
  UpdateQueue(const float* skip, std::int64_t chunk, const Run& run)
      : table_(skip, chunk), run_(run) {}

  void add(const Array& first, const Update& update, const std::array<View, N>& operands) {
    if (table_.full() || first.device() != device_) flush();
    device_ = first.device();
    table_.add(update, operands, first.numel());
  }
  void flush() {
    if (table_.size() == 0) return;
    const Launch launch(device_, name_of<Update>("multi_tensor"), {table_.size()});
    run_.template operator()<T>(launch, table_);
    table_.clear();
  }

 private:
  UpdateTable<View, Update, N> table_;
  const Run& run_;
  Device device_;
};

/// Sorts the updates into tables by compute type and by the views that their operands allow. A
/// block takes a chunk of `chunk` elements.
template <class Update, std::size_t N, class Run>
void run_in_tables(const std::vector<TensorUpdate<Update, N>>& updates, const float* skip,
                   std::int64_t chunk, const Run& run) {
  UpdateQueue<float, DenseView, Update, N, Run> dense(skip, chunk, run);
  UpdateQueue<float, SingleView, Update, N, Run> strided(skip, chunk, run);
  UpdateQueue<double, SingleView, Update, N, Run> in_double(skip, chunk, run);
  const auto add = [&]<std::size_t... I>(const TensorUpdate<Update, N>& tensor,
                                         std::index_sequence<I...>) {
    const Array& first = *tensor.operands[0];
    const std::array<PackView, N> views{PackView(*tensor.operands[I], first.sizes())...};
    const std::array<SingleView, N> elements{SingleView{views[I]}...};
    if (first.dtype() == DType::f64) {
      in_double.add(first, tensor.update, elements);
    } else if (views[0].can_store() && (DenseView::fits(views[I]) && ...)) {
      dense.add(first, tensor.update, {DenseView(views[I])...});
    } else {
      strided.add(first, tensor.update, elements);
    }
  };
  for (const auto& tensor : updates) add(tensor, std::make_index_sequence<N>());
  dense.flush();
  strided.flush();
  in_double.flush();
}

struct RunUpdates {
  template <class T, class Table>
  void operator()(const Launch& launch, const Table& table) const {
    if (table.blocks() == 0) return;
    update_tensors<T><<<table.blocks(), kUpdateThreads, 0, launch.stream()>>>(table);
    launch.check();
  }
};

template <class Update, std::size_t N>
void multi_tensor_on_cuda(const std::vector<TensorUpdate<Update, N>>& updates, const float* skip) {
  std::int64_t all = 0;
  for (const auto& tensor : updates) all += tensor.operands[0]->numel();
  run_in_tables(updates, skip, all <= kShortList ? kShortChunk : kUpdateChunk, RunUpdates());
}

}  // namespace halfgrad::detail
