// Exercise 5: the scaled step.
#include "exercise.h"

namespace hg = halfgrad;

bool scaled_step(const hg::Tensor& loss, hg::optim::Optimizer& optimizer,
                 const std::vector<hg::Tensor>& parameters, double scale, double max_norm) {
  optimizer.zero_grad();
  // solution begin
  // blank: loss.backward();  // small gradients become 0 here
  // blank: static_cast<void>(scale);
  // blank: static_cast<void>(parameters);
  // blank: static_cast<void>(max_norm);
  (loss * scale).backward();
  for (const hg::Tensor& parameter : parameters) {
    if (hg::isfinite(parameter.grad()).all().item() == 0) return false;
  }
  for (const hg::Tensor& parameter : parameters) parameter.grad().mul_(1 / scale);
  hg::nn::utils::clip_grad_norm_(parameters, max_norm);
  // solution end
  optimizer.step();
  return true;
}
