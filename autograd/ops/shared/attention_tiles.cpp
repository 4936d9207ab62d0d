#include <halfgrad/autograd/ops/shared/attention_tiles.h>

#include <algorithm>

#include <halfgrad/autograd/ops/shared/attention_scores.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::detail {
namespace {

// The sums over keys of a tile of queries, relative to the largest score so far (Dao 2023,
// Algorithm 1).
template <class T>
struct AttentionSums {
  explicit AttentionSums(std::int64_t columns) : outputs(columns) {
    std::fill_n(largest, kAttentionTile, TileScores<T>::kHiddenScore);
  }

  // Adds the scores of query i and a tile of keys to the total. They become weights.
  void add(std::int64_t i, T* scores) {
    Pack<T> tops(largest[i]);
    for (std::int64_t j = 0; j < kAttentionTile; j += Pack<T>::size) {
      const Pack<T> s = Pack<T>::load(scores + j);
      tops = select(tops > s, tops, s);
    }
    const T top = max(tops);
    const Pack<T> shift(shift_of(top));
    Pack<T> sums(T(0));
    for (std::int64_t j = 0; j < kAttentionTile; j += Pack<T>::size) {
      const Pack<T> weights = attention_weight(Pack<T>::load(scores + j), shift);
      weights.store(scores + j);
      sums = sums + weights;
    }
    const T factor = top == largest[i] ? T(1) : math::exp(largest[i] - top);
    largest[i] = top;
    totals[i] = totals[i] * factor + sum(sums);
    if (factor == T(1)) return;
    for (std::int64_t c = 0; c < outputs.width; ++c) outputs.row(i)[c] *= factor;
  }

  // A query that sees no key has the output 0.
  void divide(std::int64_t i) {
    const T divisor = totals[i] == T(0) ? T(1) : totals[i];
    for (std::int64_t c = 0; c < outputs.width; ++c) outputs.row(i)[c] /= divisor;
  }

  TileRows<T> outputs;
  T largest[kAttentionTile];
  T totals[kAttentionTile] = {};
};

template <class T>
void attend(const AttentionOperands& operands, const Array& y, const Array& lse) {
  const TileScores<T> scores(operands);
  const std::int64_t width = scores.query.columns(), width_of_y = scores.value.columns();
  for_each_attention_tile(scores.batches, scores.queries, [&](auto batch, auto first, auto count) {
    TileRows<T> q(width), v(width_of_y), s(kAttentionTile);
    TileColumns<T> k(width);
    AttentionSums<T> sums(width_of_y);
    scores.query.read(batch, first, count, q);
    const std::int64_t end =
        scores.rule.is_causal ? std::min(scores.keys, first + count) : scores.keys;
    for (std::int64_t at = 0; at < end; at += kAttentionTile) {
      const TilePair pair{batch, first, count, at, std::min(kAttentionTile, scores.keys - at)};
      scores.key.read(batch, at, pair.keys, k);
      scores.value.read(batch, at, pair.keys, v);
      scores.compute(pair, q, k, s);
      for (std::int64_t i = 0; i < count; ++i) {
        sums.add(i, s.row(i));
        scores.drop(pair, i, s.row(i));
      }
      add_weighted_rows<Weights::seen>(s.row(0), s.width, count, pair.keys, v.row(0), v.width,
                                       sums.outputs.row(0));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      lse.data_as<T>()[batch * scores.queries + first + i] =
          saved_logsumexp(sums.largest[i], sums.totals[i]);
      sums.divide(i);
    }
    MatrixBatch(y).write(batch, first, count, sums.outputs);
  });
}

// The rows of a tile of queries that backward reads, and delta_i = dy_i y_i.
template <class T>
struct QueryRows {
  QueryRows(std::int64_t width, std::int64_t width_of_y)
      : q(width), dy(width_of_y), y(width_of_y) {}

  TileRows<T> q, dy, y;
  T delta[kAttentionTile] = {};
};

// Both passes of backward, with dp = drop(dy v^T):
//     ds = p (dp - delta),  dq = scale ds k,  dk = scale ds^T q,  dv = drop(p)^T dy
template <class T>
class GradientTiles {
 public:
  GradientTiles(const AttentionOperands& operands, const Array& dy, const Array& y,
                const Array& lse)
      : scores_(operands), dy_(dy), y_(y), lse_(lse.data_as<const T>()) {}

  void sum_over_keys(const Array& dq) const {
    for_each_attention_tile(
        scores_.batches, scores_.queries, [&](auto batch, auto first, auto count) {
          QueryRows<T> rows(scores_.query.columns(), scores_.value.columns());
          TileRows<T> p(kAttentionTile), ds(kAttentionTile), k_rows(rows.q.width),
              sums(scores_.query.columns());
          TileColumns<T> k(scores_.query.columns()), v(scores_.value.columns());
          read(batch, first, count, rows);
          const std::int64_t end =
              scores_.rule.is_causal ? std::min(scores_.keys, first + count) : scores_.keys;
          for (std::int64_t at = 0; at < end; at += kAttentionTile) {
            const TilePair pair{batch, first, count, at,
                                std::min(kAttentionTile, scores_.keys - at)};
            scores_.key.read(batch, at, pair.keys, k);
            scores_.value.read(batch, at, pair.keys, v);
            scores_.key.read(batch, at, pair.keys, k_rows);
            compute(pair, rows, k, v, p, ds);
            add_weighted_rows<Weights::seen>(ds.row(0), ds.width, count, pair.keys, k_rows.row(0),
                                             k_rows.width, sums.row(0));
          }
          MatrixBatch(dq).write(batch, first, count, sums);
        });
  }

