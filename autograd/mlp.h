#pragma once

#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

/// A whole multilayer perceptron as one op:
///
///     h_0 = input,   h_{l+1} = relu(h_l W_l^T + b_l),   the last layer without relu
///
/// input `[..., n_0]`, weights[l] `[n_{l+1}, n_l]`, biases[l] `[n_{l+1}]`; `biases` is empty, or an
/// entry may be undefined, for layers without bias. Returns `[..., n_L]`. The result and the
/// gradients are those of linear and relu layer by layer, rounded to the dtype at the same places.
/// Only sums over the batch, for weights and biases, may be added in another order.
///
/// Layers of at most 128 features run fused: no activation goes to memory, and backward computes
/// them again. On a GPU, f16 and bf16 take one launch forward and two backward, if the weights fit
/// into the shared memory of a multiprocessor: for 128 features and five layers an H100's, for 64
/// features an A100's. On a CPU, tiles of the batch stay in the cache. Everything else is composed
/// of linear_relu and linear.
///
/// Throws std::invalid_argument if there is no layer, or if shapes, dtypes or the number of biases
/// do not fit.
Tensor mlp(const Tensor& input, const std::vector<Tensor>& weights,
           const std::vector<Tensor>& biases = {});

}  // namespace halfgrad
