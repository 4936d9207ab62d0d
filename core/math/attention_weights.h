#pragma once

#include <cstdint>
#include <limits>

#include <halfgrad/core/hd.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/core/math/philox.h>
#include <halfgrad/core/math/random_distributions.h>

/// The formulas of attention that the kernels of all devices share, for query i and key j:
///
///     s_ij = scale q_i k_j + mask_ij
///     lse_i = log(sum_j exp(s_ij)),  p_ij = exp(s_ij - lse_i)
///     y_i = sum_j drop(p_ij) v_j
///     drop(p) = 0 with probability dropout_p, else p / (1 - dropout_p)
namespace halfgrad::detail {

/// The options of an attention: the scale, the keys that a query sees, the weights that are
/// dropped.
struct AttentionRule {
  double scale = 1;
  bool is_causal = false;  ///< query i does not see key j > i
  double dropout_p = 0;
  RandomKey dropout_key = {};  ///< as `dropout` draws it for the weights [batch..., L, S]

  HG_HD bool hides(std::int64_t query, std::int64_t key) const { return is_causal && key > query; }
};

/// Drops weights with the mask that `dropout` draws for a tensor of all weights, which is not
/// stored: it is a function of the index.
class AttentionDropout {
 public:
  AttentionDropout(const AttentionRule& rule, std::int64_t queries, std::int64_t keys)
      : drops_(rule.dropout_p > 0),
        keep_(rule.dropout_p),
        key_(rule.dropout_key),
        queries_(queries),
        keys_(keys) {}

  HG_HD bool drops() const { return drops_; }
  /// Call it once where the key can be read, before weights are dropped.
  HG_HD void resolve_key() { key_ = key_.resolved(); }
  template <class T>
  HG_HD T operator()(std::int64_t batch, std::int64_t query, std::int64_t key, T weight) const {
    const auto index = static_cast<std::uint64_t>((batch * queries_ + query) * keys_ + key);
    const PhiloxBlock block = random_block(key_, index / 4);
    // Chosen by comparisons: a GPU keeps an array with a variable index in memory.
    const std::uint32_t low = index % 2 == 0 ? block.word[0] : block.word[1];
    const std::uint32_t high = index % 2 == 0 ? block.word[2] : block.word[3];
    return keep_(index % 4 < 2 ? low : high, weight);
  }

 private:
  bool drops_;
  Keep keep_;
  RandomKey key_;
  std::int64_t queries_, keys_;
};

/// The weight of a key that a query does not see. Such a key takes no part in any sum, even if its
/// value is inf or NaN. A weight that only underflows is +0.
template <class T>
inline constexpr T kHiddenWeight = T(-0.0);

HG_HD inline bool is_hidden(float weight) {
  return same_bits<std::uint32_t>(weight) == 0x80000000U;
}
HG_HD inline bool is_hidden(double weight) {
  return same_bits<std::uint64_t>(weight) == 0x8000000000000000U;
}

/// The score of a key that a query sees. -inf is the score of a hidden key, so a product that is
/// -inf becomes the lowest finite score: its weight is +0, and 0 times an infinite value is NaN.
template <class T>
HG_HD T seen_score(T score) {
  const T lowest(std::numeric_limits<scalar_t<T>>::lowest());
  return select(score < lowest, lowest, score);
}

/// exp(score - shift), for a maximum or a logsumexp `shift`.
template <class T>
HG_HD T attention_weight(T score, T shift) {
  using Element = scalar_t<T>;
  return select(score == T(-std::numeric_limits<Element>::infinity()), T(kHiddenWeight<Element>),
                math::exp(score - shift));
}

/// The shift of forward: the largest score, or 0 if there is no finite one, so that all weights are
/// 0.
template <class T>
HG_HD T shift_of(T largest) {
  return largest <= std::numeric_limits<T>::lowest() ? T(0) : largest;
}

/// The logsumexp that forward saves. It is inf if all weights are 0: backward then gets 0 again, as
/// exp(score - inf).
template <class T>
HG_HD T saved_logsumexp(T largest, T total) {
  return total == T(0) ? std::numeric_limits<T>::infinity() : largest + math::log(total);
}

/// scale ds_ij = scale p_ij (dp_ij - delta_i), +0 where it underflows, as the weight of a key or a
/// query in the sums dq_i and dk_j.
template <class T>
HG_HD T attention_slope(T score, T weight, T dp, T delta, T scale) {
  using Element = scalar_t<T>;
  return select(score == T(-std::numeric_limits<Element>::infinity()), T(kHiddenWeight<Element>),
                weight * (dp - delta) * scale + T(0));
}

}  // namespace halfgrad::detail
