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

  __device__ void load(std::int64_t at, int count, float (&x)[kElements]) const {
    if (repeated) return load_repeated(data, dtype, 0, x);
    load_packed(data, dtype, at, count, x);
  }
  __device__ void store(std::int64_t at, int count, const float (&x)[kElements]) const {
    store_packed(data, dtype, at, count, x);
  }
};

inline constexpr int kUpdateThreads = 256;
inline constexpr std::int64_t kUpdateChunk = 4096;

template <class View, class Update, std::size_t N>
struct UpdateEntry {
  Update update;
  std::array<View, N> operands;
  std::int64_t n;
  unsigned first_block;

  /// The range of elements that `block` takes.
  __device__ std::int64_t begin(unsigned block) const {
    return (block - first_block) * kUpdateChunk;
  }
  __device__ std::int64_t end(unsigned block) const {
    return std::min(n, begin(block) + kUpdateChunk);
  }
};

template <class View, class Update, std::size_t N>
class UpdateTable {
  using Entry = UpdateEntry<View, Update, N>;

 public:
  static constexpr std::size_t kCapacity = 32 * 1000 / sizeof(Entry);
  static_assert(kCapacity > 0);

  explicit UpdateTable(const float* skip) : skip_(skip) {}

  bool full() const { return count_ == kCapacity; }
  unsigned size() const { return count_; }
  unsigned blocks() const { return blocks_; }
  void clear() { count_ = blocks_ = 0; }
  void add(const Update& update, const std::array<View, N>& operands, std::int64_t n) {
    ::new (entries_ + count_ * sizeof(Entry)) Entry{update, operands, n, blocks_};
    ++count_;
    blocks_ += blocks_for(n, kUpdateChunk);
  }

  __device__ bool skipped() const { return skip_ != nullptr && *skip_ != 0; }
  __device__ const Entry& entry(unsigned index) const {
    return reinterpret_cast<const Entry*>(entries_)[index];
  }
  /// Returns the entry whose chunk `block` takes.
  __device__ const Entry& entry_of(unsigned block) const {
    unsigned low = 0;
    for (unsigned high = count_; high - low > 1;) {
      const unsigned middle = (low + high) / 2;
      (entry(middle).first_block <= block ? low : high) = middle;
    }
    return entry(low);
  }

 private:
  alignas(Entry) std::byte entries_[kCapacity * sizeof(Entry)];
  const float* skip_;
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

template <class T, class Formula, class View, std::size_t N, std::size_t... I>
__device__ void update_elements(const Formula& formula, const std::array<View, N>& operands,
                                std::int64_t at, int count, std::index_sequence<I...>) {
  T x[N][View::kElements];
  ((reads_operand<Formula>(I) ? operands[I].load(at, count, x[I]) : void()), ...);
#pragma unroll
  for (int k = 0; k < View::kElements; ++k) {
    if (k < count) formula(x[I][k]...);
  }
  ((Formula::kWrites >> I & 1U ? operands[I].store(at, count, x[I]) : void()), ...);
}

template <class T, class View, class Update, std::size_t N>
__global__ void __launch_bounds__(kUpdateThreads)
    update_tensors(const __grid_constant__ UpdateTable<View, Update, N> table) {
  if (table.skipped()) return;
  const auto& entry = table.entry_of(blockIdx.x);
  const auto formula = make_formula(entry.update);
  const std::int64_t end = entry.end(blockIdx.x);
  for (std::int64_t at = entry.begin(blockIdx.x) + threadIdx.x * View::kElements; at < end;
       at += kUpdateThreads * View::kElements) {
    update_elements<T>(formula, entry.operands, at, pack_count(at, end),
                       std::make_index_sequence<N>());
  }
}

/// Collects updates of one kind, and calls run(launch, table) for each full table.
template <class T, class View, class Update, std::size_t N, class Run>
class UpdateQueue {
 public:
  UpdateQueue(const float* skip, const Run& run) : table_(skip), run_(run) {}

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

/// Sorts the updates into tables by compute type and by the views that their operands allow.
template <class Update, std::size_t N, class Run>
void run_in_tables(const std::vector<TensorUpdate<Update, N>>& updates, const float* skip,
                   const Run& run) {
  UpdateQueue<float, DenseView, Update, N, Run> dense(skip, run);
  UpdateQueue<float, SingleView, Update, N, Run> strided(skip, run);
  UpdateQueue<double, SingleView, Update, N, Run> in_double(skip, run);
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
  run_in_tables(updates, skip, RunUpdates());
}

}  // namespace halfgrad::detail
