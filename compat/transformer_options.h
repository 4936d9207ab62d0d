#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <utility>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/compat/any_module.h>
#include <halfgrad/compat/option.h>
#include <halfgrad/nn/transformer.h>

/// libtorch's options of the Transformer's modules: `nn::TransformerEncoderLayer(
/// nn::TransformerEncoderLayerOptions(512, 8).dropout(0.1))`. Each converts to the module.
namespace halfgrad {
namespace enumtype {

/// The activation gelu as a function; kReLU is a Nonlinearity (nn/init.h).
struct kGELU {  // NOLINT(readability-identifier-naming): libtorch's name
  Tensor operator()(const Tensor& x) const { return gelu(x); }
};

}  // namespace enumtype

inline constexpr enumtype::kGELU kGELU{};

namespace nn {

/// Options of a layer of the encoder or of the decoder.
template <class Layer>
class TransformerLayerOptions {
 public:
  TransformerLayerOptions(std::int64_t d_model, std::int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}
  operator Layer() const {
    return Layer(
        d_model_, nhead_,
        {.dim_feedforward = dim_feedforward_, .dropout = dropout_, .activation = activation_});
  }

  TORCH_ARG(std::int64_t, d_model);
  TORCH_ARG(std::int64_t, nhead);
  TORCH_ARG(std::int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(TransformerActivation, activation) = {};
};
using TransformerEncoderLayerOptions = TransformerLayerOptions<TransformerEncoderLayer>;
using TransformerDecoderLayerOptions = TransformerLayerOptions<TransformerDecoderLayer>;

/// Options of the encoder or of the decoder: copies of a layer, or of one with these options.
template <class Stack, class Layer>
class TransformerStackOptions {
 public:
  TransformerStackOptions(Layer layer, std::int64_t num_layers)
      : layer_(std::move(layer)), num_layers_(num_layers) {}
  /// Throws std::invalid_argument for a norm other than nn::LayerNorm.
  operator Stack() const {
    return Stack(layer_, num_layers_,
                 norm_.is_empty() ? LayerNorm(nullptr) : norm_.template get<LayerNorm>());
  }

  TORCH_ARG(Layer, layer);
  TORCH_ARG(std::int64_t, num_layers);
  TORCH_ARG(AnyModule, norm) = {};
};
using TransformerEncoderOptions =
    TransformerStackOptions<TransformerEncoder, TransformerEncoderLayer>;
using TransformerDecoderOptions =
    TransformerStackOptions<TransformerDecoder, TransformerDecoderLayer>;

class TransformerOptions {
 public:
  TransformerOptions() = default;
  TransformerOptions(std::int64_t d_model, std::int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(std::int64_t d_model, std::int64_t nhead, std::int64_t num_encoder_layers,
                     std::int64_t num_decoder_layers)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}
  /// Throws std::invalid_argument for a custom encoder or decoder of another type.
  operator Transformer() const {
    TransformerArguments options{.num_encoder_layers = num_encoder_layers_,
                                 .num_decoder_layers = num_decoder_layers_,
                                 .dim_feedforward = dim_feedforward_,
                                 .dropout = dropout_,
                                 .activation = activation_};
    if (!custom_encoder_.is_empty()) {
      options.custom_encoder = custom_encoder_.get<TransformerEncoder>();
    }
    if (!custom_decoder_.is_empty()) {
      options.custom_decoder = custom_decoder_.get<TransformerDecoder>();
    }
    return Transformer(d_model_, nhead_, options);
  }

  TORCH_ARG(std::int64_t, d_model) = 512;
  TORCH_ARG(std::int64_t, nhead) = 8;
  TORCH_ARG(std::int64_t, num_encoder_layers) = 6;
  TORCH_ARG(std::int64_t, num_decoder_layers) = 6;
  TORCH_ARG(std::int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(TransformerActivation, activation) = {};
  TORCH_ARG(AnyModule, custom_encoder) = {};
  TORCH_ARG(AnyModule, custom_decoder) = {};
};

}  // namespace nn
}  // namespace halfgrad
