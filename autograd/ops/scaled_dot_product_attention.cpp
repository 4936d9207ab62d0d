#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/attention_tiles.h>
#include <halfgrad/autograd/ops/shared/composed_attention.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr const char* kAttentionName = "scaled_dot_product_attention";

std::string described(const Array& array) {
  return to_string(array.sizes()) + " of " + std::string(name(array.dtype()));
}

// The common first dimensions of all operands but the mask.
Shape batch_sizes(const Array& query, const Array& key, const Array& value) {
  const auto batch = [](const Array& x) {
    return Shape(x.sizes().begin(), static_cast<std::size_t>(x.ndim() - 2));
  };
  return broadcast_shapes(broadcast_shapes(batch(query), batch(key), kAttentionName), batch(value),
                          kAttentionName);
}

Shape with_matrix(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

// y = drop(softmax(scale q k^T + mask)) v, by the kernels of core/cuda/kernels/attention.h or
// attention_tiles.h. Backward reads all operands, y and the logsumexp of the scores.
struct ScaledDotProductAttention {
  static constexpr auto name = kAttentionName;
  static constexpr auto precision = Precision::tensor_core;
  static constexpr unsigned saves = kSavesInputs | kSavesOutput;
  static constexpr bool only_reads_gradient = true;
  AttentionRule rule;
  std::optional<double> scale;
  Array lse = {};

  Array forward(const Array& query, const Array& key, const Array& value, const Array& mask) {
    expect_shapes(query, key, value);
    expect_dtypes(query, key, value, mask);
    const std::int64_t width = query.size(-1);
    // Without elements to multiply all scores are 0, and the default would be 1 / 0.
    rule.scale = scale.value_or(width == 0 ? 1 : 1 / std::sqrt(static_cast<double>(width)));
    const AttentionOperands operands = expanded(query, key, value, mask);
    Shape sizes = batch_sizes(query, key, value);
    sizes.push_back(query.size(-2));
    lse = Array::empty(sizes, promote_types(query.dtype(), DType::f32), query.device());
    sizes.push_back(value.size(-1));
    Array y = Array::empty(sizes, query.dtype(), query.device());
    query.device().is_cuda() ? attention_on_cuda(operands, y, lse)
                             : attention_on_cpu(operands, y, lse);
    return y;
  }

  void backward(const Backward<4>& b) const {
    if (GradMode::is_enabled() || b.needs(3)) return composed(b);
    const AttentionOperands operands =
        expanded(b.input_array(0), b.input_array(1), b.input_array(2), array_of(b.input(3)));
    const Array dy = b.grad().array();
    AttentionGradients gradients =
        dy.device().is_cuda() ? attention_gradient_on_cuda(operands, dy, b.output_array(), lse)
                              : attention_gradient_on_cpu(operands, dy, b.output_array(), lse);
    if (b.needs(0)) b.set(0, Tensor(gradients.query));
    if (b.needs(1)) b.set(1, Tensor(gradients.key));
    if (b.needs(2)) b.set(2, Tensor(gradients.value));
  }

  void release_saved() { lse = {}; }

 private:
  AttentionOperands expanded(const Array& query, const Array& key, const Array& value,
                             const Array& mask) const {
    const Shape batch = batch_sizes(query, key, value);
    const auto whole = [&](const Array& x) {
      return x.expand(with_matrix(batch, x.size(-2), x.size(-1)));
    };
    const Shape scores = with_matrix(batch, query.size(-2), key.size(-2));
    return {whole(query), whole(key), whole(value), mask.defined() ? mask.expand(scores) : mask,
            rule};
  }

  void composed(const Backward<4>& b) const {
    const Tensor query = b.input(0), value = b.input(2);
    const Shape batch = batch_sizes(query.array(), b.input(1).array(), value.array());
    const ComposedAttention attention{
        expand(query, with_matrix(batch, query.size(-2), query.size(-1))), b.input(1), value,
        b.input(3), rule};
    const ComposedAttention::Gradients gradients = attention.gradients(b.grad());
    if (b.needs(0)) b.set(0, gradients.query);
    if (b.needs(1)) b.set(1, gradients.key);
    if (b.needs(2)) b.set(2, gradients.value);
    if (b.needs(3)) b.set(3, gradients.mask);
  }

  static void expect_shapes(const Array& query, const Array& key, const Array& value) {
    const bool matrices = query.ndim() >= 2 && key.ndim() >= 2 && value.ndim() >= 2;
    if (matrices && query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2)) return;
    fail(name,
         "expected query [..., l, e], key [..., s, e] and value [..., s, v], got {}, {} and {}",
         query.sizes(), key.sizes(), value.sizes());
  }

  static void expect_dtypes(const Array& query, const Array& key, const Array& value,
                            const Array& mask) {
    const DType dtype = query.dtype();
    if (!is_floating_point(dtype) || key.dtype() != dtype || value.dtype() != dtype) {
      fail(name, "expected query, key and value of one floating point dtype, got {}, {} and {}",
           dtype, key.dtype(), value.dtype());
    }
    if (!mask.defined() || mask.dtype() == DType::boolean || mask.dtype() == DType::f32 ||
        mask.dtype() == dtype) {
      return;
    }
    fail(name, "expected attn_mask of bool, float32 or the query's dtype, {}, got {}", dtype,
         described(mask));
  }
};

