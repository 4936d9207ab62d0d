#include <halfgrad/compat/layers.h>

#include <cmath>

#include <halfgrad/core/fail.h>

namespace halfgrad::nn {
namespace {

void check(const DropoutOptions& options) {
  if (options.p() >= 0 && options.p() <= 1) return;
  halfgrad::detail::fail("dropout", "expected 0 <= p <= 1, got {}", options.p());
}

/// function(x), written into x if the options say so.
template <class Function>
Tensor applied(const Tensor& x, const DropoutOptions& options, const Function& function) {
  return functional::detail::maybe_in_place(x, options.inplace(), function);
}

const char* in_place(bool inplace) { return inplace ? ", inplace=true" : ""; }

}  // namespace

namespace detail {

std::string option_text(const ReLU6Options& options) {
  return options.inplace() ? "inplace=true" : "";
}
std::string option_text(const SELUOptions& options) {
  return options.inplace() ? "inplace=true" : "";
}
std::string option_text(const CELUOptions& options) {
  return text("alpha=", options.alpha(), in_place(options.inplace()));
}
std::string option_text(const GLUOptions& options) { return text("dim=", options.dim()); }
std::string option_text(const HardtanhOptions& options) {
  return text("min_val=", options.min_val(), ", max_val=", options.max_val(),
              in_place(options.inplace()));
}
std::string option_text(const HardshrinkOptions& options) { return text(options.lambda()); }
std::string option_text(const SoftshrinkOptions& options) { return text(options.lambda()); }
std::string option_text(const ThresholdOptions& options) {
  return text("threshold=", options.threshold(), ", value=", options.value(),
              in_place(options.inplace()));
}
std::string option_text(const RReLUOptions& options) {
  return text("lower=", options.lower(), ", upper=", options.upper(), in_place(options.inplace()));
}
std::string option_text(const SoftminOptions& options) { return text("dim=", options.dim()); }
std::string option_text(const CosineSimilarityOptions& options) {
  return text("dim=", options.dim(), ", eps=", options.eps());
}
std::string option_text(const PairwiseDistanceOptions& options) {
  return text("p=", options.p(), ", eps=", options.eps(), ", keepdim=", options.keepdim());
}
std::string option_text(const UnflattenOptions& options) {
  std::string sizes;
  for (const std::int64_t size : options.sizes()) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  return text("dim=", options.dim(), ", unflattened_size={", sizes, "}");
}

}  // namespace detail

Tensor RReLU::forward(const Tensor& input) const {
  return functional::rrelu(input, functional::RReLUFuncOptions()
                                      .lower(options.lower())
                                      .upper(options.upper())
                                      .training(is_training())
                                      .inplace(options.inplace()));
}

template <int spatial_dims>
ChannelDropout<spatial_dims>::ChannelDropout(DropoutOptions with_options)
    : Callable<ChannelDropout>(
          spatial_dims == 2 ? "Dropout2d" : "Dropout3d",
          detail::text("p=", with_options.p(), ", inplace=", with_options.inplace())),
      options(with_options) {
  check(options);
}
template <int spatial_dims>
Tensor ChannelDropout<spatial_dims>::forward(const Tensor& input) const {
  return applied(input, options, [&](const Tensor& x) {
    return feature_dropout(x, options.p(), this->is_training());
  });
}
template class ChannelDropout<2>;
template class ChannelDropout<3>;

AlphaDropout::AlphaDropout(DropoutOptions with_options)
    : Callable("AlphaDropout",
               detail::text("p=", with_options.p(), ", inplace=", with_options.inplace())),
      options(with_options) {
  check(options);
}
Tensor AlphaDropout::forward(const Tensor& input) const {
  return applied(input, options,
                 [&](const Tensor& x) { return alpha_dropout(x, options.p(), is_training()); });
}

FeatureAlphaDropout::FeatureAlphaDropout(DropoutOptions with_options)
    : Callable("FeatureAlphaDropout",
               detail::text("p=", with_options.p(), ", inplace=", with_options.inplace())),
      options(with_options) {
  check(options);
}
Tensor FeatureAlphaDropout::forward(const Tensor& input) const {
  return applied(input, options, [&](const Tensor& x) {
    return feature_alpha_dropout(x, options.p(), is_training());
  });
}

Tensor Unflatten::forward(const Tensor& input) const {
  const std::int64_t dim = wrap_dim(options.dim(), static_cast<int>(input.dim()), "Unflatten");
  Shape sizes;
  for (std::int64_t i = 0; i < input.dim(); ++i) {
    if (i != dim) {
      sizes.push_back(input.size(i));
    } else {
      for (const std::int64_t size : options.sizes()) sizes.push_back(size);
    }
  }
  return input.reshape(sizes);
}

PReLU::PReLU(PReLUOptions with_options)
    : Callable("PReLU", detail::text("num_parameters=", with_options.num_parameters())),
      options(with_options) {
  weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
}

Bilinear::Bilinear(BilinearOptions with_options)
    : Callable("Bilinear", detail::text("in1_features=", with_options.in1_features(),
                                        ", in2_features=", with_options.in2_features(),
                                        ", out_features=", with_options.out_features(),
                                        ", bias=", with_options.bias())),
      options(with_options) {
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  if (options.bias()) bias = register_parameter("bias", empty({options.out_features()}));
  reset_parameters();
}

void Bilinear::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

EmbeddingBag::EmbeddingBag(EmbeddingBagOptions with_options)
    : Callable("EmbeddingBag",
               detail::text(with_options.num_embeddings(), ", ", with_options.embedding_dim())),
      options(std::move(with_options)) {
  if (options._weight().defined()) {
    weight = register_parameter("weight", options._weight(), options._weight().requires_grad());
    return;
  }
  weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
  reset_parameters();
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings, bool freeze) {
  if (embeddings.dim() != 2) {
    halfgrad::detail::fail("EmbeddingBag", "expected a table [n, d], got {}", embeddings.sizes());
  }
  EmbeddingBag bag(
      EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))._weight(embeddings.detach()));
  bag.weight.requires_grad_(!freeze);
  return bag;
}

Tensor EmbeddingBag::forward(const Tensor& input, const Tensor& offsets,
                             const Tensor& per_sample_weights) const {
  EmbeddingBagOptions of_call = options;
  of_call.offsets(offsets).per_sample_weights(per_sample_weights);
  return functional::embedding_bag(input, weight, of_call);
}

MultiheadAttentionOptions::operator MultiheadAttention() const {
  return MultiheadAttention(embed_dim_, num_heads_,
                            {.dropout = dropout_,
                             .bias = bias_,
                             .add_bias_kv = add_bias_kv_,
                             .add_zero_attn = add_zero_attn_,
                             .kdim = kdim_,
                             .vdim = vdim_});
}

EmbeddingFromPretrainedOptions::operator EmbeddingFromPretrainedArguments() const {
  return {.freeze = freeze_,
          .padding_idx = padding_idx_,
          .max_norm = max_norm_,
          .norm_type = norm_type_,
          .scale_grad_by_freq = scale_grad_by_freq_};
}

EmbeddingOptions::operator Embedding() const {
  if (_weight().defined()) {
    return Embedding(_weight().requires_grad_(true), padding_idx_,
                     {max_norm_, norm_type_, scale_grad_by_freq_});
  }
  return Embedding(num_embeddings_, embedding_dim_,
                   {.padding_idx = padding_idx_,
                    .max_norm = max_norm_,
                    .norm_type = norm_type_,
                    .scale_grad_by_freq = scale_grad_by_freq_});
}

}  // namespace halfgrad::nn
