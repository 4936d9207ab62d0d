#include "training.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include <halfgrad/core/allocator.h>
#include <halfgrad/data/data_loader.h>

#include "progress.h"

namespace hg = halfgrad;

namespace {

/// Adam's eps is 1e-4 for 16-bit weights: their moments are in 16 bits as well, a squared gradient
/// below 2^-25 is zero there, and divided by 1e-8 its update is infinite.
std::unique_ptr<hg::optim::Optimizer> make_optimizer(const Task& task, hg::DType weights,
                                                     const std::vector<hg::Tensor>& parameters) {
  const double eps = weights == hg::kHalf ? 1e-4 : 1e-8;
  if (task.optimizer == "sgd")
    return std::make_unique<hg::optim::SGD>(parameters,
                                            hg::optim::SGDOptions{.lr = task.lr, .momentum = 0.9});
  if (task.optimizer == "adamw")
    return std::make_unique<hg::optim::AdamW>(parameters,
                                              hg::optim::AdamWOptions{.lr = task.lr, .eps = eps});
  return std::make_unique<hg::optim::Adam>(parameters,
                                           hg::optim::AdamOptions{.lr = task.lr, .eps = eps});
}

/// A model being trained in one precision.
class Trainer {
 public:
  Trainer(const Task& task, const Precision& precision)
      : task_(task), precision_(precision), model_(task.make_model()) {
    model_.to(task.device);
    model_.to(precision.weights);
    optimizer_ = make_optimizer(task, precision.weights, model_.parameters());
  }

  struct Step {
    hg::Tensor output, loss;
  };

  Step step(const hg::Tensor& x, const hg::Tensor& y) {
    optimizer_->zero_grad();
    const Step result = forward(x, y);
    scaler_.scale(result.loss).backward();
    scaler_.unscale_(*optimizer_);
    hg::nn::utils::clip_grad_norm_(model_.parameters(), 1.0);
    scaler_.step(*optimizer_);
    scaler_.update();
    return result;
  }

  Step forward(const hg::Tensor& x, const hg::Tensor& y) const {
    const hg::amp::Autocast autocast(
        task_.device.type(),
        {.dtype = precision_.autocast, .enabled = precision_.autocast.has_value()});
    const hg::Tensor output = model_(x.to(precision_.weights));
    return {output, task_.loss(output, y)};
  }

  double scale() const { return scaler_.get_scale(); }
  std::int64_t skipped() const { return scaler_.counts().skipped_steps; }
  std::vector<hg::Tensor> weights() const {
    std::vector<hg::Tensor> copies;
    for (const hg::Tensor& parameter : model_.parameters())
      copies.push_back(parameter.detach().clone());
    return copies;
  }

 private:
  const Task& task_;
  const Precision& precision_;
  hg::nn::Sequential model_;
  std::unique_ptr<hg::optim::Optimizer> optimizer_;
  hg::amp::GradScaler scaler_{{.enabled = precision_.scales_loss}};
};

double share_of_differences(const std::vector<hg::Tensor>& a, const std::vector<hg::Tensor>& b) {
  double differences = 0, count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences += (a[i] != b[i]).sum().item();
    count += static_cast<double>(a[i].numel());
  }
  return differences / count;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

TrainingReport train(const Task& task, const Precision& precision, std::uint64_t seed) {
  hg::manual_seed(seed);
  const std::int64_t bytes_before = hg::allocator::stats(task.device).current;
  hg::allocator::reset_peak(task.device);

  Trainer trainer(task, precision);
  hg::data::DataLoader loader(task.train,
                              {.batch_size = task.batch, .shuffle = true, .seed = seed});
  const std::int64_t steps = std::min(task.steps, task.epochs * loader.size());
  Progress progress(std::string(precision.name), task.score_text, task.epochs, steps);
  TrainingReport report;
  report.precision = precision.name;
  report.seed = seed;
  std::vector<double> seconds;
  std::vector<hg::Tensor> weights_before;
  while (std::ssize(seconds) < steps) {
    EpochReport& epoch = report.epochs.emplace_back();
    std::int64_t batches = 0;
    for (auto [x, y] : loader) {
      x = x.to(task.device);
      y = y.to(task.device);
      const bool is_last = std::ssize(seconds) + 1 == steps;
      if (is_last) {
        report.peak_bytes = hg::allocator::stats(task.device).peak - bytes_before;
        weights_before = trainer.weights();
      }
      const auto start = std::chrono::steady_clock::now();
      const auto [output, loss] = trainer.step(x, y);
      const double loss_value = loss.item();  // waits for the device
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());

      const hg::NoGradGuard no_grad;
      ++batches;
      epoch.loss += (loss_value - epoch.loss) / static_cast<double>(batches);
      epoch.score += (task.score(output, y).item() - epoch.score) / static_cast<double>(batches);
      if (precision.scales_loss) epoch.scale = trainer.scale();
      epoch.skipped = trainer.skipped();
      progress.show(std::ssize(report.epochs), std::ssize(seconds), epoch);
      if (is_last) break;
    }
    progress.end_epoch(std::ssize(report.epochs), epoch);
  }
  progress.end();

  report.median_step = median(seconds);
  report.moved_weights = share_of_differences(weights_before, trainer.weights());
  const hg::NoGradGuard no_grad;
  const hg::Tensor test_x = task.test.first.to(task.device),
                   test_y = task.test.second.to(task.device);
  report.test_score = task.score(trainer.forward(test_x, test_y).output, test_y).item();
  return report;
}
