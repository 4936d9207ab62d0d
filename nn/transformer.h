#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <halfgrad/nn/module.h>
#include <halfgrad/nn/norm.h>
#include <halfgrad/nn/transformer_layer.h>

namespace halfgrad::nn {

/// num_layers layers one after the other, and a norm at the end if one is given.
class TransformerEncoder : public Callable<TransformerEncoder> {
 public:
  template <std::same_as<std::nullptr_t> T>
  TransformerEncoder(T empty) : Callable(empty) {}
  /// The layers are copies of `layer`, so they begin with equal parameters, as in PyTorch.
  TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                     const LayerNorm& with_norm = nullptr);

  /// Returns the shape of src; every layer gets the masks.
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {}) const;
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  std::vector<TransformerEncoderLayer> layers;
  LayerNorm norm{nullptr};
};

/// num_layers layers one after the other, and a norm at the end if one is given.
class TransformerDecoder : public Callable<TransformerDecoder> {
 public:
  template <std::same_as<std::nullptr_t> T>
  TransformerDecoder(T empty) : Callable(empty) {}
  /// The layers are copies of `layer`, so they begin with equal parameters, as in PyTorch.
  TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                     const LayerNorm& with_norm = nullptr);

  /// Returns the shape of tgt; every layer gets `memory` and the masks.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}) const;
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  std::vector<TransformerDecoderLayer> layers;
  LayerNorm norm{nullptr};
};

struct TransformerArguments {
  std::int64_t num_encoder_layers = 6;
  std::int64_t num_decoder_layers = 6;
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  TransformerActivation activation = {};
  TransformerEncoder custom_encoder = nullptr;  ///< instead of layers with these options
  TransformerDecoder custom_decoder = nullptr;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
};
HALFGRAD_PLAIN_NAME(TransformerOptions, TransformerArguments)

/// Encoder and decoder of Vaswani et al. (2017), without embeddings and output layer. Weights are
/// drawn as Glorot and Bengio.
class Transformer : public Callable<Transformer> {
 public:
  using Impl = Transformer;  ///< libtorch's name for the class that its holder points to

  template <std::same_as<std::nullptr_t> T>
  Transformer(T empty) : Callable(empty) {}
  explicit Transformer(std::int64_t d_model = 512, std::int64_t nhead = 8,
                       TransformerArguments with_options = {});

  /// Returns `[t, n, d_model]` for src `[s, n, d_model]` and tgt `[t, n, d_model]`; n comes first
  /// with batch_first, and may be absent. Throws std::invalid_argument for other shapes.
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}) const;
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  /// `[sz, sz]`: 0 on and below the diagonal, -inf above it, so that a position sees no later one.
  static Tensor generate_square_subsequent_mask(std::int64_t sz,
                                                const CreationOptions& options = {});

  TransformerArguments options;
  TransformerEncoder encoder{nullptr};
  TransformerDecoder decoder{nullptr};

 private:
  void expect_inputs(const Tensor& src, const Tensor& tgt) const;

  std::int64_t d_model_ = 0, nhead_ = 0;
};

}  // namespace halfgrad::nn
