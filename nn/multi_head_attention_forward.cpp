#include <halfgrad/nn/multi_head_attention_forward.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/text.h>

namespace halfgrad::nn::functional {
namespace {

using Arguments = MultiheadAttentionForwardFuncArguments;

constexpr const char* kName = "MultiheadAttention";

std::int64_t key_features(const Arguments& of) {
  return of.use_separate_proj_weight ? of.k_proj_weight.size(1) : of.embed_dim_to_check;
}
std::int64_t value_features(const Arguments& of) {
  return of.use_separate_proj_weight ? of.v_proj_weight.size(1) : of.embed_dim_to_check;
}

void expect_weight(const char* name, const Tensor& weight, const Shape& sizes) {
  if (weight.defined() && weight.sizes() == sizes) return;
  if (!weight.defined()) {
    halfgrad::detail::fail(kName, "expected {} {}, got an undefined tensor", name, sizes);
  }
  halfgrad::detail::fail(kName, "expected {} {}, got {}", name, sizes, weight.sizes());
}
void expect_if_defined(const char* name, const Tensor& weight, const Shape& sizes) {
  if (weight.defined()) expect_weight(name, weight, sizes);
}

void expect_weights(const Arguments& of) {
  const std::int64_t e = of.embed_dim_to_check;
  if (e <= 0 || of.num_heads <= 0 || e % of.num_heads != 0) {
    halfgrad::detail::fail(kName,
                           "expected a positive embed_dim that num_heads divides, got {} and {}", e,
                           of.num_heads);
  }
  if (of.use_separate_proj_weight) {
    const auto features = [](const Tensor& weight) {
      return weight.defined() && weight.dim() == 2 ? weight.size(1) : 0;
    };
    expect_weight("q_proj_weight", of.q_proj_weight, {e, e});
    expect_weight("k_proj_weight", of.k_proj_weight, {e, features(of.k_proj_weight)});
    expect_weight("v_proj_weight", of.v_proj_weight, {e, features(of.v_proj_weight)});
  } else {
    expect_weight("in_proj_weight", of.in_proj_weight, {3 * e, e});
  }
  expect_weight("out_proj_weight", of.out_proj_weight, {e, e});
  expect_if_defined("in_proj_bias", of.in_proj_bias, {3 * e});
  expect_if_defined("out_proj_bias", of.out_proj_bias, {e});
  if (!of.bias_k.defined() && !of.bias_v.defined()) return;
  expect_weight("bias_k", of.bias_k, {1, 1, e});
  expect_weight("bias_v", of.bias_v, {1, 1, e});
}

void expect_inputs(const Tensor& query, const Tensor& key, const Tensor& value,
                   const Arguments& of) {
  const std::int64_t e = of.embed_dim_to_check, kdim = key_features(of), vdim = value_features(of);
  const std::int64_t dims = query.dim(), n = of.batch_first ? 0 : 1, s = 1 - n;
  bool fits = (dims == 2 || dims == 3) && key.dim() == dims && value.dim() == dims &&
              query.size(-1) == e && key.size(-1) == kdim && value.size(-1) == vdim;
  fits = fits && key.size(dims == 3 ? s : 0) == value.size(dims == 3 ? s : 0);
  if (fits && dims == 3) fits = query.size(n) == key.size(n) && key.size(n) == value.size(n);
  if (fits) return;
  const bool first = of.batch_first;
  const std::string expected = nn::detail::text(
      first ? "query [n, l, " : "query [l, n, ", e, first ? "], key [n, s, " : "], key [s, n, ",
      kdim, first ? "] and value [n, s, " : "] and value [s, n, ", vdim, "]");
  halfgrad::detail::fail(kName, "expected {}, or all without n, got {}, {} and {}", expected,
                         query.sizes(), key.sizes(), value.sizes());
}

// The projection of the query (part 0), the key (1) or the value (2).
Tensor project(const Tensor& input, std::int64_t part, const Arguments& of) {
  const std::int64_t first = part * of.embed_dim_to_check, last = first + of.embed_dim_to_check;
  const Tensor own[] = {of.q_proj_weight, of.k_proj_weight, of.v_proj_weight};
  const Tensor weight =
      of.use_separate_proj_weight ? own[part] : of.in_proj_weight.slice(0, first, last);
  return linear(input, weight,
                of.in_proj_bias.defined() ? of.in_proj_bias.slice(0, first, last) : Tensor());
}

// The projections of inputs [n, l, features]; one product if all three are the same.
std::array<Tensor, 3> project_all(const std::array<Tensor, 3>& inputs, bool are_same,
                                  const Arguments& of) {
  if (of.use_separate_proj_weight || !are_same) {
    return {project(inputs[0], 0, of), project(inputs[1], 1, of), project(inputs[2], 2, of)};
  }
  const std::vector<Tensor> chunks =
      chunk(linear(inputs[0], of.in_proj_weight, of.in_proj_bias), 3, -1);
  return {chunks[0], chunks[1], chunks[2]};
}

// Appends the keys and values that the options ask for to the projected ones, [n, s, e].
void add_keys(Tensor& key, Tensor& value, const Arguments& of) {
  const Shape one_each{key.size(0), 1, of.embed_dim_to_check};
  if (of.bias_k.defined()) {
    key = cat({key, of.bias_k.to(key.dtype()).expand(one_each)}, 1);
    value = cat({value, of.bias_v.to(value.dtype()).expand(one_each)}, 1);
  }
  if (of.add_zero_attn) {
    key = cat({key, key.new_zeros(one_each)}, 1);
    value = cat({value, value.new_zeros(one_each)}, 1);
  }
}

// [n, l, e] to [n, num_heads, l, e / num_heads], which shares the elements.
Tensor heads(const Tensor& projected, const Arguments& of) {
  return projected
      .reshape({projected.size(0), projected.size(1), of.num_heads,
                of.embed_dim_to_check / of.num_heads})
      .transpose(1, 2);
}

// Returns the mask as a summand of the scores: -inf where a bool mask is true.
Tensor added(const Tensor& mask, DType dtype) {
  if (mask.dtype() != kBool) return mask.to(dtype);
  const Tensor zero = zeros(mask.sizes(), {.dtype = dtype, .device = mask.device()});
  return masked_fill(zero, mask, -std::numeric_limits<double>::infinity());
}

// The masks together: true where a key is hidden if both are bool, else a summand of the scores
// [n, num_heads, l, s].
Tensor mask_of(const Arguments& of, const Shape& scores, DType dtype) {
  Tensor padding = of.key_padding_mask, mask = of.attn_mask;
  if (padding.defined()) {
    const bool fits = padding.sizes() == Shape{scores[0], scores[3]} ||
                      (scores[0] == 1 && padding.sizes() == Shape{scores[3]});
    if (!fits) {
      halfgrad::detail::fail(kName, "expected key_padding_mask {}, got {}",
                             Shape{scores[0], scores[3]}, padding.sizes());
    }
    padding = padding.reshape({scores[0], 1, 1, scores[3]});
  }
  if (mask.defined()) {
    const Shape of_heads{scores[0] * scores[1], scores[2], scores[3]};
    if (mask.sizes() != Shape{scores[2], scores[3]} && mask.sizes() != of_heads) {
      halfgrad::detail::fail(kName, "expected attn_mask {} or {}, got {}",
                             Shape{scores[2], scores[3]}, of_heads, mask.sizes());
    }
    if (mask.dim() == 3) mask = mask.reshape(scores);
  }
  if (!padding.defined() || !mask.defined()) return padding.defined() ? padding : mask;
  const bool both = padding.dtype() == kBool && mask.dtype() == kBool;
  return both ? logical_or(padding, mask) : added(padding, dtype) + added(mask, dtype);
}

// Appends `count` keys that the mask does not hide.
Tensor with_seen_keys(const Tensor& mask, std::int64_t count) {
  if (count == 0 || !mask.defined()) return mask;
  Shape sizes = mask.sizes();
  sizes[sizes.size() - 1] = count;
  return cat({mask, mask.new_zeros(sizes)}, -1);
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                        const Tensor& value,
                                                        const Arguments& options) {
  expect_weights(options);
  expect_inputs(query, key, value, options);
  const bool one = query.dim() == 2;
  const auto batch = [&](const Tensor& x) {
    return one ? x.unsqueeze(0) : options.batch_first ? x : x.transpose(0, 1);
  };
  std::array<Tensor, 3> parts = project_all({batch(query), batch(key), batch(value)},
                                            query.is_same(key) && key.is_same(value), options);
  const Shape given{parts[0].size(0), options.num_heads, parts[0].size(1), parts[1].size(1)};
  Tensor mask = mask_of(options, given, parts[0].dtype());
  add_keys(parts[1], parts[2], options);
  mask = with_seen_keys(mask, parts[1].size(1) - given[3]);

  for (Tensor& part : parts) part = heads(part, options);
  const auto& [q, k, v] = parts;
  const double p = options.training ? options.dropout_p : 0;
  Tensor mixed, weights;
  if (options.need_weights) {
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
    Tensor scores = matmul(q * scale, k.transpose(-2, -1));
    if (mask.defined()) scores = scores + added(mask, scores.dtype());
    weights = dropout(softmax(scores, -1), p, true);
    mixed = matmul(weights, v);
    if (options.average_attn_weights) weights = mean(weights, Shape{1});
    if (one) weights = weights.squeeze(0);
  } else {
    const bool hides = mask.defined() && mask.dtype() == kBool;
    mixed = scaled_dot_product_attention(q, k, v, hides ? logical_not(mask) : mask, p);
  }
  const Tensor joined =
      mixed.transpose(1, 2).reshape({q.size(0), q.size(2), options.embed_dim_to_check});
  const Tensor output = linear(joined, options.out_proj_weight, options.out_proj_bias);
  return {one ? output.squeeze(0) : options.batch_first ? output : output.transpose(0, 1), weights};
}

}  // namespace halfgrad::nn::functional
