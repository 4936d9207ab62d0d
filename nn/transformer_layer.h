#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/plain_names.h>
#include <halfgrad/nn/dropout.h>
#include <halfgrad/nn/init.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/nn/multihead_attention.h>
#include <halfgrad/nn/norm.h>

namespace halfgrad::nn {

/// The function between the two linear layers of a Transformer's layer: relu, or any function or
/// module from a tensor to one, such as `nn::GELU()`.
class TransformerActivation {
 public:
  using Function = std::function<Tensor(const Tensor&)>;

  TransformerActivation() : function_([](const Tensor& x) { return relu(x); }) {}
  template <class F>
  requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&> &&
           !std::same_as<F, TransformerActivation>) TransformerActivation(F function)
      : function_(std::move(function)) {}

  /// Throws std::invalid_argument unless it is kReLU: others are functions.
  TransformerActivation(Nonlinearity nonlinearity);

  Tensor operator()(const Tensor& x) const { return function_(x); }
  /// Replaces the function; libtorch's spelling of an assignment.
  void operator()(TransformerActivation other) { *this = std::move(other); }

 private:
  Function function_;
};

struct TransformerLayerArguments {
  std::int64_t dim_feedforward = 2048;  ///< features between the two linear layers
  double dropout = 0.1;                 ///< probability, in four places
  TransformerActivation activation = {};
  double layer_norm_eps = 1e-5;
  bool batch_first = false;  ///< `[n, l, d_model]` instead of `[l, n, d_model]`
  bool norm_first = false;   ///< normalizes the input of each part, not the sum after it
  bool bias = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
};
HALFGRAD_PLAIN_NAME(TransformerEncoderLayerOptions, TransformerLayerArguments)
HALFGRAD_PLAIN_NAME(TransformerDecoderLayerOptions, TransformerLayerArguments)

/// A layer of a Transformer's encoder (Vaswani et al. 2017): self-attention and a feed-forward
/// part, each with a residual connection and a LayerNorm:
///     x = norm1(src + attention(src, src, src))
///     output = norm2(x + linear2(activation(linear1(x))))
/// With norm_first (Xiong et al. 2020) each part gets norm(x), and the sums are not normalized.
/// Modules have PyTorch's names, so that each loads the other's state dict.
class TransformerEncoderLayer : public Callable<TransformerEncoderLayer> {
 public:
  template <std::same_as<std::nullptr_t> T>
  TransformerEncoderLayer(T empty) : Callable(empty) {}
  /// Throws std::invalid_argument unless nhead divides d_model.
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                          TransformerLayerArguments with_options = {});

  /// Returns `[l, n, d_model]`, the shape of src, or both without n. Masks are those of
  /// MultiheadAttention: src_mask `[l, l]` or `[n * nhead, l, l]`, src_key_padding_mask `[n, l]`.
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {}) const;
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  TransformerLayerArguments options;
  MultiheadAttention self_attn{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr};
  Dropout dropout1{nullptr}, dropout2{nullptr};

 private:
  std::int64_t d_model_ = 0, nhead_ = 0;
};

/// A layer of a Transformer's decoder: self-attention, attention to the encoder's output `memory`,
/// and a feed-forward part, each with a residual connection and a LayerNorm as above.
class TransformerDecoderLayer : public Callable<TransformerDecoderLayer> {
 public:
  template <std::same_as<std::nullptr_t> T>
  TransformerDecoderLayer(T empty) : Callable(empty) {}
  /// Throws std::invalid_argument unless nhead divides d_model.
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                          TransformerLayerArguments with_options = {});

  /// Returns the shape of tgt `[l, n, d_model]`; memory is `[s, n, d_model]`. tgt_mask is `[l, l]`
  /// and memory_mask `[l, s]`, or with n * nhead in front; the padding masks are `[n, l]` and
  /// `[n, s]`.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}) const;
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  TransformerLayerArguments options;
  MultiheadAttention self_attn{nullptr}, multihead_attn{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
  Dropout dropout1{nullptr}, dropout2{nullptr}, dropout3{nullptr};

 private:
  std::int64_t d_model_ = 0, nhead_ = 0;
};

}  // namespace halfgrad::nn