  void sum_over_queries(const Array& dk, const Array& dv) const {
    for_each_attention_tile(scores_.batches, scores_.keys, [&](auto batch, auto first, auto count) {
      QueryRows<T> rows(scores_.query.columns(), scores_.value.columns());
      TileRows<T> p(kAttentionTile), ds(kAttentionTile), transposed(kAttentionTile),
          k_sums(scores_.query.columns()), v_sums(scores_.value.columns());
      TileColumns<T> k(scores_.query.columns()), v(scores_.value.columns());
      scores_.key.read(batch, first, count, k);
      scores_.value.read(batch, first, count, v);
      // Queries of an earlier tile do not see these keys.
      const std::int64_t begin = scores_.rule.is_causal ? first : 0;
      for (std::int64_t at = begin; at < scores_.queries; at += kAttentionTile) {
        const TilePair pair{batch, at, std::min(kAttentionTile, scores_.queries - at), first,
                            count};
        read(batch, at, pair.queries, rows);
        compute(pair, rows, k, v, p, ds);
        add_transposed(pair, p, transposed, rows.dy, v_sums);
        add_transposed(pair, ds, transposed, rows.q, k_sums);
      }
      MatrixBatch(dk).write(batch, first, count, k_sums);
      MatrixBatch(dv).write(batch, first, count, v_sums);
    });
  }

 private:
  void read(std::int64_t batch, std::int64_t first, std::int64_t count, QueryRows<T>& rows) const {
    scores_.query.read(batch, first, count, rows.q);
    dy_.read(batch, first, count, rows.dy);
    y_.read(batch, first, count, rows.y);
    for (std::int64_t i = 0; i < count; ++i) {
      Pack<T> total(T(0));
      for (std::int64_t c = 0; c < rows.y.width; c += Pack<T>::size) {
        total += Pack<T>::load(rows.dy.row(i) + c) * Pack<T>::load(rows.y.row(i) + c);
      }
      rows.delta[i] = sum(total);
    }
  }

  // Computes drop(p) and scale ds of a pair of tiles.
  void compute(const TilePair& at, const QueryRows<T>& rows, const TileColumns<T>& k,
               const TileColumns<T>& v, TileRows<T>& p, TileRows<T>& ds) const {
    scores_.compute(at, rows.q, k, p);
    ds.clear();
    add_weighted_rows<Weights::all>(rows.dy.row(0), rows.dy.width, at.queries,
                                    scores_.value.columns(), v.data.data(), ds.width, ds.row(0));
    const Pack<T> scale(scores_.rule.scale);
    for (std::int64_t i = 0; i < at.queries; ++i) {
      const Pack<T> lse(lse_[at.batch * scores_.queries + at.query + i]), delta(rows.delta[i]);
      scores_.drop(at, i, ds.row(i));
      for (std::int64_t j = 0; j < kAttentionTile; j += Pack<T>::size) {
        const Pack<T> score = Pack<T>::load(p.row(i) + j), dp = Pack<T>::load(ds.row(i) + j);
        const Pack<T> weight = attention_weight(score, lse);
        weight.store(p.row(i) + j);
        attention_slope(score, weight, dp, delta, scale).store(ds.row(i) + j);
      }
      scores_.drop(at, i, p.row(i));
    }
  }

  // Adds weights^T rows to the sums of the keys.
  static void add_transposed(const TilePair& at, const TileRows<T>& weights,
                             TileRows<T>& transposed, const TileRows<T>& rows, TileRows<T>& sums) {
    for (std::int64_t i = 0; i < at.queries; ++i) {
      for (std::int64_t j = 0; j < at.keys; ++j) transposed.row(j)[i] = weights.row(i)[j];
    }
    add_weighted_rows<Weights::seen>(transposed.row(0), transposed.width, at.keys, at.queries,
                                     rows.row(0), rows.width, sums.row(0));
  }

  TileScores<T> scores_;
  MatrixBatch dy_, y_;
  const T* lse_;
};

template <class T>
AttentionGradients gradients_of(const AttentionOperands& operands, const Array& dy, const Array& y,
                                const Array& lse) {
  const auto like = [](const Array& x) { return Array::empty(x.sizes(), x.dtype(), x.device()); };
  const AttentionGradients gradients{like(operands.query), like(operands.key),
                                     like(operands.value)};
  const GradientTiles<T> tiles(operands, dy, y, lse);
  tiles.sum_over_keys(gradients.query);
  tiles.sum_over_queries(gradients.key, gradients.value);
  return gradients;
}

}  // namespace

void attention_on_cpu(const AttentionOperands& operands, const Array& y, const Array& lse) {
  if (operands.rule.dropout_key.base != nullptr) {
    fail("scaled_dot_product_attention",
         "expected tensors on the GPU whose graph is captured, got tensors on the CPU");
  }
  lse.dtype() == DType::f64 ? attend<double>(operands, y, lse) : attend<float>(operands, y, lse);
}

AttentionGradients attention_gradient_on_cpu(const AttentionOperands& operands, const Array& dy,
                                             const Array& y, const Array& lse) {
  return lse.dtype() == DType::f64 ? gradients_of<double>(operands, dy, y, lse)
                                   : gradients_of<float>(operands, dy, y, lse);
}

}  // namespace halfgrad::detail
