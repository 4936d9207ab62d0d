#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

/// The options that a layer was made with, by the names of libtorch: `fc.options.in_features()`.
/// They do not change when a parameter of the layer is replaced.
namespace halfgrad::nn {

/// The options of a Linear layer.
class LinearConfig {
 public:
  LinearConfig() = default;
  LinearConfig(std::int64_t in_features, std::int64_t out_features, bool bias)
      : in_features_(in_features), out_features_(out_features), bias_(bias) {}
  std::int64_t in_features() const { return in_features_; }
  std::int64_t out_features() const { return out_features_; }
  bool bias() const { return bias_; }

 private:
  std::int64_t in_features_ = 0, out_features_ = 0;
  bool bias_ = true;
};

/// The options of a Dropout layer.
class DropoutConfig {
 public:
  DropoutConfig() = default;
  DropoutConfig(double p, bool inplace) : p_(p), inplace_(inplace) {}
  double p() const { return p_; }
  bool inplace() const { return inplace_; }

 private:
  double p_ = 0.5;
  bool inplace_ = false;
};

/// How Embedding reads rows and their gradients (embedding.h).
struct EmbeddingRows {
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;
  bool scale_grad_by_freq = false;
};

/// The options of an Embedding.
class EmbeddingConfig {
 public:
  EmbeddingConfig() = default;
  EmbeddingConfig(std::int64_t num_embeddings, std::int64_t embedding_dim,
                  std::optional<std::int64_t> padding_idx, const EmbeddingRows& rows = {})
      : num_embeddings_(num_embeddings),
        embedding_dim_(embedding_dim),
        padding_idx_(padding_idx),
        rows_(rows) {}
  std::int64_t num_embeddings() const { return num_embeddings_; }
  std::int64_t embedding_dim() const { return embedding_dim_; }
  /// The padding index counted from the start, also if the layer got a negative one.
  const std::optional<std::int64_t>& padding_idx() const { return padding_idx_; }
  const std::optional<double>& max_norm() const { return rows_.max_norm; }
  double norm_type() const { return rows_.norm_type; }
  bool scale_grad_by_freq() const { return rows_.scale_grad_by_freq; }
  const EmbeddingRows& rows() const { return rows_; }

 private:
  std::int64_t num_embeddings_ = 0, embedding_dim_ = 0;
  std::optional<std::int64_t> padding_idx_;
  EmbeddingRows rows_;
};

/// The options of a LayerNorm.
class LayerNormConfig {
 public:
  LayerNormConfig() = default;
  LayerNormConfig(std::vector<std::int64_t> normalized_shape, double eps, bool elementwise_affine)
      : normalized_shape_(std::move(normalized_shape)),
        eps_(eps),
        elementwise_affine_(elementwise_affine) {}
  const std::vector<std::int64_t>& normalized_shape() const { return normalized_shape_; }
  double eps() const { return eps_; }
  bool elementwise_affine() const { return elementwise_affine_; }

 private:
  std::vector<std::int64_t> normalized_shape_;
  double eps_ = 0;
  bool elementwise_affine_ = true;
};

/// The options of a GroupNorm.
class GroupNormConfig {
 public:
  GroupNormConfig() = default;
  GroupNormConfig(std::int64_t num_groups, std::int64_t num_channels, double eps, bool affine)
      : num_groups_(num_groups), num_channels_(num_channels), eps_(eps), affine_(affine) {}
  std::int64_t num_groups() const { return num_groups_; }
  std::int64_t num_channels() const { return num_channels_; }
  double eps() const { return eps_; }
  bool affine() const { return affine_; }

 private:
  std::int64_t num_groups_ = 0, num_channels_ = 0;
  double eps_ = 0;
  bool affine_ = true;
};

/// The options of a BatchNorm1d.
class BatchNormConfig {
 public:
  BatchNormConfig() = default;
  BatchNormConfig(std::int64_t num_features, double eps, std::optional<double> momentum,
                  bool affine, bool track_running_stats)
      : num_features_(num_features),
        eps_(eps),
        momentum_(momentum),
        affine_(affine),
        track_running_stats_(track_running_stats) {}
  std::int64_t num_features() const { return num_features_; }
  double eps() const { return eps_; }
  const std::optional<double>& momentum() const { return momentum_; }
  bool affine() const { return affine_; }
  bool track_running_stats() const { return track_running_stats_; }

 private:
  std::int64_t num_features_ = 0;
  double eps_ = 0;
  std::optional<double> momentum_;
  bool affine_ = true, track_running_stats_ = true;
};

}  // namespace halfgrad::nn
