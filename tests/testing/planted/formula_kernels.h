#pragma once

#include <vector>

#include <halfgrad/tests/testing/planted/attention.h>
#include <halfgrad/tests/testing/planted/backward.h>
#include <halfgrad/tests/testing/planted/float8.h>
#include <halfgrad/tests/testing/planted/fused_steps.h>
#include <halfgrad/tests/testing/planted/optimizer_steps.h>

/// The kernels for the ops without a page in autograd/ops/.
namespace halfgrad::testing::planted {

inline std::vector<BackwardKernel> backward_kernels() {
  const char* const causal = "scaled_dot_product_attention_causal";
  const char* const full = "scaled_dot_product_attention";
  const char* const backward = "scaled_dot_product_attention_backward";
  return {
      {"softmax_backward", 0, "y (g - sum)", softmax_backward},
      {"softmax_backward", -1, "g y - y sum", softmax_backward},
      {"softmax_backward", 1, "sum without y", softmax_backward},
      {"softmax_backward", 2, "no tail in the sum", softmax_backward},
      {"log_softmax_backward", 0, "right", log_softmax_backward},
      {"log_softmax_backward", 1, "y for exp(y)", log_softmax_backward},
      {"log_softmax_backward", 2, "weighted sum", log_softmax_backward},
      {"layer_norm_backward", 0, "PyTorch's CUDA formula", layer_norm_backward},
      {"layer_norm_backward", -1, "Triton's formula", layer_norm_backward},
      {"layer_norm_backward", 1, "without mean(g)", layer_norm_backward},
      {"layer_norm_backward", 2, "dw without rstd", layer_norm_backward},
      {"layer_norm_backward", 3, "db with the weight", layer_norm_backward},
      {"rms_norm_backward", 0, "Liger's formula", rms_norm_backward},
      {"rms_norm_backward", -1, "without rstd^3", rms_norm_backward},
      {"rms_norm_backward", 1, "rstd^2 for rstd^3", rms_norm_backward},
      {"rms_norm_backward", 2, "dw without rstd", rms_norm_backward},
      {"cross_entropy_backward", 0, "c p - c q", cross_entropy_backward},
      {"cross_entropy_backward", -1, "exp of log_softmax", cross_entropy_backward},
      {"cross_entropy_backward", 1, "sum for mean", cross_entropy_backward},
      {"cross_entropy_backward", 2, "class 0 too", cross_entropy_backward},
      {"cross_entropy_backward", 3, "maximum from -1e4", cross_entropy_backward},
      {"linear_backward", 0, "right", linear_backward},
      {"linear_backward", 1, "w transposed if square", linear_backward},
      {"linear_backward", 2, "db of 64 rows", linear_backward},
      {"gelu_backward", 0, "by erfc", gelu_backward},
      {"gelu_backward", -1, "by erf", gelu_backward},
      {"gelu_backward", 1, "by tanh", gelu_backward},
      {"gelu_backward", 2, "without the density", gelu_backward},
      {"embedding_backward", 0, "right", embedding_backward},
      {"embedding_backward", 1, "last row wins", embedding_backward},
      {"embedding_backward", 2, "last index as padding", embedding_backward},
      {"gemm", 0, "a scaled first", gemm},
      {"gemm", -1, "factors last", gemm},
      {"gemm", 1, "alpha on c too", gemm},
      {"gemm", 2, "alpha twice where c is 0", gemm},
      {full, 0, "one pass", attention},
      {full, -1, "two passes", two_passes},
      {full, 1, "no scale", attention},
      {full, 2, "output not rescaled", attention},
      {full, 5, "logsumexp without the maximum", attention},
      {causal, 0, "one pass", causal_attention},
      {causal, -1, "two passes", causal_two_passes},
      {causal, 3, "without the diagonal", causal_attention},
      {causal, 4, "aligned at the last key", causal_attention},
      {backward, 0, "right", attention_backward},
      {backward, -1, "by exp2, with stored products", attention_backward},
      {backward, 1, "without the sum of dy y", attention_backward},
      {backward, 2, "dk without the scale", attention_backward},
      {backward, 3, "dv of 128 keys", attention_backward},
      {"sgd_step", 0, "right", sgd_step},
      {"sgd_step", 1, "not unscaled", sgd_step},
      {"sgd_step", 2, "dampened", sgd_step},
      {"adam_step", 0, "Kingma's formula", adam_step},
      {"adam_step", -1, "PyTorch's formula", adam_of_pytorch},
      {"adam_step", 1, "no second bias correction", adam_step},
      {"adam_step", 2, "eps in the root", adam_step},
      {"adam_step", 4, "v of g, not g^2", adam_step},
      {"adam_step", 6, "eps before the bias correction", adam_step},
      {"adam_step", 7, "no eps", adam_step},
      {"adamw_step", 0, "Kingma's formula", adamw_step},
      {"adamw_step", 3, "decay squared", adamw_step, true},
      {"adamw_step", 4, "v of g, not g^2", adamw_step},
      {"adamw_step", 5, "decay after the step", adamw_step, true},
  };
}

inline std::vector<BackwardKernel> formula_kernels() {
  std::vector<BackwardKernel> all = backward_kernels();
  for (const auto& list : {float8_kernels(), fused_steps()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace halfgrad::testing::planted
