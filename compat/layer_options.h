#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <halfgrad/autograd/losses.h>
#include <halfgrad/compat/option.h>

/// Options of the layers that only this folder has (layers.h, loss_layers.h), with libtorch's names
/// and defaults.
namespace halfgrad {
namespace nn {
struct KLDivLossArguments;
}
namespace enumtype {

// NOLINTBEGIN(readability-identifier-naming): libtorch's names
/// EmbeddingBagOptions::mode: the largest row of a bag.
struct kMax {};
/// KLDivFuncOptions::reduction: the sum divided by the size of the first dimension.
struct kBatchMean {
  /// `nn::KLDivLoss(torch::kBatchMean)`
  operator nn::KLDivLossArguments() const;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace enumtype

inline constexpr enumtype::kMax kMax{};
/// The sum of the losses, divided by the number of samples: of kl_div.
inline constexpr enumtype::kBatchMean kBatchMean{};

namespace nn {

class ReLU6Options {
 public:
  ReLU6Options(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};
class SELUOptions {
 public:
  SELUOptions(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};
class CELUOptions {
  TORCH_ARG(double, alpha) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};
class GLUOptions {
 public:
  GLUOptions(std::int64_t dim = -1) : dim_(dim) {}
  TORCH_ARG(std::int64_t, dim);
};
class HardtanhOptions {
  TORCH_ARG(double, min_val) = -1.0;
  TORCH_ARG(double, max_val) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};
class HardshrinkOptions {
 public:
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TORCH_ARG(double, lambda);
};
class SoftshrinkOptions {
 public:
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TORCH_ARG(double, lambda);
};
class ThresholdOptions {
 public:
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  TORCH_ARG(double, threshold);
  TORCH_ARG(double, value);
  TORCH_ARG(bool, inplace) = false;
};
class PReLUOptions {
  TORCH_ARG(std::int64_t, num_parameters) = 1;
  TORCH_ARG(double, init) = 0.25;
};
class RReLUOptions {
  TORCH_ARG(double, lower) = 1.0 / 8;
  TORCH_ARG(double, upper) = 1.0 / 3;
  TORCH_ARG(bool, inplace) = false;
};
class SoftminOptions {
 public:
  SoftminOptions(std::int64_t dim) : dim_(dim) {}
  TORCH_ARG(std::int64_t, dim);
};
class CosineSimilarityOptions {
  TORCH_ARG(std::int64_t, dim) = 1;
  TORCH_ARG(double, eps) = 1e-8;
};
class PairwiseDistanceOptions {
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, keepdim) = false;
};
class UnflattenOptions {
 public:
  UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes)
      : dim_(dim), sizes_(std::move(sizes)) {}
  TORCH_ARG(std::int64_t, dim);
  TORCH_ARG(std::vector<std::int64_t>, sizes);
};
class BilinearOptions {
 public:
  BilinearOptions(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  TORCH_ARG(std::int64_t, in1_features);
  TORCH_ARG(std::int64_t, in2_features);
  TORCH_ARG(std::int64_t, out_features);
  TORCH_ARG(bool, bias) = true;
};

/// How an EmbeddingBag combines rows: kSum, kMean or kMax.
using EmbeddingBagMode = std::variant<Reduction, enumtype::kMax>;
/// Without num_embeddings and embedding_dim: options of functional::embedding_bag.
class EmbeddingBagOptions {
 public:
  EmbeddingBagOptions() = default;
  EmbeddingBagOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TORCH_ARG(std::int64_t, num_embeddings) = 0;
  TORCH_ARG(std::int64_t, embedding_dim) = 0;
  TORCH_ARG(Tensor, offsets) = {};
  TORCH_ARG(EmbeddingBagMode, mode) = kMean;
  TORCH_ARG(Tensor, per_sample_weights) = {};
  TORCH_ARG(bool, include_last_offset) = false;
  TORCH_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  TORCH_ARG(bool, sparse) = false;
  TORCH_ARG(Tensor, _weight) = {};
};

}  // namespace nn
}  // namespace halfgrad
