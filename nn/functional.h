#pragma once

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/transformer.h>
#include <halfgrad/nn/multi_head_attention_forward.h>

/// The ops of ops.h under the names of torch.nn.functional: `nn::functional::relu` is
/// `halfgrad::relu`.
namespace halfgrad::nn::functional {

using namespace halfgrad;

}  // namespace halfgrad::nn::functional
