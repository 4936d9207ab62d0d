#include <halfgrad/nn/averaged_model.h>

#include <cstddef>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/norm.h>

namespace halfgrad::optim {
namespace {

void expect_pairs(const std::vector<Tensor>& averaged, const std::vector<Tensor>& current,
                  const char* what) {
  if (averaged.size() != current.size()) {
    halfgrad::detail::fail("AveragedModel", "expected a model with {} {}, got {}", averaged.size(),
                           what, current.size());
  }
  for (std::size_t i = 0; i < averaged.size(); ++i) {
    if (averaged[i].sizes() == current[i].sizes()) continue;
    halfgrad::detail::fail("AveragedModel", "expected {} of shape {} at position {}, got {}", what,
                           averaged[i].sizes(), i, current[i].sizes());
  }
}

// 16-bit values are averaged in float32, integers in float64.
DType dtype_of_average(const Tensor& tensor) {
  const bool is_double = tensor.dtype() == DType::f64 || !tensor.is_floating_point();
  return is_double ? DType::f64 : DType::f32;
}

}  // namespace

AvgFn get_swa_avg_fn() {
  return [](const Tensor& averaged, const Tensor& current, const Tensor& num_averaged) {
    const Tensor weight = 1 / (num_averaged.to(DType::f64) + 1);
    return lerp(averaged, current, weight.to(averaged.dtype()));
  };
}

AvgFn get_ema_avg_fn(double decay) {
  if (!(decay >= 0 && decay <= 1)) {
    halfgrad::detail::fail("get_ema_avg_fn", "expected decay in [0, 1], got {}", decay);
  }
  return [decay](const Tensor& averaged, const Tensor& current, const Tensor&) {
    return lerp(averaged, current, 1 - decay);
  };
}

void WeightAverage::update(const nn::Module& averaged, const nn::Module& model,
                           const Tensor& num_averaged) const {
  const NoGradGuard no_grad;
  const auto params = averaged.parameters(), current = model.parameters();
  const auto buffers = averaged.buffers(), current_buffers = model.buffers();
  expect_pairs(params, current, "parameters");
  expect_pairs(buffers, current_buffers, "buffers");
  const auto average = [&](const Tensor& target, const Tensor& value) {
    const DType dtype = dtype_of_average(target);
    const Tensor count = num_averaged.to(target.device());
    const Tensor next = value.to(target.device()).to(dtype);
    const Tensor mean = options_.avg_fn(target.to(dtype), next, count);
    Tensor(target).copy_(where(count == 0, next, mean));
  };
  for (std::size_t i = 0; i < params.size(); ++i) average(params[i], current[i]);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (options_.use_buffers) {
      average(buffers[i], current_buffers[i]);
    } else {
      Tensor(buffers[i]).copy_(current_buffers[i].to(buffers[i].device()));
    }
  }
  Tensor(num_averaged).add_(1);
}

BatchNormUpdate::BatchNormUpdate(const nn::Module& model)
    : outer_(nn::detail::plain_running_averages) {
  for (const auto& module : model.modules()) {
    training_.emplace_back(module, module->is_training());
    auto* const norm = module->as<nn::BatchNorm1d>();
    if (norm == nullptr || !norm->running_mean.defined()) continue;
    norm->reset_running_stats();
    is_empty_ = false;
  }
  if (is_empty_) return;
  training_.front().first->train();
  nn::detail::plain_running_averages = true;
}

BatchNormUpdate::~BatchNormUpdate() {
  nn::detail::plain_running_averages = outer_;
  for (const auto& [module, was_training] : training_) module->train(was_training);
}

}  // namespace halfgrad::optim
