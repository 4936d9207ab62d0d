#pragma once

#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/ops.h>

/// The ops that layers use, under the names of torch.nn.functional. ops.h documents them.
namespace halfgrad::nn::functional {

using halfgrad::elu;
using halfgrad::gelu;
using halfgrad::leaky_relu;
using halfgrad::log_softmax;
using halfgrad::relu;
using halfgrad::sigmoid;
using halfgrad::silu;
using halfgrad::softmax;
using halfgrad::softplus;
using halfgrad::tanh;

using halfgrad::batch_norm;
using halfgrad::dropout;
using halfgrad::embedding;
using halfgrad::layer_norm;
using halfgrad::linear;
using halfgrad::linear_gelu;
using halfgrad::linear_relu;
using halfgrad::one_hot;
using halfgrad::rms_norm;

using halfgrad::binary_cross_entropy;
using halfgrad::binary_cross_entropy_with_logits;
using halfgrad::cross_entropy;
using halfgrad::huber_loss;
using halfgrad::kl_div;
using halfgrad::l1_loss;
using halfgrad::mse_loss;
using halfgrad::nll_loss;
using halfgrad::smooth_l1_loss;

}  // namespace halfgrad::nn::functional
