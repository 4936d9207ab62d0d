#pragma once

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

/// Losses over classes of inputs with more dimensions than [n, c].
namespace halfgrad::detail {

/// Applies the loss `of_rows` to `input` [n, c, d...], where each position [n, d...] is a row of c
/// classes. target: classes [n, d...], or probabilities of the input's shape. Unreduced losses have
/// shape [n, d...]. Throws std::invalid_argument for another target.
template <class F>
Tensor loss_by_position(const char* op, const Tensor& input, const Tensor& target,
                        const F& of_rows) {
  Shape positions = input.sizes();
  positions.erase(1);
  const auto as_rows = [&](const Tensor& x) {
    Shape classes_last{0};
    for (int i = 2; i < x.dim(); ++i) classes_last.push_back(i);
    classes_last.push_back(1);
    return reshape(permute(x, classes_last), {numel(positions), x.size(1)});
  };
  const bool soft = target.is_floating_point();
  if (target.sizes() != (soft ? input.sizes() : positions)) {
    fail(op, "expected classes of shape {} or probabilities of shape {}, got {} of shape {}",
         positions, input.sizes(), target.dtype(), target.sizes());
  }
  const Tensor loss =
      of_rows(as_rows(input), soft ? as_rows(target) : reshape(target, {numel(positions)}));
  return loss.dim() == 0 ? loss : reshape(loss, positions);
}

}  // namespace halfgrad::detail
