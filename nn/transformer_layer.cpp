#include <halfgrad/nn/transformer_layer.h>

#include <tuple>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/copy_state.h>

namespace halfgrad::nn {
namespace {

using Options = TransformerLayerArguments;

MultiheadAttention attention(std::int64_t d_model, std::int64_t nhead, const Options& options) {
  return MultiheadAttention(d_model, nhead,
                            {.dropout = options.dropout,
                             .bias = options.bias,
                             .batch_first = options.batch_first,
                             .dtype = options.dtype,
                             .device = options.device});
}

Linear linear_layer(std::int64_t in, std::int64_t out, const Options& options) {
  return Linear(in, out, {.bias = options.bias, .dtype = options.dtype, .device = options.device});
}

LayerNorm norm(std::int64_t d_model, const Options& options) {
  return LayerNorm({d_model}, {.eps = options.layer_norm_eps,
                               .bias = options.bias,
                               .dtype = options.dtype,
                               .device = options.device});
}

// x + part(x), with the norm before the part or after the sum.
template <class Part>
Tensor with_residual(const Tensor& x, const LayerNorm& norm, bool norm_first, const Part& part) {
  return norm_first ? x + part(norm(x)) : norm(x + part(x));
}

// The output of an attention without its weights, so that it is one op that does not store them.
Tensor attended(const MultiheadAttention& attention, const Tensor& query, const Tensor& memory,
                const Tensor& mask, const Tensor& key_padding_mask) {
  return std::get<0>(attention(query, memory, memory, key_padding_mask, false, mask));
}

template <class Layer>
Tensor feed_forward(const Layer& layer, const Tensor& x) {
  return layer.linear2(layer.dropout(layer.options.activation(layer.linear1(x))));
}

// A copy with the dtype that the layer has now, on `device` if one is given.
template <class Layer>
std::shared_ptr<Module> copy_of(const Layer& layer, std::int64_t d_model, std::int64_t nhead,
                                const std::optional<Device>& device) {
  Options options = layer.options;
  options.dtype = layer.linear1.weight.dtype();
  options.device = device.value_or(layer.linear1.weight.device());
  const auto copy = std::make_shared<Layer>(d_model, nhead, options);
  detail::copy_state(layer, *copy);
  return copy;
}

}  // namespace

TransformerActivation::TransformerActivation(Nonlinearity nonlinearity) : TransformerActivation() {
  if (nonlinearity == kReLU) return;
  halfgrad::detail::fail("TransformerActivation",
                         "expected kReLU or a function, got another nonlinearity");
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 TransformerLayerArguments with_options)
    : Callable("TransformerEncoderLayer"),
      options(std::move(with_options)),
      d_model_(d_model),
      nhead_(nhead) {
  self_attn = register_module("self_attn", attention(d_model, nhead, options));
  linear1 = register_module("linear1", linear_layer(d_model, options.dim_feedforward, options));
  dropout = register_module("dropout", Dropout(options.dropout));
  linear2 = register_module("linear2", linear_layer(options.dim_feedforward, d_model, options));
  norm1 = register_module("norm1", norm(d_model, options));
  norm2 = register_module("norm2", norm(d_model, options));
  dropout1 = register_module("dropout1", Dropout(options.dropout));
  dropout2 = register_module("dropout2", Dropout(options.dropout));
}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const Tensor& src_mask,
                                        const Tensor& src_key_padding_mask) const {
  const Tensor x = with_residual(src, norm1, options.norm_first, [&](const Tensor& q) {
    return dropout1(attended(self_attn, q, q, src_mask, src_key_padding_mask));
  });
  return with_residual(x, norm2, options.norm_first,
                       [&](const Tensor& y) { return dropout2(feed_forward(*this, y)); });
}

void TransformerEncoderLayer::reset_parameters() {
  self_attn.reset_parameters();
  for (Linear* layer : {&linear1, &linear2}) layer->reset_parameters();
  for (LayerNorm* layer : {&norm1, &norm2}) layer->reset_parameters();
}

std::shared_ptr<Module> TransformerEncoderLayer::clone(const std::optional<Device>& device) const {
  return copy_of(*this, d_model_, nhead_, device);
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 TransformerLayerArguments with_options)
    : Callable("TransformerDecoderLayer"),
      options(std::move(with_options)),
      d_model_(d_model),
      nhead_(nhead) {
  self_attn = register_module("self_attn", attention(d_model, nhead, options));
  multihead_attn = register_module("multihead_attn", attention(d_model, nhead, options));
  linear1 = register_module("linear1", linear_layer(d_model, options.dim_feedforward, options));
  dropout = register_module("dropout", Dropout(options.dropout));
  linear2 = register_module("linear2", linear_layer(options.dim_feedforward, d_model, options));
  norm1 = register_module("norm1", norm(d_model, options));
  norm2 = register_module("norm2", norm(d_model, options));
  norm3 = register_module("norm3", norm(d_model, options));
  dropout1 = register_module("dropout1", Dropout(options.dropout));
  dropout2 = register_module("dropout2", Dropout(options.dropout));
  dropout3 = register_module("dropout3", Dropout(options.dropout));
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory,
                                        const Tensor& tgt_mask, const Tensor& memory_mask,
                                        const Tensor& tgt_key_padding_mask,
                                        const Tensor& memory_key_padding_mask) const {
  const Tensor x = with_residual(tgt, norm1, options.norm_first, [&](const Tensor& q) {
    return dropout1(attended(self_attn, q, q, tgt_mask, tgt_key_padding_mask));
  });
  const Tensor y = with_residual(x, norm2, options.norm_first, [&](const Tensor& q) {
    return dropout2(attended(multihead_attn, q, memory, memory_mask, memory_key_padding_mask));
  });
  return with_residual(y, norm3, options.norm_first,
                       [&](const Tensor& z) { return dropout3(feed_forward(*this, z)); });
}

void TransformerDecoderLayer::reset_parameters() {
  for (MultiheadAttention* layer : {&self_attn, &multihead_attn}) layer->reset_parameters();
  for (Linear* layer : {&linear1, &linear2}) layer->reset_parameters();
  for (LayerNorm* layer : {&norm1, &norm2, &norm3}) layer->reset_parameters();
}

std::shared_ptr<Module> TransformerDecoderLayer::clone(const std::optional<Device>& device) const {
  return copy_of(*this, d_model_, nhead_, device);
}

}  // namespace halfgrad::nn
