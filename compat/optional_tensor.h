#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/losses.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/compat/creation.h>

/// Functions whose weights and masks may be absent, with libtorch's std::nullopt or
/// std::optional<Tensor>: `torch::linear(x, weight, std::nullopt)`. Absent is an undefined tensor
/// for the functions of ops.h and losses.h, which these call.
namespace halfgrad {
namespace detail {

template <class T>
concept OptionalTensor = std::same_as<T, std::nullopt_t> || std::same_as<T, std::optional<Tensor>>;
template <class T>
concept AnyTensor = OptionalTensor<T> || std::same_as<T, Tensor>;
template <class... Ts>
concept SomeOptional = (AnyTensor<Ts> && ...) && (OptionalTensor<Ts> || ...);

template <AnyTensor T>
Tensor or_undefined(const T& tensor) {
  if constexpr (std::same_as<T, Tensor>) {
    return tensor;
  } else if constexpr (std::same_as<T, std::nullopt_t>) {
    return {};
  } else {
    return tensor.value_or(Tensor());
  }
}

}  // namespace detail

template <detail::OptionalTensor B>
Tensor linear(const Tensor& input, const Tensor& weight, const B& bias) {
  return linear(input, weight, detail::or_undefined(bias));
}
template <class W = Tensor, class B = Tensor>
requires detail::SomeOptional<W, B> Tensor layer_norm(const Tensor& input,
                                                      const Shape& normalized_shape,
                                                      const W& weight, const B& bias = {},
                                                      double eps = 1e-5) {
  return layer_norm(input, normalized_shape, detail::or_undefined(weight),
                    detail::or_undefined(bias), eps);
}
template <class W = Tensor, class B = Tensor>
requires detail::SomeOptional<W, B> Tensor group_norm(const Tensor& input, std::int64_t num_groups,
                                                      const W& weight, const B& bias = {},
                                                      double eps = 1e-5) {
  return group_norm(input, num_groups, detail::or_undefined(weight), detail::or_undefined(bias),
                    eps);
}
/// libtorch's last argument chooses cuDNN, which halfgrad does not call: it has no effect.
template <detail::AnyTensor W = Tensor, detail::AnyTensor B = Tensor, detail::AnyTensor M = Tensor,
          detail::AnyTensor V = Tensor>
Tensor batch_norm(const Tensor& input, const W& weight, const B& bias, const M& running_mean,
                  const V& running_var, bool training, double momentum, double eps,
                  bool /*cudnn_enabled*/) {
  return batch_norm(input, detail::or_undefined(weight), detail::or_undefined(bias),
                    detail::or_undefined(running_mean), detail::or_undefined(running_var), training,
                    momentum, eps);
}
template <detail::OptionalTensor M>
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const M& attn_mask, double dropout_p = 0,
                                    bool is_causal = false,
                                    std::optional<double> scale = std::nullopt,
                                    bool enable_gqa = false) {
  return scaled_dot_product_attention(query, key, value, detail::or_undefined(attn_mask), dropout_p,
                                      is_causal, scale, enable_gqa);
}

template <detail::OptionalTensor W>
Tensor nll_loss(const Tensor& input, const Tensor& target, const W& weight,
                Reduction reduction = kMean, std::int64_t ignore_index = -100) {
  return nll_loss(input, target, detail::or_undefined(weight), reduction, ignore_index);
}
template <detail::OptionalTensor W>
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const W& weight,
                          Reduction reduction = kMean, std::int64_t ignore_index = -100,
                          double label_smoothing = 0) {
  return cross_entropy_loss(self, target, detail::or_undefined(weight), reduction, ignore_index,
                            label_smoothing);
}
template <detail::OptionalTensor W>
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const W& weight,
                            Reduction reduction = kMean) {
  return binary_cross_entropy(self, target, detail::or_undefined(weight), reduction);
}
template <class W = Tensor, class P = Tensor>
requires detail::SomeOptional<W, P> Tensor
binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const W& weight,
                                 const P& pos_weight = {}, Reduction reduction = kMean) {
  return binary_cross_entropy_with_logits(self, target, detail::or_undefined(weight),
                                          detail::or_undefined(pos_weight), reduction);
}

}  // namespace halfgrad
