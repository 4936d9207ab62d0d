#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/engines/operand_set.h>
#include <halfgrad/core/engines/tile.h>
#include <halfgrad/core/hd.h>
#include <halfgrad/core/math/simd.h>

/// The engine for lists of tensors: optimizers, unscaling, clipping. It processes any number of
/// tensors in one pass, in chunks of equal work, and reads and writes each operand once.
namespace halfgrad::detail {

/// The update of one tensor: arrays that broadcast to the shape of the first, and the formula that
/// changes them. `make()` is called for every chunk on the device of the arrays, where it may read
/// device memory. It returns the formula:
///
///   static constexpr unsigned kWrites;                        // set of operands: written
///   static constexpr unsigned kReads;                         // set of operands: read; optional
///   template <class T> HG_HD void operator()(T& a, T& b, ...) const;
///
/// T is double if the first operand is float64, else float; on the CPU a SIMD pack of them. The
/// formula may take operands that it only reads by value.
template <class Update, std::size_t N>
struct TensorUpdate {
  Update update;
  std::array<const Array*, N> operands;
};

/// Sets *flag = 1, from any number of threads: formulas report non-finite values with it.
HG_HD inline void raise_flag(float* flag) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile float*>(flag) = 1;
#else
  std::atomic_ref<float>(*flag).store(1, std::memory_order_relaxed);
#endif
}

/// Adds the number of set lanes in `mask` to *counter, from any number of threads. Integer addition
/// gives the same result in any order. On the CPU the lanes after the end of a tensor count too:
/// the formula computes them from zeros.
HG_HD inline void add_count(std::int64_t* counter, bool mask) {
  if (!mask) return;
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ULL);
#else
  std::atomic_ref<std::int64_t>(*counter).fetch_add(1, std::memory_order_relaxed);
#endif
}
template <class T>
void add_count(std::int64_t* counter, Mask<T> mask) {
  if (!any(mask)) return;
  for (int lane = 0; lane < Mask<T>::size; ++lane) add_count(counter, mask[lane]);
}

/// Returns a * b rounded to T. Compilers may contract `a * b + c` into one multiply-add, which does
/// not round the product; they cannot contract a rounded_product(). So a product has the same bits
/// in a register as after a store and a load.
template <class T>
HG_HD T rounded_product(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) {
    return __fmul_rn(a, b);
  } else if constexpr (std::is_same_v<T, double>) {
    return __dmul_rn(a, b);
  } else {
    return a * b;  // a pack of the CPU
  }
#else
  T product = a * b;
  asm volatile("" : "+m"(product));  // tells the compiler that `product` may have changed here
  return product;
#endif
}

template <class Formula>
concept StatesFormulaReads = requires {
  Formula::kReads;
};

/// The set of operands whose old value a formula reads.
template <class Formula>
constexpr unsigned operands_read() {
  if constexpr (StatesFormulaReads<Formula>) return Formula::kReads;
  return operands_from(0);
}
template <class Formula>
constexpr bool reads_operand(std::size_t i) {
  return contains(operands_read<Formula>(), i);
}

/// Addresses [begin, end) that the update at `index` in a list may write; not empty.
struct WrittenMemory {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::size_t index;
};
/// Adds the memory of an operand, unless it has no elements.
void add_written(std::vector<WrittenMemory>& written, const Array& operand, std::size_t index);

/// Returns the pass of each update: updates that write overlapping memory go to successive passes,
/// in list order. Returns an empty vector if one pass is enough.
std::vector<std::size_t> passes_of(std::vector<WrittenMemory> written, std::size_t count);

/// Elements [begin, end) of the tensor at `index` in a list.
struct Chunk {
  std::size_t index;
  std::int64_t begin;
  std::int64_t end;
};

/// Splits tensors of these sizes into chunks, in order.
std::vector<Chunk> chunks_of(std::span<const std::int64_t> sizes);

/// Calls run(context, chunk) for each chunk, in parallel if there is enough work.
void run_chunk_list(const std::vector<Chunk>& chunks, void (*run)(const void*, const Chunk&),
                    const void* context);

template <class T, class Formula, std::size_t... I>
void update_tile(const Formula formula, const std::array<const T*, sizeof...(I)>& in,
                 const std::array<T*, sizeof...(I)>& out, std::int64_t n,
                 std::index_sequence<I...>) {
  constexpr std::int64_t kWidth = Pack<T>::size;
  std::int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    std::array<Pack<T>, sizeof...(I)> x{
        (reads_operand<Formula>(I) ? Pack<T>::load(in[I] + i) : Pack<T>(T(0)))...};
    formula(x[I]...);
    ((Formula::kWrites >> I & 1U ? x[I].store(out[I] + i) : void()), ...);
  }
  if (i < n) {
    std::array<Pack<T>, sizeof...(I)> x{
        (reads_operand<Formula>(I) ? load_up_to(in[I] + i, n - i) : Pack<T>(T(0)))...};
    formula(x[I]...);
    ((Formula::kWrites >> I & 1U ? store_up_to(x[I], out[I] + i, n - i) : void()), ...);
  }
}

