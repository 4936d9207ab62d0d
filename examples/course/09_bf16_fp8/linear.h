#pragma once
// A linear layer whose three products read operands of few bits. For fp8 these are e4m3 in the
// forward pass, where precision matters, and e5m2 for gradients, where range does ("FP8 formats for
// deep learning", Micikevicius et al. 2022, section 3).

#include <any>

#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/ops.h>

#include "delayed_scaling.h"

namespace fp8 {

/// The scales of a layer's three tensors: its input and its weight in the format of the forward
/// pass, and the gradient that comes back in that of the backward pass.
struct LayerScales {
  LayerScales(const halfgrad::NumberFormat& forward, const halfgrad::NumberFormat& backward,
              Recipe recipe, std::size_t history)
      : input(forward, recipe, history),
        weight(forward, recipe, history),
        gradient(backward, recipe, history) {}

  TensorScale input, weight, gradient;
};

/// y = x w^T, where x [n, in] and w [out, in] are rounded to the format. Products of two rounded
/// values are exact. A tensor core adds them up in float32; here it is float64, so that this
/// training has the same digits on every machine.
struct Linear : halfgrad::autograd::Function<Linear> {
  using Context = halfgrad::autograd::AutogradContext;
  using Tensors = halfgrad::autograd::variable_list;

  static halfgrad::Tensor forward(Context* context, const halfgrad::Tensor& x,
                                  const halfgrad::Tensor& w, LayerScales* scales) {
    const halfgrad::Tensor rounded_x(scales->input.quantized(x.array()));
    const halfgrad::Tensor rounded_w(scales->weight.quantized(w.array()));
    context->save_for_backward({rounded_x, rounded_w});
    context->saved_data["scales"] = scales;
    return halfgrad::linear(rounded_x, rounded_w);
  }

  /// dx = dy w and dw = dy^T x, with dy rounded, too.
  static Tensors backward(Context* context, const Tensors& gradients) {
    const Tensors saved = context->get_saved_variables();
    auto* scales = std::any_cast<LayerScales*>(context->saved_data.at("scales"));
    const halfgrad::Tensor dy(scales->gradient.quantized(gradients[0].array()));
    return {halfgrad::matmul(dy, saved[1]),
            halfgrad::matmul(halfgrad::transpose(dy, 0, 1), saved[0])};
  }
};

}  // namespace fp8
