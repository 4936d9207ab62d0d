#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/group.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/engines/tickets.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/engines/sum_reduction.h>

/// The sum or the mean of the losses of all rows, in the kernel that computes them.
///
/// The sum finishes in the last block (tickets.h). Up to 4096 rows are one part. The last block of
/// a part adds its losses, and the last part's block adds the parts: each in the order of the
/// reduction engine, so that the total has its bits.
namespace halfgrad::detail {

inline constexpr std::int64_t kRowsInPart = 4096;
inline constexpr std::int64_t kMostSummedRows = (kTickets - 1) * kRowsInPart;
inline constexpr int kSumThreads = 256;  ///< as many as the reduction engine uses in a block

/// The operands of the sum, which a kernel of losses takes by value.
struct LossSum {
  /// The sum of the losses of one part, and how many of its rows are not ignored.
  struct Sums {
    double loss;
    std::int64_t count;
  };
  struct Sum : SumReduction {
    __device__ float map(float x) const { return x; }
  };

  LossSum() = default;
  /// `losses` is float32 [rows], at most kMostSummedRows, and `kept` may be undefined: a second
  /// place for the loss. A block computes `rows` rows at a time, a divisor of kRowsInPart.
  LossSum(const Array& losses, const Array& parts_of_losses, bool mean_of_rows, const Array& to,
          const Array& kept_copy, std::int64_t rows)
      : of_rows(losses.data_as<float>()),
        all_rows(losses.numel()),
        mean(mean_of_rows),
        loss(to.data()),
        kept(kept_copy.defined() ? kept_copy.data() : nullptr),
        dtype(to.dtype()),
        parts(parts_of_losses.numel() > 0 ? reinterpret_cast<Sums*>(parts_of_losses.data())
                                          : nullptr),
        tickets(tickets_for(current_stream(losses.device()))),
        rows_in_block(rows) {}

  /// Returns the memory for the sums of the parts, which must live until the launch.
  static Array parts_for(const Array& losses) {
    const std::int64_t parts = (losses.numel() + kRowsInPart - 1) / kRowsInPart;
    return Array::empty({parts > 1 ? 2 * parts : 0}, DType::f64, losses.device());
  }

  /// All threads of a block call it when the losses of rows [first, first + rows_in_block) are
  /// stored.
  __device__ void add_block(std::int64_t first) const {
    const Part part(*this, first);
    if (is_last_block(tickets + 1 + part.index, part.blocks)) add_part(part);
  }

  /// As add_block() for rows first, first + step, and so on, each rows_in_block rows: at the end of
  /// a block that has computed all of them. Each thread takes a ticket, at the same time, where
  /// add_block() for one after the other would wait for the memory each time. At most kSumThreads
  /// threads call it.
  __device__ void add_blocks(std::int64_t first, std::int64_t step) const {
    __shared__ bool last[kSumThreads];
    const int threads = static_cast<int>(blockDim.x), rank = static_cast<int>(threadIdx.x);
    for (; first < all_rows; first += threads * step) {
      __syncthreads();  // all threads have written, and read `last`
      if (const std::int64_t own = first + rank * step; own < all_rows) {
        const Part part(*this, own);
        last[rank] = takes_last_ticket(tickets + 1 + part.index, part.blocks);
      }
      __syncthreads();
      for (int i = 0; i < threads && first + i * step < all_rows; ++i) {
        if (last[i]) add_part(Part(*this, first + i * step));
      }
    }
  }

  const float* of_rows = nullptr;
  std::int64_t all_rows = 0;
  bool mean = true;
  std::byte* loss = nullptr;
  std::byte* kept = nullptr;
  DType dtype = DType::f32;
  Sums* parts = nullptr;        ///< null if there is one part
  unsigned* tickets = nullptr;  ///< the first one counts parts
  std::int64_t rows_in_block = 1;
  const std::int32_t* classes = nullptr;  ///< negative where a row is ignored; null: none is
  float* count = nullptr;                 ///< gets the number of rows that are not ignored

 private:
  // The part that contains row `row`, and how many blocks compute its losses.
  struct Part {
    __device__ Part(const LossSum& sum, std::int64_t row)
        : index(row / kRowsInPart),
          begin(index * kRowsInPart),
          end(std::min(sum.all_rows, begin + kRowsInPart)),
          blocks(static_cast<unsigned>((end - begin + sum.rows_in_block - 1) / sum.rows_in_block)) {
    }

    std::int64_t index, begin, end;
    unsigned blocks;
  };

  // Adds the losses of a part that is complete, and all parts if it was the last one.
  __device__ void add_part(const Part& part) const {
    const Sums sums = sum_part(part.begin, part.end);
    if (parts == nullptr) return finish(sums);
    if (threadIdx.x == 0) parts[part.index] = sums;
    const std::int64_t all = (all_rows + kRowsInPart - 1) / kRowsInPart;
    if (is_last_block(tickets, static_cast<unsigned>(all))) finish(sum_parts(all));
  }

  // is_last_block() of one thread, which no barrier surrounds.
  static __device__ bool takes_last_ticket(unsigned* counter, unsigned all) {
    __threadfence();
    const bool last = atomicAdd(counter, 1U) == all - 1;
    __threadfence();
    if (last) *counter = 0;
    return last;
  }

  static __device__ double add(double a, double b) { return a + b; }
  static __device__ std::int64_t add_counts(std::int64_t a, std::int64_t b) { return a + b; }

  // Adds the losses of rows [begin, end) in the order of reduce_rows, and counts the rows that are
  // not ignored. All threads of a block call it; threads beyond those of reduce_rows add zeros.
  __device__ Sums sum_part(std::int64_t begin, std::int64_t end) const {
    const int threads = all_rows > 1024 ? kSumThreads : kWarp;
    const int rank = static_cast<int>(threadIdx.x);
    const Sum sum;
    Accumulator<float, Sum> total(sum);
    for (std::int64_t at = begin + rank * kPerThread; rank < threads && at < end;
         at += threads * kPerThread) {
      for (std::int64_t i = at; i < at + kPerThread && i < end; ++i) total.add(of_rows[i]);
    }
    const Group block(true);
    const double of_part = block.combine(total.total(), add);
    if (classes == nullptr) return {of_part, end - begin};
    std::int64_t counted = 0;
    for (std::int64_t i = begin + rank; i < end; i += blockDim.x) counted += classes[i] >= 0;
    return {of_part, block.combine(counted, add_counts)};
  }

  // Adds the parts as reduce_parts does, with a warp.
  __device__ Sums sum_parts(std::int64_t all) const {
    Sums sums{0, 0};
    for (std::int64_t i = threadIdx.x; threadIdx.x < kWarp && i < all; i += kWarp) {
      sums = {sums.loss + parts[i].loss, sums.count + parts[i].count};
    }
    const Group block(true);
    return {block.combine(sums.loss, add), block.combine(sums.count, add_counts)};
  }

  __device__ void finish(Sums sums) const {
    if (threadIdx.x != 0) return;
    const auto rows = static_cast<float>(sums.count);
    if (count != nullptr) *count = rows;
    for (std::byte* const out : {loss, kept}) {
      if (out == nullptr) continue;
      if (mean) {
        store(out, dtype, 0, static_cast<float>(sums.loss) / rows);
      } else {
        store(out, dtype, 0, sums.loss);
      }
    }
  }
};

}  // namespace halfgrad::detail
