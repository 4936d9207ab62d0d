#pragma once

#include <halfgrad/compat/names.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/compat/attention_options.h>
#include <halfgrad/compat/functions.h>
#include <halfgrad/compat/layer_options.h>
#include <halfgrad/compat/nn_options.h>
#include <halfgrad/nn/functional.h>

/// torch::nn::functional with options: `F::elu(x, F::ELUFuncOptions().alpha(0.5).inplace(true))`.
/// The functions of ops.h are there, too, under the same names.
namespace halfgrad::nn::functional {

namespace detail {

/// function(x), written into x if `inplace`.
template <class Function>
Tensor maybe_in_place(const Tensor& x, bool inplace, const Function& function) {
  if (!inplace) return function(x);
  return x.copy_(function(x.clone()));
}

}  // namespace detail

using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using CELUFuncOptions = CELUOptions;
using GELUFuncOptions = GELUOptions;
using GLUFuncOptions = GLUOptions;
using HardtanhFuncOptions = HardtanhOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using SoftplusFuncOptions = SoftplusOptions;
using ThresholdFuncOptions = ThresholdOptions;
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

// Qualified calls see the functions below only, so those of ops.h are named here, too.
using halfgrad::celu;
using halfgrad::cosine_similarity;
using halfgrad::elu;
using halfgrad::gelu;
using halfgrad::glu;
using halfgrad::hardshrink;
using halfgrad::hardtanh;
using halfgrad::leaky_relu;
using halfgrad::log_softmax;
using halfgrad::pairwise_distance;
using halfgrad::pdist;
using halfgrad::relu;
using halfgrad::relu6;
using halfgrad::rrelu;
using halfgrad::selu;
using halfgrad::softmax;
using halfgrad::softplus;
using halfgrad::softshrink;
using halfgrad::threshold;

Tensor relu(const Tensor& input, const ReLUFuncOptions& options);
Tensor relu6(const Tensor& input, const ReLU6FuncOptions& options);
Tensor leaky_relu(const Tensor& input, const LeakyReLUFuncOptions& options);
Tensor elu(const Tensor& input, const ELUFuncOptions& options);
Tensor selu(const Tensor& input, const SELUFuncOptions& options);
Tensor celu(const Tensor& input, const CELUFuncOptions& options);
Tensor gelu(const Tensor& input, const GELUFuncOptions& options);
Tensor glu(const Tensor& input, const GLUFuncOptions& options);
Tensor hardtanh(const Tensor& input, const HardtanhFuncOptions& options);
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options);
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options);
inline Tensor softshrink(const Tensor& input, double lambda) {
  return halfgrad::softshrink(input, lambda);
}
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options);
Tensor threshold(const Tensor& input, const ThresholdFuncOptions& options);
Tensor logsigmoid(const Tensor& input);

class RReLUFuncOptions {
  TORCH_ARG(double, lower) = 1.0 / 8;
  TORCH_ARG(double, upper) = 1.0 / 3;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};
Tensor rrelu(const Tensor& input, const RReLUFuncOptions& options);

/// softmax, log_softmax and softmin along `dim`, computed in `dtype` if one is given.
class SoftmaxFuncOptions {
 public:
  SoftmaxFuncOptions(std::int64_t dim) : dim_(dim) {}

  TORCH_ARG(std::int64_t, dim);
  TORCH_ARG(std::optional<DType>, dtype) = std::nullopt;
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;
using SoftminFuncOptions = SoftmaxFuncOptions;
Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);

/// Draws from the Gumbel-softmax distribution (Jang, Gu and Poole, 2017).
class GumbelSoftmaxFuncOptions {
  TORCH_ARG(double, tau) = 1.0;
  TORCH_ARG(bool, hard) = false;  // one-hot, with the gradient of the soft draw
  TORCH_ARG(int, dim) = -1;
};
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});

class NormalizeFuncOptions {
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(std::int64_t, dim) = 1;
  TORCH_ARG(double, eps) = 1e-12;
  TORCH_ARG(std::optional<Tensor>, out) = std::nullopt;
};
/// input / max(norm of input along dim, eps).
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {});

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                         const CosineSimilarityFuncOptions& options);
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                         const PairwiseDistanceFuncOptions& options);

// --- Dropout ---
class DropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = true;
  TORCH_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
class AlphaDropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;
Tensor dropout(const Tensor& input, const DropoutFuncOptions& options = {});
Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& options = {});
Tensor dropout3d(const Tensor& input, const Dropout3dFuncOptions& options = {});
Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& options = {});
Tensor feature_alpha_dropout(const Tensor& input,
                             const FeatureAlphaDropoutFuncOptions& options = {});
using halfgrad::alpha_dropout;
using halfgrad::dropout;
using halfgrad::feature_alpha_dropout;

// --- Norms ---
class LayerNormFuncOptions {
 public:
  LayerNormFuncOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  TORCH_ARG(std::vector<std::int64_t>, normalized_shape);
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(double, eps) = 1e-5;
};
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
using halfgrad::layer_norm;

class BatchNormFuncOptions {
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(double, eps) = 1e-5;
};
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options = {});
using halfgrad::batch_norm;

class GroupNormFuncOptions {
 public:
  GroupNormFuncOptions(std::int64_t num_groups) : num_groups_(num_groups) {}

  TORCH_ARG(std::int64_t, num_groups);
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(double, eps) = 1e-5;
};
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);
using halfgrad::group_norm;

// --- Tables ---
class EmbeddingFuncOptions {
  TORCH_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  TORCH_ARG(double, norm_type) = 2;
  TORCH_ARG(bool, scale_grad_by_freq) = false;
};
/// Takes libtorch's order (indices, weight) and that of ops.h, (weight, indices): indices are
/// integers, the weight is not.
Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options = {});
using EmbeddingBagFuncOptions = EmbeddingBagOptions;
/// The sum, mean or maximum of the rows of each bag: a row of `input` [bags, n], or, if `input` is
/// [n], the indices from offsets[i] to offsets[i + 1].
Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options = {});

}  // namespace halfgrad::nn::functional