// The values of the keys in `seen`, with the softmax of their scores as weights; zeros if all
// scores are -inf.
Elements weighted_values(const AnyArithmetic& a, const Elements& scores, const Values& value,
                         const std::vector<std::int64_t>& seen) {
  const std::int64_t width = value.sizes[2];
  const bool sees_nothing = std::all_of(scores.begin(), scores.end(), [](const Bounded& score) {
    return score.value == -std::numeric_limits<double>::infinity();
  });
  if (sees_nothing) return Elements(static_cast<std::size_t>(width), a.number(0));
  const Elements weights = softmax_of(a, scores);
  Elements out;
  for (std::int64_t c = 0; c < width; ++c) {
    Elements terms;
    for (std::size_t j = 0; j < seen.size(); ++j) {
      const double element = value.data[static_cast<std::size_t>(seen[j] * width + c)];
      terms.push_back(a.mul(weights[j], a.number(element)));
    }
    out.push_back(a.sum(terms));
  }
  return out;
}

// For query [b, l, e], key [b, s, e], value [b, s, v] and perhaps a mask [l, s], 0 for a hidden
// key.
Elements attention_reference_of(const AnyArithmetic& a, const std::vector<Values>& in,
                                bool is_causal) {
  const std::int64_t l = in[0].sizes[1], s = in[1].sizes[1], e = in[0].sizes[2];
  Elements out;
  for (std::int64_t row = 0; row < in[0].sizes[0] * l; ++row) {
    Elements query = row_of(a, in[0], row), scores;
    for (Bounded& x : query) x = scaled(a, x, 1 / std::sqrt(static_cast<double>(e)));
    std::vector<std::int64_t> seen;
    for (std::int64_t j = 0, i = row % l; j < s; ++j) {
      const bool hidden = in.size() > 3 && in[3].data[static_cast<std::size_t>(i * s + j)] == 0;
      if (hidden || (is_causal && j > i)) continue;
      seen.push_back(row / l * s + j);
      scores.push_back(a.dot(query, strided(a, in[1], seen.back() * e, e)));
    }
    const Elements y = weighted_values(a, scores, in[2], seen);
    out.insert(out.end(), y.begin(), y.end());
  }
  return out;
}

BoundedReference attention_reference(bool is_causal) {
  return [=](const AnyArithmetic& a, const std::vector<Values>& in) {
    return attention_reference_of(a, in, is_causal);
  };
}

}  // namespace

OpEntry scaled_dot_product_attention_entry() {
  const OperandSpec query{.sizes = {2, 5, 6}}, key{.sizes = {2, 7, 6}}, value{.sizes = {2, 7, 3}};
  const OperandSpec mask{.sizes = {5, 7}, .kind = OperandSpec::Kind::boolean};
  const auto attend = [](bool is_causal) {
    return [is_causal](const std::vector<Tensor>& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2], in.size() > 3 ? in[3] : Tensor(), 0,
                                          is_causal);
    };
  };
  const Shape sizes{2, 5, 3};
  return {.name = ScaledDotProductAttention::name,
          .precision = ScaledDotProductAttention::precision,
          .roundoffs = 32,
          .examples = {{"all keys",
                        {query, key, value},
                        attend(false),
                        in_double(sizes, attention_reference(false))},
                       {"causal",
                        {query, key, value},
                        attend(true),
                        in_double(sizes, attention_reference(true))},
                       {"bool mask",
                        {query, key, value, mask},
                        attend(false),
                        in_double(sizes, attention_reference(false))}},
          .bounded_reference = attention_reference(false)};
}

// Returns a key or value with each head repeated until there are as many as in the query.
Tensor repeated_heads(const Tensor& query, const Tensor& heads) {
  const bool has_heads = query.dim() > 2 && heads.dim() > 2 && heads.size(-3) > 0;
  if (!has_heads || query.size(-3) % heads.size(-3) != 0) {
    fail(kAttentionName,
         "expected with enable_gqa a number of heads in dimension -3 of the query that is a "
         "multiple of the key's and the value's, got query {} and key or value {}",
         query.sizes(), heads.sizes());
  }
  return repeat_interleave(heads, query.size(-3) / heads.size(-3), -3);
}

}  // namespace detail

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  if (enable_gqa) {
    return scaled_dot_product_attention(query, detail::repeated_heads(query, key),
                                        detail::repeated_heads(query, value), attn_mask, dropout_p,
                                        is_causal, scale);
  }
  if (!(dropout_p >= 0 && dropout_p <= 1)) {
    detail::fail(detail::kAttentionName, "expected a probability dropout_p in [0, 1], got {}",
                 dropout_p);
  }
  if (is_causal && attn_mask.defined()) {
    detail::fail(detail::kAttentionName,
                 "expected attn_mask or is_causal, got both; hide the keys after each query in the "
                 "mask");
  }
  detail::AttentionRule rule{.is_causal = is_causal, .dropout_p = dropout_p};
  if (dropout_p > 0) rule.dropout_key = default_generator().take();
  return detail::apply(detail::ScaledDotProductAttention{rule, scale}, query, key, value,
                       attn_mask);
}

}  // namespace halfgrad
