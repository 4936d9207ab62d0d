#include <cmath>
#include <limits>
#include <utility>

#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Attention, whose kernels read the keys once and rescale their sums.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using halfgrad::detail::Exponentials;
using halfgrad::detail::fail;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rows of a batch [b, rows, columns].
class Rows {
 public:
  explicit Rows(const BoundedArray& x) : x_(x), columns_(x.size(2)) {}
  Elements at(std::int64_t batch, std::int64_t row) const {
    const auto first = x_.elements().begin() + (batch * x_.size(1) + row) * columns_;
    return {first, first + columns_};
  }

 private:
  const BoundedArray& x_;
  std::int64_t columns_;
};

/// One row of the output, of the scores s_j and the values v_j:
///     sum_j e_j v_j / sum_j e_j,  e_j = exp(s_j - max)
/// A kernel may store the e_j in 16 bits for the product with the values, but not for their sum.
void add_output_row(const AnyArithmetic& a, const Elements& scores,
                    const std::vector<Elements>& values, Elements& out) {
  const Exponentials e(a, scores);
  Elements weights;
  for (const Bounded& term : e.terms) weights.push_back(a.stored(term));
  const std::size_t width = values.empty() ? 0 : values[0].size();
  for (std::size_t d = 0; d < width; ++d) {
    Elements terms;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      terms.push_back(a.mul(weights[j], values[j][d]));
    }
    const Bounded y = a.div(a.rescaled_sum(terms, Exponentials::kSteps), e.total);
    // Kernels differ for a query whose scores are all -inf: 0 / 0, or 0 as FlashAttention.
    const bool sees_nothing = e.largest.value == -kInfinity;
    out.push_back(sees_nothing ? Bounded{y.value, kInfinity} : y);
  }
}

Elements outputs(const BoundedArray& scaled_query, const BoundedArray& key,
                 const BoundedArray& value, bool is_causal) {
  const AnyArithmetic& a = key.math();
  const Rows queries(scaled_query), keys(key), values(value);
  Elements out;
  for (std::int64_t batch = 0; batch < key.size(0); ++batch) {
    std::vector<Elements> all_keys, all_values;
    for (std::int64_t j = 0; j < key.size(1); ++j) {
      all_keys.push_back(keys.at(batch, j));
      all_values.push_back(values.at(batch, j));
    }
    for (std::int64_t i = 0; i < scaled_query.size(1); ++i) {
      const Elements query = queries.at(batch, i);
      Elements scores;
      for (std::int64_t j = 0; j < key.size(1) && !(is_causal && j > i); ++j) {
        scores.push_back(a.dot(query, all_keys[static_cast<std::size_t>(j)]));
      }
      add_output_row(a, scores, all_values, out);
    }
  }
  return out;
}

/// q k^T, with -inf for the keys that a query does not see.
BoundedArray masked_scores(const BoundedArray& scaled_query, const BoundedArray& key,
                           bool is_causal) {
  const BoundedArray scores = matmul(scaled_query, key.transpose(1, 2));
  if (!is_causal) return scores;
  Values hidden{{scores.size(1), scores.size(2)}, {}};
  for (std::int64_t i = 0; i < hidden.sizes[0]; ++i) {
    for (std::int64_t j = 0; j < hidden.sizes[1]; ++j) hidden.data.push_back(j > i ? 1 : 0);
  }
  return masked_fill(scores, BoundedArray(key.arithmetic(), hidden), -kInfinity);
}

/// The logsumexp of scores. It is not judged where the largest score is infinite: some kernels give
/// that infinity, others max + log(sum), which is NaN.
BoundedArray logsumexp_of_scores(const BoundedArray& scores) {
  return detail::mapped(
      logsumexp(scores, -1),
      [](const AnyArithmetic&, const Bounded& x) {
        return std::isinf(x.value) ? Bounded{x.value, kInfinity} : x;
      },
      [](const Inputs&, const BoundedArray&, const BoundedArray& dy) { return Inputs{dy}; });
}

// With p = softmax(q k^T) and dp = dy v^T:
//     dv = p^T dy,  ds = p (dp - sum(dp p)),  dq = ds k,  dk = ds^T q
Inputs gradients(const Inputs& in, const BoundedArray& dy, bool is_causal) {
  const BoundedArray p = softmax(masked_scores(in[0], in[1], is_causal), -1);
  const BoundedArray dp = matmul(dy, in[2].transpose(1, 2));
  const BoundedArray ds = p * (dp - sum(dp * p, -1, true));
  return {matmul(ds, in[1]), matmul(ds.transpose(1, 2), in[0]), matmul(p.transpose(1, 2), dy)};
}

}  // namespace

BoundedArrays scaled_dot_product_attention(const BoundedArray& query, const BoundedArray& key,
                                           const BoundedArray& value, bool is_causal) {
  for (const BoundedArray* each : {&query, &key, &value}) {
    detail::expect_defined("scaled_dot_product_attention", *each);
    if (each->dim() == 3) continue;
    fail("scaled_dot_product_attention", "expected [b, m, d], [b, n, d] and [b, n, e], got {}",
         each->sizes());
  }
  if (query.size(0) != key.size(0) || query.size(2) != key.size(2) ||
      key.size(0) != value.size(0) || key.size(1) != value.size(1)) {
    fail("scaled_dot_product_attention",
         "expected [b, m, d], [b, n, d] and [b, n, e], got {}, {} and {}", query.sizes(),
         key.sizes(), value.sizes());
  }
  const BoundedArray scaled = query * (1 / std::sqrt(static_cast<double>(query.size(2))));
  const Shape sizes{query.size(0), query.size(1), value.size(2)};
  return {
      detail::Recorder::recorded(
          {key.arithmetic(), sizes, outputs(scaled, key, value, is_causal)}, {scaled, key, value},
          [is_causal](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
            return gradients(in, dy, is_causal);
          }),
      logsumexp_of_scores(masked_scores(scaled, key, is_causal))};
}

}  // namespace halfgrad::testing
