#include "trainer.h"

#include <utility>

namespace hg = halfgrad;

/// Uses Adam's eps 1e-4 for fp16 weights without masters. Their moments m and v are fp16, too: v is
/// zero if the squared gradient is below 2^-25, and m / (sqrt(v) + 1e-8) then overflows.
std::unique_ptr<hg::optim::Optimizer> make_optimizer(
    const Task& task, const Precision& precision, std::vector<hg::optim::ParamGroup> parameters) {
  const double eps = precision.weights == hg::kHalf && !precision.masters ? 1e-4 : 1e-8;
  if (task.optimizer == "sgd")
    return std::make_unique<hg::optim::SGD>(
        std::move(parameters), hg::optim::SGDArguments{.lr = task.lr, .momentum = 0.9});
  if (task.optimizer == "adamw")
    return std::make_unique<hg::optim::AdamW>(std::move(parameters),
                                              hg::optim::AdamWArguments{.lr = task.lr, .eps = eps});
  return std::make_unique<hg::optim::Adam>(std::move(parameters),
                                           hg::optim::AdamArguments{.lr = task.lr, .eps = eps});
}

namespace {

/// Number of steps of which the scaler keeps a report, for the page. A checkpoint would contain
/// them, so a training that is saved keeps none: its file does not depend on --report.
std::int64_t history(const Task& task) {
  return task.page != nullptr && task.save.empty() && task.resume.empty() ? 64 : 0;
}

}  // namespace

Trainer::Trainer(const Task& task, const Precision& precision, double init_scale)
    : task_(task),
      precision_(precision),
      model_(task.make_model()),
      scaler_(
          {.init_scale = init_scale, .enabled = precision.scales_loss, .history = history(task)}) {
  model_.to(task.device);
  model_.to(precision.weights);
  optimizer_ = make_optimizer(task, precision, {{.params = model_.parameters()}});
  if (precision.masters) masters_.emplace(*optimizer_);
}

Trainer::Step Trainer::step(const hg::Tensor& x, const hg::Tensor& y) {
  optimizer_->zero_grad();
  Step result = forward(x, y);
  scaler_.scale(result.loss).backward();
  scaler_.unscale_(*optimizer_);
  result.grad_norm = hg::nn::utils::clip_grad_norm_(model_.parameters(), 1.0);
  scaler_.step(*optimizer_);
  scaler_.update();
  return result;
}

Trainer::Step Trainer::forward(const hg::Tensor& x, const hg::Tensor& y) const {
  const hg::amp::Autocast autocast(
      task_.device.type(),
      {.dtype = precision_.autocast, .enabled = precision_.autocast.has_value()});
  const hg::Tensor output = model_(x.to(precision_.weights));
  return {output, task_.loss(output, y), {}};
}

void Trainer::write(hg::io::Checkpoint& checkpoint) const {
  checkpoint.write("model", model_);
  checkpoint.write("optimizer", *optimizer_);
  checkpoint.write("scaler", scaler_);
  checkpoint.write("random", hg::default_generator());
}

void Trainer::read(const hg::io::Checkpoint& checkpoint) {
  checkpoint.read("model", model_);
  checkpoint.read("optimizer", *optimizer_);
  checkpoint.read("scaler", scaler_);
  checkpoint.read("random", hg::default_generator());
}

std::vector<hg::Tensor> Trainer::weights() const {
  std::vector<hg::Tensor> copies;
  for (const hg::Tensor& parameter : model_.parameters())
    copies.emplace_back((masters_ ? masters_->master(parameter) : parameter.array()).clone());
  return copies;
}
