#pragma once

#include <halfgrad/compat/names.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/compat/functional.h>
#include <halfgrad/nn/init.h>
#include <halfgrad/nn/module.h>

/// libtorch's rarer layers. Each computes the function of functional.h of the same name with its
/// options, and is constructed from the options or from their arguments.
namespace halfgrad::nn {

namespace detail {

/// The name of a layer, as a template argument.
template <std::size_t N>
struct LayerName {
  constexpr LayerName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N]{};
};

/// Options for an empty handle, which nobody reads.
template <class LayerOptions>
LayerOptions any_options() {
  if constexpr (std::is_default_constructible_v<LayerOptions>) {
    return LayerOptions();
  } else if constexpr (std::is_constructible_v<LayerOptions, int>) {
    return LayerOptions(0);
  } else {
    return LayerOptions(0, 0);
  }
}

/// The options of a layer as they are printed.
template <class LayerOptions>
std::string option_text(const LayerOptions& /*options*/) {
  return "";
}
std::string option_text(const ReLU6Options& options);
std::string option_text(const SELUOptions& options);
std::string option_text(const CELUOptions& options);
std::string option_text(const GLUOptions& options);
std::string option_text(const HardtanhOptions& options);
std::string option_text(const HardshrinkOptions& options);
std::string option_text(const SoftshrinkOptions& options);
std::string option_text(const ThresholdOptions& options);
std::string option_text(const RReLUOptions& options);
std::string option_text(const SoftminOptions& options);
std::string option_text(const CosineSimilarityOptions& options);
std::string option_text(const PairwiseDistanceOptions& options);
std::string option_text(const UnflattenOptions& options);

}  // namespace detail

/// A layer without parameters: function(input, options).
template <detail::LayerName name, class LayerOptions,
          Tensor (*function)(const Tensor&, const LayerOptions&)>
class OptionsLayer : public Callable<OptionsLayer<name, LayerOptions, function>> {
 public:
  using Base = Callable<OptionsLayer>;

  template <std::same_as<std::nullptr_t> T>
  OptionsLayer(T empty) : Base(empty), options(detail::any_options<LayerOptions>()) {}
  explicit OptionsLayer(LayerOptions with_options)
      : Base(name.text, detail::option_text(with_options)), options(std::move(with_options)) {}
  template <class... Args>
  requires(std::is_constructible_v<LayerOptions, Args...> &&
           !(std::is_same_v<std::remove_cvref_t<Args>, std::nullptr_t> || ...) &&
           !(std::is_base_of_v<Module, std::remove_cvref_t<Args>> || ...) &&
           !(std::is_same_v<std::remove_cvref_t<Args>, LayerOptions> ||
             ...)) explicit OptionsLayer(Args&&... args)
      : OptionsLayer(LayerOptions(std::forward<Args>(args)...)) {}

  Tensor forward(const Tensor& input) const { return function(input, options); }

  LayerOptions options;
};

using ReLU6 = OptionsLayer<"ReLU6", ReLU6Options, functional::relu6>;
using SELU = OptionsLayer<"SELU", SELUOptions, functional::selu>;
using CELU = OptionsLayer<"CELU", CELUOptions, functional::celu>;
using GLU = OptionsLayer<"GLU", GLUOptions, functional::glu>;
using Hardtanh = OptionsLayer<"Hardtanh", HardtanhOptions, functional::hardtanh>;
using Hardshrink = OptionsLayer<"Hardshrink", HardshrinkOptions, functional::hardshrink>;
using Softshrink = OptionsLayer<"Softshrink", SoftshrinkOptions, functional::softshrink>;
using Threshold = OptionsLayer<"Threshold", ThresholdOptions, functional::threshold>;

namespace detail {

struct NoOptions {};
template <Tensor (*function)(const Tensor&)>
Tensor without_options(const Tensor& input, const NoOptions& /*options*/) {
  return function(input);
}
inline Tensor softmin_of(const Tensor& input, const SoftminOptions& options) {
  return functional::softmin(input, options.dim());
}

}  // namespace detail

using LogSigmoid =
    OptionsLayer<"LogSigmoid", detail::NoOptions, detail::without_options<log_sigmoid>>;
using Mish = OptionsLayer<"Mish", detail::NoOptions, detail::without_options<mish>>;
using Softsign = OptionsLayer<"Softsign", detail::NoOptions, detail::without_options<softsign>>;
using Tanhshrink =
    OptionsLayer<"Tanhshrink", detail::NoOptions, detail::without_options<tanhshrink>>;
using Softmin = OptionsLayer<"Softmin", SoftminOptions, detail::softmin_of>;

/// A function as a layer: `Functional(torch::relu)`, or with more arguments,
/// `Functional(torch::elu, 0.5)`.
class Functional : public Callable<Functional> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  template <std::same_as<std::nullptr_t> T>
  Functional(T empty) : Callable(empty) {}
  explicit Functional(Function with_function)
      : Callable("Functional"), function(std::move(with_function)) {}
  template <class F, class... Args>
  requires(sizeof...(Args) > 0) Functional(F with_function, Args... args)
      : Functional(Function([=](const Tensor& x) { return with_function(x, args...); })) {}
  Tensor forward(const Tensor& input) const { return function(input); }

  Function function;
};

/// leaky_relu with random slopes in training.
class RReLU : public Callable<RReLU> {
 public:
  RReLU(std::nullptr_t empty) : Callable(empty) {}
  explicit RReLU(RReLUOptions with_options = {})
      : Callable("RReLU", detail::option_text(with_options)), options(with_options) {}
  Tensor forward(const Tensor& input) const;

