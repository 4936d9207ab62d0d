#include <halfgrad/compat/functional.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn::functional {

using detail::maybe_in_place;

Tensor relu(const Tensor& input, const ReLUFuncOptions& options) {
  return options.inplace() ? input.relu_() : halfgrad::relu(input);
}
Tensor relu6(const Tensor& input, const ReLU6FuncOptions& options) {
  return options.inplace() ? input.clamp_(0, 6) : halfgrad::relu6(input);
}
Tensor leaky_relu(const Tensor& input, const LeakyReLUFuncOptions& options) {
  return maybe_in_place(input, options.inplace(), [&](const Tensor& x) {
    return halfgrad::leaky_relu(x, options.negative_slope());
  });
}
Tensor elu(const Tensor& input, const ELUFuncOptions& options) {
  return maybe_in_place(input, options.inplace(),
                        [&](const Tensor& x) { return halfgrad::elu(x, options.alpha()); });
}
Tensor selu(const Tensor& input, const SELUFuncOptions& options) {
  return maybe_in_place(input, options.inplace(),
                        [](const Tensor& x) { return halfgrad::selu(x); });
}
Tensor celu(const Tensor& input, const CELUFuncOptions& options) {
  return maybe_in_place(input, options.inplace(),
                        [&](const Tensor& x) { return halfgrad::celu(x, options.alpha()); });
}
Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return halfgrad::gelu(input, options.approximate());
}
Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  return halfgrad::glu(input, options.dim());
}
Tensor hardtanh(const Tensor& input, const HardtanhFuncOptions& options) {
  return options.inplace() ? input.clamp_(options.min_val(), options.max_val())
                           : halfgrad::hardtanh(input, options.min_val(), options.max_val());
}
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return halfgrad::hardshrink(input, options.lambda());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return halfgrad::softshrink(input, options.lambda());
}
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return halfgrad::softplus(input, options.beta(), options.threshold());
}
Tensor threshold(const Tensor& input, const ThresholdFuncOptions& options) {
  return maybe_in_place(input, options.inplace(), [&](const Tensor& x) {
    return halfgrad::threshold(x, options.threshold(), options.value());
  });
}
Tensor logsigmoid(const Tensor& input) { return log_sigmoid(input); }

Tensor rrelu(const Tensor& input, const RReLUFuncOptions& options) {
  return maybe_in_place(input, options.inplace(), [&](const Tensor& x) {
    return halfgrad::rrelu(x, options.lower(), options.upper(), options.training());
  });
}

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return halfgrad::softmax(input, options.dim(), options.dtype());
}
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return halfgrad::log_softmax(input, options.dim(), options.dtype());
}
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return halfgrad::softmax(-input, options.dim(), options.dtype());
}

Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options) {
  // Gumbel noise is -log(-log(1 - u)) for a uniform u (Jang, Gu and Poole 2017, section 2.1).
  // 16-bit logits draw u in float32: in 16 bits one draw in 2^8 or 2^11 would be 0. Half a step of
  // u stands for an inner logarithm of 0, whose own logarithm would be infinite.
  const DType dtype = is_reduced(logits.dtype()) ? kFloat32 : logits.dtype();
  const Tensor u = rand(logits.sizes(), {.dtype = dtype, .device = logits.device()});
  const Tensor exponential = clamp_min(-log(1 - u), roundoff(dtype) / 2);  // 1 - u is in (0, 1]
  const Tensor gumbel = to(-log(exponential), logits.dtype());
  const Tensor soft = halfgrad::softmax((logits + gumbel) / options.tau(), options.dim());
  if (!options.hard()) return soft;
  const Tensor index = argmax(soft, options.dim(), /*keepdim=*/true);
  const Tensor ones = ones_like(index, {.dtype = soft.dtype()});
  const Tensor hard = scatter_add(zeros_like(soft.detach()), options.dim(), index, ones);
  return hard - soft.detach() + soft;  // the value of `hard` with the gradient of `soft`
}

Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options) {
  const Tensor length = norm(input, options.p(), options.dim(), /*keepdim=*/true);
  const Tensor y = input / clamp_min(length, options.eps());
  return options.out() ? options.out()->copy_(y) : y;
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                         const CosineSimilarityFuncOptions& options) {
  return halfgrad::cosine_similarity(x1, x2, options.dim(), options.eps());
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                         const PairwiseDistanceFuncOptions& options) {
  return halfgrad::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

Tensor dropout(const Tensor& input, const DropoutFuncOptions& options) {
  return maybe_in_place(input, options.inplace(), [&](const Tensor& x) {
    return halfgrad::dropout(x, options.p(), options.training());
  });
}
Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& options) {
  return maybe_in_place(input, options.inplace(), [&](const Tensor& x) {
    return feature_dropout(x, options.p(), options.training());
  });
}
Tensor dropout3d(const Tensor& input, const Dropout3dFuncOptions& options) {
  return dropout2d(input, options);
}
Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& options) {
  return maybe_in_place(input, options.inplace(), [&](const Tensor& x) {
    return halfgrad::alpha_dropout(x, options.p(), options.training());
  });
}
Tensor feature_alpha_dropout(const Tensor& input, const FeatureAlphaDropoutFuncOptions& options) {
  return maybe_in_place(input, options.inplace(), [&](const Tensor& x) {
    return halfgrad::feature_alpha_dropout(x, options.p(), options.training());
  });
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return halfgrad::layer_norm(input, Shape(options.normalized_shape()), options.weight(),
                              options.bias(), options.eps());
}
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  return halfgrad::batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                              options.training(), options.momentum(), options.eps());
}
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return halfgrad::group_norm(input, options.num_groups(), options.weight(), options.bias(),
                              options.eps());
}

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  const EmbeddingRows rows{options.max_norm(), options.norm_type(), options.scale_grad_by_freq()};
  return input.is_floating_point() ? embedding_with(input, weight, options.padding_idx(), rows)
                                   : embedding_with(weight, input, options.padding_idx(), rows);
}

}  // namespace halfgrad::nn::functional
