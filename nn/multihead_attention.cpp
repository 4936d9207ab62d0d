#include <halfgrad/nn/multihead_attention.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/copy_state.h>
#include <halfgrad/nn/init.h>

namespace halfgrad::nn {
namespace {

constexpr const char* kMultiheadName = "MultiheadAttention";

MultiheadAttentionArguments with_sizes(std::int64_t embed_dim, std::int64_t num_heads,
                                       MultiheadAttentionArguments options) {
  if (embed_dim <= 0 || num_heads <= 0 || embed_dim % num_heads != 0) {
    halfgrad::detail::fail(kMultiheadName,
                           "expected a positive embed_dim that num_heads divides, got {} and {}",
                           embed_dim, num_heads);
  }
  options.kdim = options.kdim.value_or(embed_dim);
  options.vdim = options.vdim.value_or(embed_dim);
  return options;
}

// Returns the mask as a summand of the scores: -inf where a bool mask is true.
Tensor added(const Tensor& mask, DType dtype) {
  if (mask.dtype() != kBool) return mask.to(dtype);
  const Tensor zero = zeros(mask.sizes(), {.dtype = dtype, .device = mask.device()});
  return masked_fill(zero, mask, -std::numeric_limits<double>::infinity());
}

// Appends `count` keys that the mask does not hide.
Tensor with_seen_keys(const Tensor& mask, std::int64_t count) {
  if (count == 0) return mask;
  Shape sizes = mask.sizes();
  sizes[sizes.size() - 1] = count;
  return cat({mask, mask.new_zeros(sizes)}, -1);
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       MultiheadAttentionArguments options)
    : Callable(kMultiheadName,
               detail::text(embed_dim, ", ", num_heads, ", dropout=", options.dropout,
                            ", bias=", options.bias, ", batch_first=", options.batch_first)),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(with_sizes(embed_dim, num_heads, options)) {
  const auto parameter = [&](const char* name, const Shape& sizes) {
    return register_parameter(name, Tensor(Array::empty(sizes, options.dtype, options.device)));
  };
  if (*options_.kdim == embed_dim && *options_.vdim == embed_dim) {
    in_proj_weight = parameter("in_proj_weight", {3 * embed_dim, embed_dim});
  } else {
    q_proj_weight = parameter("q_proj_weight", {embed_dim, embed_dim});
    k_proj_weight = parameter("k_proj_weight", {embed_dim, *options_.kdim});
    v_proj_weight = parameter("v_proj_weight", {embed_dim, *options_.vdim});
  }
  if (options.bias) in_proj_bias = parameter("in_proj_bias", {3 * embed_dim});
  out_proj = register_module(
      "out_proj", Linear(embed_dim, embed_dim,
                         {.bias = options.bias, .dtype = options.dtype, .device = options.device}));
  if (options.add_bias_kv) {
    bias_k = parameter("bias_k", {1, 1, embed_dim});
    bias_v = parameter("bias_v", {1, 1, embed_dim});
  }
  reset_parameters();
}

void MultiheadAttention::reset_parameters() {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
    if (weight.defined()) init::xavier_uniform_(weight);
  }
  for (const Tensor& row : {bias_k, bias_v}) {
    if (row.defined()) init::xavier_normal_(row);
  }
  if (!in_proj_bias.defined()) return;
  init::zeros_(in_proj_bias);
  init::zeros_(out_proj.bias);
}

std::shared_ptr<Module> MultiheadAttention::clone(const std::optional<Device>& device) const {
  MultiheadAttentionArguments options = options_;
  options.dtype = out_proj.weight.dtype();
  options.device = device.value_or(out_proj.weight.device());
  const auto copy = std::make_shared<MultiheadAttention>(embed_dim_, num_heads_, options);
  detail::copy_state(*this, *copy);
  return copy;
}

void MultiheadAttention::expect_inputs(const Tensor& query, const Tensor& key,
                                       const Tensor& value) const {
  const std::int64_t dims = query.dim(), n = options_.batch_first ? 0 : 1, s = 1 - n;
  bool fits = (dims == 2 || dims == 3) && key.dim() == dims && value.dim() == dims &&
              query.size(-1) == embed_dim_ && key.size(-1) == *options_.kdim &&
              value.size(-1) == *options_.vdim;
  fits = fits && key.size(dims == 3 ? s : 0) == value.size(dims == 3 ? s : 0);
  if (fits && dims == 3) fits = query.size(n) == key.size(n) && key.size(n) == value.size(n);
  if (fits) return;
  const bool first = options_.batch_first;
  const std::string expected =
      detail::text(first ? "query [n, l, " : "query [l, n, ", embed_dim_,
                   first ? "], key [n, s, " : "], key [s, n, ", *options_.kdim,
                   first ? "] and value [n, s, " : "] and value [s, n, ", *options_.vdim, "]");
  halfgrad::detail::fail(kMultiheadName, "expected {}, or all without n, got {}, {} and {}",
                         expected, query.sizes(), key.sizes(), value.sizes());
}

// The projection of the query (part 0), the key (1) or the value (2).
Tensor MultiheadAttention::project(const Tensor& input, std::int64_t part) const {
  const std::int64_t first = part * embed_dim_, last = first + embed_dim_;
  const Tensor own[] = {q_proj_weight, k_proj_weight, v_proj_weight};
  const Tensor weight = in_proj_weight.defined() ? in_proj_weight.slice(0, first, last) : own[part];
  return linear(input, weight,
                in_proj_bias.defined() ? in_proj_bias.slice(0, first, last) : Tensor());
}

// [n, l, embed_dim] to [n, num_heads, l, embed_dim / num_heads], which shares the elements.
Tensor MultiheadAttention::heads(const Tensor& projected) const {
  return projected
      .reshape({projected.size(0), projected.size(1), num_heads_, embed_dim_ / num_heads_})
      .transpose(1, 2);
}

// Appends the keys and values that the options ask for to the projected ones, [n, s, embed_dim].
void MultiheadAttention::add_keys(Tensor& key, Tensor& value) const {
  const Shape one_each{key.size(0), 1, embed_dim_};
  if (options_.add_bias_kv) {
    key = cat({key, bias_k.to(key.dtype()).expand(one_each)}, 1);
    value = cat({value, bias_v.to(value.dtype()).expand(one_each)}, 1);
  }
  if (options_.add_zero_attn) {
    key = cat({key, key.new_zeros(one_each)}, 1);
    value = cat({value, value.new_zeros(one_each)}, 1);
  }
}

// The masks together: true where a key is hidden if both are bool, else a summand of the scores
// [n, num_heads, l, s].
Tensor MultiheadAttention::mask_of(const Tensor& key_padding_mask, const Tensor& attn_mask,
                                   const Shape& scores, DType dtype) const {
  Tensor padding = key_padding_mask, mask = attn_mask;
  if (padding.defined()) {
    const bool fits = padding.sizes() == Shape{scores[0], scores[3]} ||
                      (scores[0] == 1 && padding.sizes() == Shape{scores[3]});
    if (!fits) {
      halfgrad::detail::fail(kMultiheadName, "expected key_padding_mask {}, got {}",
                             Shape{scores[0], scores[3]}, padding.sizes());
    }
    padding = padding.reshape({scores[0], 1, 1, scores[3]});
  }
  if (mask.defined()) {
    const Shape of_heads{scores[0] * scores[1], scores[2], scores[3]};
    if (mask.sizes() != Shape{scores[2], scores[3]} && mask.sizes() != of_heads) {
      halfgrad::detail::fail(kMultiheadName, "expected attn_mask {} or {}, got {}",
                             Shape{scores[2], scores[3]}, of_heads, mask.sizes());
    }
    if (mask.dim() == 3) mask = mask.reshape(scores);
  }
  if (!padding.defined() || !mask.defined()) return padding.defined() ? padding : mask;
  const bool both = padding.dtype() == kBool && mask.dtype() == kBool;
  return both ? logical_or(padding, mask) : added(padding, dtype) + added(mask, dtype);
}

std::tuple<Tensor, Tensor> MultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                                       const Tensor& value,
                                                       const Tensor& key_padding_mask,
                                                       bool need_weights, const Tensor& attn_mask,
                                                       bool average_attn_weights) const {
  expect_inputs(query, key, value);
  const bool one = query.dim() == 2;
  // [n, l, features]
  const auto batch = [&](const Tensor& x) {
    return one ? x.unsqueeze(0) : options_.batch_first ? x : x.transpose(0, 1);
  };
  std::array<Tensor, 3> parts;
  if (in_proj_weight.defined() && query.is_same(key) && key.is_same(value)) {
    const std::vector<Tensor> chunks =
        chunk(linear(batch(query), in_proj_weight, in_proj_bias), 3, -1);
    std::copy(chunks.begin(), chunks.end(), parts.begin());
  } else {
    parts = {project(batch(query), 0), project(batch(key), 1), project(batch(value), 2)};
  }
  const Shape given{parts[0].size(0), num_heads_, parts[0].size(1), parts[1].size(1)};
  Tensor mask = mask_of(key_padding_mask, attn_mask, given, parts[0].dtype());
  add_keys(parts[1], parts[2]);
  if (mask.defined()) mask = with_seen_keys(mask, parts[1].size(1) - given[3]);
  for (Tensor& part : parts) part = heads(part);
  const auto& [q, k, v] = parts;
  const double p = is_training() ? options_.dropout : 0;
  Tensor mixed, weights;
  if (need_weights) {
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
    Tensor scores = matmul(q * scale, k.transpose(-2, -1));
    if (mask.defined()) scores = scores + added(mask, scores.dtype());
    weights = dropout(softmax(scores, -1), p, true);
    mixed = matmul(weights, v);
    if (average_attn_weights) weights = mean(weights, Shape{1});
    if (one) weights = weights.squeeze(0);
  } else {
    const bool hides = mask.defined() && mask.dtype() == kBool;
    mixed = scaled_dot_product_attention(q, k, v, hides ? logical_not(mask) : mask, p);
  }
  const Tensor output = out_proj(mixed.transpose(1, 2).reshape({q.size(0), q.size(2), embed_dim_}));
  return {one                    ? output.squeeze(0)
          : options_.batch_first ? output
                                 : output.transpose(0, 1),
          weights};
}

}  // namespace halfgrad::nn
