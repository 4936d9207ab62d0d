#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/compat/option.h>
#include <halfgrad/nn/nn.h>

/// libtorch's options of layers: `nn::Linear(nn::LinearOptions(2, 3).bias(false))`. Each converts
/// to the layer that it describes.
namespace halfgrad::nn {
class LinearOptions {
 public:
  LinearOptions(std::int64_t in_features, std::int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  operator Linear() const { return Linear(in_features_, out_features_, {.bias = bias_}); }

  TORCH_ARG(std::int64_t, in_features);
  TORCH_ARG(std::int64_t, out_features);
  TORCH_ARG(bool, bias) = true;
};

class FlattenOptions {
 public:
  operator Flatten() const { return Flatten(start_dim_, end_dim_); }

  TORCH_ARG(std::int64_t, start_dim) = 1;
  TORCH_ARG(std::int64_t, end_dim) = -1;
};

class EmbeddingOptions {
 public:
  EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  operator Embedding() const;

  TORCH_ARG(std::int64_t, num_embeddings);
  TORCH_ARG(std::int64_t, embedding_dim);
  TORCH_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  TORCH_ARG(double, norm_type) = 2;
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  TORCH_ARG(bool, sparse) = false;
  TORCH_ARG(Tensor, _weight) = {};
};

/// Options of Embedding::from_pretrained().
class EmbeddingFromPretrainedOptions {
 public:
  operator EmbeddingFromPretrainedArguments() const;

  TORCH_ARG(bool, freeze) = true;
  TORCH_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  TORCH_ARG(double, norm_type) = 2;
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  TORCH_ARG(bool, sparse) = false;
};

class LayerNormOptions {
 public:
  LayerNormOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  operator LayerNorm() const {
    return LayerNorm(Shape(normalized_shape_),
                     {.eps = eps_, .elementwise_affine = elementwise_affine_});
  }

  TORCH_ARG(std::vector<std::int64_t>, normalized_shape);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(bool, elementwise_affine) = true;
};

class GroupNormOptions {
 public:
  GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  operator GroupNorm() const {
    return GroupNorm(num_groups_, num_channels_, {.eps = eps_, .affine = affine_});
  }

  TORCH_ARG(std::int64_t, num_groups);
  TORCH_ARG(std::int64_t, num_channels);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(bool, affine) = true;
};

class MultiheadAttentionOptions {
 public:
  MultiheadAttentionOptions(std::int64_t embed_dim, std::int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads) {}
  operator MultiheadAttention() const;

  TORCH_ARG(std::int64_t, embed_dim);
  TORCH_ARG(std::int64_t, num_heads);
  TORCH_ARG(double, dropout) = 0;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(bool, add_bias_kv) = false;
  TORCH_ARG(bool, add_zero_attn) = false;
  TORCH_ARG(std::optional<std::int64_t>, kdim) = std::nullopt;
  TORCH_ARG(std::optional<std::int64_t>, vdim) = std::nullopt;
};

class BatchNormOptions {
 public:
  BatchNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  operator BatchNorm1d() const {
    return BatchNorm1d(num_features_, {.eps = eps_,
                                       .momentum = momentum_,
                                       .affine = affine_,
                                       .track_running_stats = track_running_stats_});
  }

  TORCH_ARG(std::int64_t, num_features);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(std::optional<double>, momentum) = 0.1;
  TORCH_ARG(bool, affine) = true;
  TORCH_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;

class DropoutOptions {
 public:
  DropoutOptions(double p = 0.5) : p_(p) {}
  operator Dropout() const { return Dropout(p_, inplace_); }

  TORCH_ARG(double, p);
  TORCH_ARG(bool, inplace) = false;
};

// --- Activations ---
class ReLUOptions {
 public:
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  operator ReLU() const { return ReLU(inplace_); }

  TORCH_ARG(bool, inplace);
};

class LeakyReLUOptions {
 public:
  operator LeakyReLU() const { return LeakyReLU(negative_slope_, inplace_); }

  TORCH_ARG(double, negative_slope) = 0.01;
  TORCH_ARG(bool, inplace) = false;
};

class ELUOptions {
 public:
  operator ELU() const { return ELU(alpha_, inplace_); }

  TORCH_ARG(double, alpha) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};

class GELUOptions {
 public:
  operator GELU() const { return GELU(approximate_); }

  TORCH_ARG(std::string, approximate) = "none";
};

class SoftplusOptions {
 public:
  operator Softplus() const { return Softplus(beta_, threshold_); }

  TORCH_ARG(double, beta) = 1.0;
  TORCH_ARG(double, threshold) = 20.0;
};

class SoftmaxOptions {
 public:
  SoftmaxOptions(std::int64_t dim) : dim_(dim) {}
  operator Softmax() const { return Softmax(dim_); }

  TORCH_ARG(std::int64_t, dim);
};

class LogSoftmaxOptions {
 public:
  LogSoftmaxOptions(std::int64_t dim) : dim_(dim) {}
  operator LogSoftmax() const { return LogSoftmax(dim_); }

  TORCH_ARG(std::int64_t, dim);
};

}  // namespace halfgrad::nn
