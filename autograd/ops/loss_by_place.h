#pragma once

#include <stdexcept>
#include <string>

#include <halfgrad/autograd/ops.h>

/// Losses over classes of inputs with more dimensions than rows and classes.
namespace halfgrad::detail {

/// The loss `of_rows` of `input` [n, c, d...], where every place in n and d... is a row of its own.
/// target: classes [n, d...], or floating and of the input's shape. A loss of each row comes back
/// as [n, d...]. Throws std::invalid_argument for another target.
template <class F>
Tensor loss_by_place(const char* op, const Tensor& input, const Tensor& target, const F& of_rows) {
  Shape places = input.sizes();
  places.erase(1);
  const auto as_rows = [&](const Tensor& x) {
    Shape classes_last{0};
    for (int i = 2; i < x.dim(); ++i) classes_last.push_back(i);
    classes_last.push_back(1);
    return reshape(permute(x, classes_last), {numel(places), x.size(1)});
  };
  const bool soft = target.is_floating_point();
  if (target.sizes() != (soft ? input.sizes() : places)) {
    throw std::invalid_argument(
        std::string(op) + ": expected classes of shape " + to_string(places) +
        " or probabilities of shape " + to_string(input.sizes()) + ", got " +
        std::string(name(target.dtype())) + " of shape " + to_string(target.sizes()));
  }
  const Tensor loss =
      of_rows(as_rows(input), soft ? as_rows(target) : reshape(target, {numel(places)}));
  return loss.dim() == 0 ? loss : reshape(loss, places);
}

}  // namespace halfgrad::detail
