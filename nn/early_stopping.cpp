#include <halfgrad/nn/early_stopping.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn {
namespace {

StateDict copy_of(const StateDict& state) {
  const NoGradGuard no_grad;
  StateDict copy;
  for (const auto& [name, tensor] : state) copy.insert(name, tensor.clone());
  return copy;
}

}  // namespace

EarlyStopping::EarlyStopping(const Module& model, EarlyStoppingOptions options)
    : model_(model), options_(options), best_(std::numeric_limits<double>::quiet_NaN()) {
  if (options.patience < 1) {
    halfgrad::detail::fail("EarlyStopping", "expected patience > 0, got {}", options.patience);
  }
  if (!(options.min_delta >= 0)) {
    halfgrad::detail::fail("EarlyStopping", "expected min_delta >= 0, got {}", options.min_delta);
  }
}

bool EarlyStopping::step(double metric) {
  ++epoch_;
  const double gain = options_.maximize ? metric - best_ : best_ - metric;
  if (!std::isnan(metric) && (!weights_ || gain > options_.min_delta)) {
    best_ = metric;
    best_epoch_ = epoch_;
    weights_ = copy_of(model_.state_dict());
  }
  return epoch_ - best_epoch_ >= options_.patience;
}

void EarlyStopping::restore_best() {
  if (!weights_) {
    halfgrad::detail::fail<std::runtime_error>(
        "EarlyStopping", "expected an epoch whose metric is not NaN, got none in {} epochs",
        epoch_ + 1);
  }
  model_.load_state_dict(*weights_);
}

}  // namespace halfgrad::nn
