#include <halfgrad/nn/transformer.h>

#include <limits>
#include <string>
#include <utility>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/copy_state.h>
#include <halfgrad/nn/init.h>

namespace halfgrad::nn {
namespace {

template <class Layer>
Layer cloned(const Layer& layer, const std::optional<Device>& device = std::nullopt) {
  return layer.is_empty() ? Layer(nullptr) : *layer.clone(device)->template as<Layer>();
}

// Registers `count` copies of `layer` in `stack` as "layers.0", "layers.1", ...
template <class Layer>
std::vector<Layer> copies_in(Module& stack, const Layer& layer, std::int64_t count) {
  if (count < 1) {
    halfgrad::detail::fail(stack.name(), "expected at least one layer, got {}", count);
  }
  std::vector<Layer> layers;
  Module list = stack.register_module("layers", Module("ModuleList"));
  for (std::int64_t i = 0; i < count; ++i) {
    layers.push_back(list.register_module(std::to_string(i), cloned(layer)));
  }
  return layers;
}

// A stack of as many layers as `stack`, with its parameters, on `device` if one is given.
template <class Stack>
std::shared_ptr<Module> copy_of_stack(const Stack& stack, const std::optional<Device>& device) {
  const auto copy = std::make_shared<Stack>(cloned(stack.layers.front(), device),
                                            static_cast<std::int64_t>(stack.layers.size()),
                                            cloned(stack.norm, device));
  detail::copy_state(stack, *copy);
  return copy;
}

TransformerLayerArguments layer_options(const TransformerArguments& options) {
  return {.dim_feedforward = options.dim_feedforward,
          .dropout = options.dropout,
          .activation = options.activation,
          .layer_norm_eps = options.layer_norm_eps,
          .batch_first = options.batch_first,
          .norm_first = options.norm_first,
          .bias = options.bias,
          .dtype = options.dtype,
          .device = options.device};
}

LayerNorm last_norm(std::int64_t d_model, const TransformerArguments& options) {
  return LayerNorm({d_model}, {.eps = options.layer_norm_eps,
                               .bias = options.bias,
                               .dtype = options.dtype,
                               .device = options.device});
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer,
                                       std::int64_t num_layers, const LayerNorm& with_norm)
    : Callable("TransformerEncoder"), layers(copies_in(*this, layer, num_layers)) {
  if (!with_norm.is_empty()) norm = register_module("norm", with_norm);
}

Tensor TransformerEncoder::forward(const Tensor& src, const Tensor& src_mask,
                                   const Tensor& src_key_padding_mask) const {
  Tensor x = src;
  for (const auto& layer : layers) x = layer(x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm(x);
}

void TransformerEncoder::reset_parameters() {
  for (auto& layer : layers) layer.reset_parameters();
  if (!norm.is_empty()) norm.reset_parameters();
}

std::shared_ptr<Module> TransformerEncoder::clone(const std::optional<Device>& device) const {
  return copy_of_stack(*this, device);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer,
                                       std::int64_t num_layers, const LayerNorm& with_norm)
    : Callable("TransformerDecoder"), layers(copies_in(*this, layer, num_layers)) {
  if (!with_norm.is_empty()) norm = register_module("norm", with_norm);
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                   const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                   const Tensor& memory_key_padding_mask) const {
  Tensor x = tgt;
  for (const auto& layer : layers) {
    x = layer(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  }
  return norm.is_empty() ? x : norm(x);
}

void TransformerDecoder::reset_parameters() {
  for (auto& layer : layers) layer.reset_parameters();
  if (!norm.is_empty()) norm.reset_parameters();
}

std::shared_ptr<Module> TransformerDecoder::clone(const std::optional<Device>& device) const {
  return copy_of_stack(*this, device);
}

Transformer::Transformer(std::int64_t d_model, std::int64_t nhead,
                         TransformerArguments with_options)
    : Callable("Transformer"), options(std::move(with_options)), d_model_(d_model), nhead_(nhead) {
  encoder = options.custom_encoder;
  if (encoder.is_empty()) {
    encoder = TransformerEncoder(TransformerEncoderLayer(d_model, nhead, layer_options(options)),
                                 options.num_encoder_layers, last_norm(d_model, options));
  }
  decoder = options.custom_decoder;
  if (decoder.is_empty()) {
    decoder = TransformerDecoder(TransformerDecoderLayer(d_model, nhead, layer_options(options)),
                                 options.num_decoder_layers, last_norm(d_model, options));
  }
  register_module("encoder", encoder);
  register_module("decoder", decoder);
  reset_parameters();
}

void Transformer::reset_parameters() {
  for (const Tensor& parameter : parameters()) {
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
  }
}

void Transformer::expect_inputs(const Tensor& src, const Tensor& tgt) const {
  const std::int64_t dims = src.dim(), n = options.batch_first ? 0 : 1;
  bool fits = (dims == 2 || dims == 3) && tgt.dim() == dims && src.size(-1) == d_model_ &&
              tgt.size(-1) == d_model_;
  if (fits && dims == 3) fits = src.size(n) == tgt.size(n);
  if (fits) return;
  halfgrad::detail::fail("Transformer", "expected src {}, {}] and tgt {}, {}], got {} and {}",
                         options.batch_first ? "[n, s" : "[s, n", d_model_,
                         options.batch_first ? "[n, t" : "[t, n", d_model_, src.sizes(),
                         tgt.sizes());
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask,
                            const Tensor& tgt_mask, const Tensor& memory_mask,
                            const Tensor& src_key_padding_mask, const Tensor& tgt_key_padding_mask,
                            const Tensor& memory_key_padding_mask) const {
  expect_inputs(src, tgt);
  const Tensor memory = encoder(src, src_mask, src_key_padding_mask);
  return decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

std::shared_ptr<Module> Transformer::clone(const std::optional<Device>& device) const {
  TransformerArguments copied = options;
  copied.custom_encoder = cloned(encoder, device);
  copied.custom_decoder = cloned(decoder, device);
  const auto copy = std::make_shared<Transformer>(d_model_, nhead_, copied);
  detail::copy_state(*this, *copy);
  return copy;
}

Tensor Transformer::generate_square_subsequent_mask(std::int64_t sz,
                                                    const CreationOptions& options) {
  if (sz < 0) {
    halfgrad::detail::fail("generate_square_subsequent_mask", "expected sz >= 0, got {}", sz);
  }
  return full({sz, sz}, -std::numeric_limits<double>::infinity(), options).triu(1);
}

}  // namespace halfgrad::nn
