#pragma once

#include <string>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

namespace backends::cuda {

/// Lets mlp and mlp_cross_entropy compute their gradients by warpgroups: by products that only
/// compute capability 9.0 (H100, H200) has. The layers must be 16-bit, with relu between them, and
/// one must have more than 32 features. Layers of 128 features then keep their gradients on the
/// chip, and need no product of their own for them. Sums are added in another order. Default false,
/// because these kernels have run in the emulator only: docs/gpu-verified.md. The switch applies to
/// all threads, from the next backward pass on.
void set_allow_warpgroup_mlp(bool allow);
bool allow_warpgroup_mlp();

}  // namespace backends::cuda

/// A whole multilayer perceptron as one op:
///
///     h_0 = input,   h_{l+1} = f(h_l W_l^T + b_l),   the last layer without f
///
/// `activation` names f: "relu", "gelu" or, for gelu(x, "tanh"), "gelu_tanh".
///
/// input `[..., n_0]`, weights[l] `[n_{l+1}, n_l]`, biases[l] `[n_{l+1}]`; `biases` is empty, or an
/// entry may be undefined, for layers without bias. Returns `[..., n_L]`. The result and the
/// gradients are those of linear and f layer by layer, rounded to the dtype at the same places.
/// Only sums over the batch, for weights and biases, may be added in another order.
///
/// Narrow layers run fused: no activation goes to memory, and backward computes them again. In an
/// autocast region a fused op rounds a float32 input as it loads it, and backward loads it again:
/// changing the input in place before is an error. On a CPU, tiles of the batch stay in the cache.
/// On a GPU, f16 and bf16 layers run fused if their weights fit into the shared memory of a
/// multiprocessor. An A100 holds five layers of 64 features, an H100 five of 128:
///
///     layers of at most                              launches forward   backward
///     64 features                                    1                  2
///     128; or 64, with gelu and more than five       1                  1, and 1 for each layer
///         layers wider than 32
///
/// In the second row activations go to memory in backward, since no multiprocessor has registers
/// for the gradients of several such weights. set_allow_warpgroup_mlp() is another way. Everything
/// else is composed of linear_relu and linear, or of linear and gelu.
///
/// Throws std::invalid_argument if there is no layer, if shapes, dtypes or the number of biases do
/// not fit, or for another activation.
Tensor mlp(const Tensor& input, const std::vector<Tensor>& weights,
           const std::vector<Tensor>& biases = {}, const std::string& activation = "relu");

/// cross_entropy(mlp(input, weights, biases, activation), target) as one op: the mean loss of
/// classes, where `target` is int64 `[...]` with the leading dimensions of the input. Loss and
/// gradients have the bits of the two ops.
///
/// If mlp runs fused, so does this op, and the logits never go to memory. It computes nothing at
/// first if a gradient is needed. backward() then takes one pass over the batch for the loss and
/// all gradients. If the program reads the loss before that, a forward pass computes it alone, and
/// so it does before an operand is changed by a function with a trailing `_`. After another change,
/// such as an optimizer's step, reading a loss without backward() throws std::runtime_error. On a
/// GPU, the loss is ready in the order of the stream that was current at the call.
///
/// There is no ignore_index: throws std::out_of_range for a target that is not a class. As with
/// cross_entropy, a GPU reports that when the host next waits for it. Throws std::invalid_argument
/// where mlp does, and for a target of another dtype or shape.
Tensor mlp_cross_entropy(const Tensor& input, const std::vector<Tensor>& weights,
                         const std::vector<Tensor>& biases, const Tensor& target,
                         const std::string& activation = "relu");

}  // namespace halfgrad