  RReLUOptions options;
};

/// Dropout of whole channels, [n, c] of [n, c, ...].
template <int spatial_dims>
class ChannelDropout : public Callable<ChannelDropout<spatial_dims>> {
 public:
  ChannelDropout(std::nullptr_t empty) : Callable<ChannelDropout>(empty) {}
  explicit ChannelDropout(DropoutOptions with_options = {});
  explicit ChannelDropout(double p) : ChannelDropout(DropoutOptions(p)) {}
  Tensor forward(const Tensor& input) const;

  DropoutOptions options;
};
using Dropout2d = ChannelDropout<2>;
using Dropout3d = ChannelDropout<3>;
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;

/// Dropout that keeps the mean and variance of selu's outputs.
class AlphaDropout : public Callable<AlphaDropout> {
 public:
  AlphaDropout(std::nullptr_t empty) : Callable(empty) {}
  explicit AlphaDropout(DropoutOptions with_options = {});
  explicit AlphaDropout(double p) : AlphaDropout(DropoutOptions(p)) {}
  Tensor forward(const Tensor& input) const;

  DropoutOptions options;
};

/// AlphaDropout of whole channels.
class FeatureAlphaDropout : public Callable<FeatureAlphaDropout> {
 public:
  FeatureAlphaDropout(std::nullptr_t empty) : Callable(empty) {}
  explicit FeatureAlphaDropout(DropoutOptions with_options = {});
  explicit FeatureAlphaDropout(double p) : FeatureAlphaDropout(DropoutOptions(p)) {}
  Tensor forward(const Tensor& input) const;

  DropoutOptions options;
};
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

/// x1 . x2 / max(|x1| |x2|, eps) along options.dim().
class CosineSimilarity : public Callable<CosineSimilarity> {
 public:
  CosineSimilarity(std::nullptr_t empty) : Callable(empty) {}
  explicit CosineSimilarity(CosineSimilarityOptions with_options = {})
      : Callable("CosineSimilarity", detail::option_text(with_options)), options(with_options) {}
  Tensor forward(const Tensor& x1, const Tensor& x2) const {
    return functional::cosine_similarity(x1, x2, options);
  }

  CosineSimilarityOptions options;
};

/// The p-norm of x1 - x2 + eps along the last dimension.
class PairwiseDistance : public Callable<PairwiseDistance> {
 public:
  PairwiseDistance(std::nullptr_t empty) : Callable(empty) {}
  explicit PairwiseDistance(PairwiseDistanceOptions with_options = {})
      : Callable("PairwiseDistance", detail::option_text(with_options)), options(with_options) {}
  Tensor forward(const Tensor& x1, const Tensor& x2) const {
    return functional::pairwise_distance(x1, x2, options);
  }

  PairwiseDistanceOptions options;
};

/// Splits dimension `dim` into dimensions of these sizes.
class Unflatten : public Callable<Unflatten> {
 public:
  Unflatten(std::nullptr_t empty) : Callable(empty), options(0, {}) {}
  explicit Unflatten(UnflattenOptions with_options)
      : Callable("Unflatten", detail::option_text(with_options)),
        options(std::move(with_options)) {}
  Unflatten(std::int64_t dim, std::vector<std::int64_t> sizes)
      : Unflatten(UnflattenOptions(dim, std::move(sizes))) {}
  Tensor forward(const Tensor& input) const;

  UnflattenOptions options;
};

/// x where x > 0, else weight * x with trained weights.
class PReLU : public Callable<PReLU> {
 public:
  PReLU(std::nullptr_t empty) : Callable(empty) {}
  explicit PReLU(PReLUOptions with_options = {});
  explicit PReLU(std::int64_t num_parameters)
      : PReLU(PReLUOptions().num_parameters(num_parameters)) {}
  Tensor forward(const Tensor& input) const { return prelu(input, weight); }
  void reset_parameters() { init::constant_(weight, options.init()); }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &PReLU::weight);
  }

  PReLUOptions options;
  Tensor weight;  ///< [num_parameters]
};

/// y_o = x1^T weight_o x2 + bias_o.
class Bilinear : public Callable<Bilinear> {
 public:
  Bilinear(std::nullptr_t empty) : Callable(empty), options(0, 0, 0) {}
  explicit Bilinear(BilinearOptions with_options);
  Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : Bilinear(BilinearOptions(in1_features, in2_features, out_features)) {}
  Tensor forward(const Tensor& x1, const Tensor& x2) const {
    return bilinear(x1, x2, weight, bias);
  }
  /// Draws weight and bias uniformly from [-1, 1] / sqrt(in1_features).
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &Bilinear::weight, &Bilinear::bias);
  }

  BilinearOptions options;
  Tensor weight;  ///< [out, in1, in2]
  Tensor bias;    ///< [out]; undefined without bias
};

/// Embedding, and the sum, mean or maximum of each bag of rows.
class EmbeddingBag : public Callable<EmbeddingBag> {
 public:
  EmbeddingBag(std::nullptr_t empty) : Callable(empty) {}
  explicit EmbeddingBag(EmbeddingBagOptions with_options);
  EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingBag(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  /// A pretrained table; it is trained unless `freeze`.
  static EmbeddingBag from_pretrained(const Tensor& embeddings, bool freeze = true);
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {}) const;
  void reset_parameters() { init::normal_(weight); }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &EmbeddingBag::weight);
  }

  EmbeddingBagOptions options;
  Tensor weight;  ///< [num_embeddings, embedding_dim]
};

}  // namespace halfgrad::nn
