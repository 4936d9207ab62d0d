#pragma once
// A linear layer whose three products read fp8 operands: e4m3 in the forward pass, where precision
// matters, and e5m2 for gradients, where range does ("FP8 formats for deep learning", Micikevicius
// et al. 2022, section 3).

#include <any>

#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/ops.h>

#include "delayed_scaling.h"

namespace fp8 {

/// The scales of a layer's three tensors: the input and the weight in e4m3, the gradient in e5m2.
struct LayerScales {
  LayerScales(Recipe recipe, std::size_t history)
      : input(halfgrad::kFp8E4M3Fn, recipe, history),
        weight(halfgrad::kFp8E4M3Fn, recipe, history),
        gradient(halfgrad::kFp8E5M2, recipe, history) {}

  TensorScale input, weight, gradient;
};

/// y = x w^T, where x [n, in] and w [out, in] are rounded to fp8. Sums are in float32, as tensor
/// cores compute them, and so are y and the weight's gradient.
struct Linear : halfgrad::autograd::Function<Linear> {
  using Context = halfgrad::autograd::AutogradContext;
  using Tensors = halfgrad::autograd::variable_list;

  static halfgrad::Tensor forward(Context* context, const halfgrad::Tensor& x,
                                  const halfgrad::Tensor& w, LayerScales* scales) {
    const halfgrad::Tensor x8(scales->input.quantized(x.array()));
    const halfgrad::Tensor w8(scales->weight.quantized(w.array()));
    context->save_for_backward({x8, w8});
    context->saved_data["scales"] = scales;
    return halfgrad::linear(x8, w8);
  }

  /// dx = dy w and dw = dy^T x, with dy in fp8.
  static Tensors backward(Context* context, const Tensors& gradients) {
    const Tensors saved = context->get_saved_variables();
    auto* scales = std::any_cast<LayerScales*>(context->saved_data.at("scales"));
    const halfgrad::Tensor dy8(scales->gradient.quantized(gradients[0].array()));
    return {halfgrad::matmul(dy8, saved[1]),
            halfgrad::matmul(halfgrad::transpose(dy8, 0, 1), saved[0])};
  }
};

}  // namespace fp8
