#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <halfgrad/autograd/ops/shared/attention_matrices.h>
#include <halfgrad/core/cuda/kernels/attention.h>
#include <halfgrad/core/thread_pool.h>

/// The scores of attention on a CPU, a pair of tiles at a time.
namespace halfgrad::detail {

/// A tile of queries and a tile of keys.
struct TilePair {
  std::int64_t batch, query, queries, key, keys;
};

/// The scores of pairs of tiles.
template <class T>
class TileScores {
 public:
  explicit TileScores(const AttentionOperands& operands)
      : query(operands.query),
        key(operands.key),
        value(operands.value),
        rule(operands.rule),
        queries(operands.query.size(-2)),
        keys(operands.key.size(-2)),
        mask_(operands.mask),
        is_bool_(operands.mask.defined() && operands.mask.dtype() == DType::boolean),
        has_mask_(operands.mask.defined()),
        dropout_(operands.rule, queries, keys) {
    for (int d = 0; d + 2 < operands.query.ndim(); ++d) batches *= operands.query.size(d);
  }

  /// Computes the scores of a pair. Keys that a query does not see, and those after the last one,
  /// get -inf.
  void compute(const TilePair& at, const TileRows<T>& q, const TileColumns<T>& k,
               TileRows<T>& s) const {
    s.clear();
    add_weighted_rows<Weights::all>(q.row(0), q.width, at.queries, query.columns(), k.data.data(),
                                    s.width, s.row(0));
    for (std::int64_t i = 0; i < at.queries; ++i) {
      T* const row = s.row(i);
      for (std::int64_t j = 0; j < s.width; ++j) {
        row[j] = seen_score(row[j] * static_cast<T>(rule.scale));
      }
      if (has_mask_) apply_mask(at, i, row);
      const std::int64_t until = rule.is_causal ? at.query + i + 1 - at.key : at.keys;
      std::fill(row + std::clamp<std::int64_t>(until, 0, at.keys), row + s.width, kHiddenScore);
    }
  }

  /// Drops weights of query i of a tile, or the gradients of dropped weights.
  void drop(const TilePair& at, std::int64_t i, T* weights) const {
    if (!dropout_.drops()) return;
    for (std::int64_t j = 0; j < at.keys; ++j) {
      if (is_hidden(weights[j])) continue;
      weights[j] = dropout_(at.batch, at.query + i, at.key + j, weights[j]);
    }
  }

  static constexpr T kHiddenScore = -std::numeric_limits<T>::infinity();
  MatrixBatch query, key, value;
  AttentionRule rule;
  std::int64_t queries, keys, batches = 1;

 private:
  void apply_mask(const TilePair& at, std::int64_t i, T* scores) const {
    T mask[kAttentionTile];
    mask_.read_row(at.batch, at.query + i, at.key, at.keys, mask);
    for (std::int64_t j = 0; j < at.keys; ++j) {
      const bool hidden = is_bool_ ? mask[j] == T(0) : mask[j] == kHiddenScore;
      if (!is_bool_) scores[j] = seen_score(scores[j] + mask[j]);
      if (hidden) scores[j] = kHiddenScore;
    }
  }

  MatrixBatch mask_;
  bool is_bool_, has_mask_;
  AttentionDropout dropout_;
};

/// Calls f(batch, first row, rows) for each tile, in parallel.
template <class F>
void for_each_attention_tile(std::int64_t batches, std::int64_t rows, const F& f) {
  const std::int64_t tiles = (rows + kAttentionTile - 1) / kAttentionTile;
  parallel_for(0, batches * tiles, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % tiles * kAttentionTile;
      f(i / tiles, first, std::min(kAttentionTile, rows - first));
    }
  });
}

}  // namespace halfgrad::detail