template <class T, class Formula, std::size_t N, std::size_t... I>
void update_chunk(const Formula& formula, const std::array<const Array*, N>& operands,
                  const Chunk& chunk, std::index_sequence<I...> indices) {
  const Shape& sizes = operands[0]->sizes();
  const std::array<TileView, N> views{TileView(*operands[I], sizes)...};
  alignas(64) T scratch[N][kTile];
  for (std::int64_t at = chunk.begin; at < chunk.end; at += kTile) {
    const std::int64_t n = std::min(kTile, chunk.end - at);
    const std::array<const T*, N> in{
        (reads_operand<Formula>(I) ? views[I].read(at, n, scratch[I]) : nullptr)...};
    const std::array<T*, N> out{views[I].target(at, scratch[I])...};
    update_tile<T>(formula, in, out, n, indices);
    ((Formula::kWrites >> I & 1U ? views[I].commit(at, n, out[I]) : void()), ...);
  }
}

template <class Update, std::size_t N>
void multi_tensor_on_cpu(const std::vector<TensorUpdate<Update, N>>& updates, const float* skip) {
  if (skip != nullptr && *skip != 0) return;
  std::vector<std::int64_t> sizes;
  sizes.reserve(updates.size());
  for (const auto& update : updates) sizes.push_back(update.operands[0]->numel());
  const auto run = [](const void* context, const Chunk& chunk) {
    const auto& list = *static_cast<const std::vector<TensorUpdate<Update, N>>*>(context);
    const TensorUpdate<Update, N>& tensor = list[chunk.index];
    const auto formula = tensor.update.make();
    if (tensor.operands[0]->dtype() == DType::f64) {
      update_chunk<double>(formula, tensor.operands, chunk, std::make_index_sequence<N>());
    } else {
      update_chunk<float>(formula, tensor.operands, chunk, std::make_index_sequence<N>());
    }
  };
  run_chunk_list(chunks_of(sizes), run, &updates);
}

/// Runs on a GPU: core/cuda/engines/multi_tensor_cuda.h.
template <class Update, std::size_t N>
void multi_tensor_on_cuda(const std::vector<TensorUpdate<Update, N>>& updates, const float* skip);

template <class Update, std::size_t N>
std::vector<std::size_t> passes_of(const std::vector<TensorUpdate<Update, N>>& updates) {
  if (updates.size() < 2) return {};
  constexpr unsigned kWrites = decltype(updates[0].update.make())::kWrites;
  std::vector<WrittenMemory> written;
  written.reserve(updates.size() * N);
  for (std::size_t index = 0; index < updates.size(); ++index) {
    for (std::size_t i = 0; i < N; ++i) {
      if (kWrites >> i & 1U) add_written(written, *updates[index].operands[i], index);
    }
  }
  return passes_of(std::move(written), updates.size());
}

template <class Update, std::size_t N>
void multi_tensor_in_one_pass(const std::vector<TensorUpdate<Update, N>>& updates,
                              const float* skip) {
  if constexpr (kWithCuda) {
    if (updates[0].operands[0]->device().is_cuda()) return multi_tensor_on_cuda(updates, skip);
  }
  if constexpr (kWithCpu) multi_tensor_on_cpu(updates, skip);
}

/// Applies every update, unless `*skip`, on the device of the arrays, is nonzero. Updates that
/// write the same memory, such as a gradient that two parameters share, run one after another in
/// list order. An update must not read what another one writes. The result does not depend on the
/// number of threads.
template <class Update, std::size_t N>
void multi_tensor(const std::vector<TensorUpdate<Update, N>>& updates,
                  const float* skip = nullptr) {
  if (updates.empty()) return;
  for (const auto& update : updates) {
    expect_one_device("multi_tensor", *updates[0].operands[0], update.operands);
  }
  const std::vector<std::size_t> passes = passes_of(updates);
  if (passes.empty()) return multi_tensor_in_one_pass(updates, skip);
  const std::size_t last = *std::max_element(passes.begin(), passes.end());
  for (std::size_t pass = 0; pass <= last; ++pass) {
    std::vector<TensorUpdate<Update, N>> of_pass;
    for (std::size_t i = 0; i < updates.size(); ++i) {
      if (passes[i] == pass) of_pass.push_back(updates[i]);
    }
    multi_tensor_in_one_pass(of_pass, skip);
  }
}

}  // namespace halfgrad::detail

#if defined(HALFGRAD_CUDA)
#include <halfgrad/core/cuda/engines/multi_tensor_cuda.h>
#endif
