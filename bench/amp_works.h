#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <halfgrad/halfgrad.h>

/// The workloads of bench_amp_step and bench_count_step: one fp16 mixed-precision training step of
/// an MLP with GradScaler, clipping to norm 1 and Adam. bench/amp_works.py lists the same sizes.
namespace halfgrad::bench {

struct Work {
  const char* name;
  std::vector<std::int64_t> sizes;
  std::int64_t batch;

  /// Whether FusedMLP has kernels for it.
  bool is_narrow() const { return *std::max_element(sizes.begin(), sizes.end()) <= 128; }
};

inline const std::vector<Work>& works() {
  static const std::vector<Work> all = {
      {"S", {784, 512, 512, 10}, 256},
      {"W64x14", {64, 64, 64, 64, 64, 10}, 1 << 14},
      {"W64x18", {64, 64, 64, 64, 64, 10}, 1 << 18},
      {"W128x14", {128, 128, 128, 128, 128, 10}, 1 << 14},
      {"W128x18", {128, 128, 128, 128, 128, 10}, 1 << 18},
      {"L", {4096, 4096, 4096, 4096, 4096}, 8192},
  };
  return all;
}

inline nn::Sequential layers(const Work& work) {
  nn::Sequential model;
  for (std::size_t i = 0; i + 1 < work.sizes.size(); ++i) {
    if (i > 0) model.push_back(nn::ReLU());
    model.push_back(nn::Linear(work.sizes[i], work.sizes[i + 1]));
  }
  return model;
}

struct AmpStepOptions {
  bool scales_loss = true;
  bool fused = false;       ///< FusedMLP, with its loss, instead of Sequential
  bool four_calls = false;  ///< unscale_, clip_grad_norm_, step, update instead of step_and_update
  bool half_batch = false;  ///< a batch that is fp16 already
  bool late_updates = false;  ///< Optimizer::set_late_updates(), from 2^17 elements
  bool gelu = false;          ///< gelu between the layers of FusedMLP instead of relu
  bool warpgroups = false;    ///< backends::cuda::set_allow_warpgroup_mlp()
};

/// A model, its optimizer and scaler, and a batch that stays on the device.
class AmpStep {
 public:
  AmpStep(const Work& work, const AmpStepOptions& options, Device device)
      : device_(device),
        four_calls_(options.four_calls),
        scaler_({.enabled = options.scales_loss}) {
    manual_seed(0);
    backends::cuda::set_allow_warpgroup_mlp(options.warpgroups);
    if (options.fused) {
      const nn::FusedMLP model(work.sizes, {.activation = options.gelu ? "gelu" : "relu"});
      module_ = model;
      loss_ = [model](const Tensor& x, const Tensor& y) { return model.cross_entropy(x, y); };
    } else {
      const nn::Sequential model = layers(work);
      module_ = model;
      loss_ = [model](const Tensor& x, const Tensor& y) {
        return nn::functional::cross_entropy(model(x), y);
      };
    }
    module_.to(device);
    optimizer_.emplace(module_.parameters(), optim::AdamArguments{.lr = 1e-3});
    optimizer_->set_late_updates(options.late_updates, 1 << 17);
    x_ = randn({work.batch, work.sizes.front()}).to(device);
    if (options.half_batch) x_ = x_.to(kHalf);
    y_ = randint(work.sizes.back(), {work.batch}).to(device);
  }

  void run() {
    optimizer_->zero_grad();
    Tensor loss;
    {
      const amp::Autocast autocast(device_.type(), {.dtype = kHalf});
      loss = loss_(x_, y_);
    }
    scaler_.scale(loss).backward();
    if (four_calls_) {
      scaler_.unscale_(*optimizer_);
      nn::utils::clip_grad_norm_(module_.parameters(), 1.0);
      scaler_.step(*optimizer_);
      scaler_.update();
    } else {
      static_cast<void>(scaler_.step_and_update(*optimizer_, {.max_norm = 1.0}));
    }
  }

  std::int64_t parameters() const {
    std::int64_t count = 0;
    for (const Tensor& parameter : module_.parameters()) count += parameter.numel();
    return count;
  }

 private:
  Device device_;
  bool four_calls_;
  nn::Module module_;
  std::function<Tensor(const Tensor&, const Tensor&)> loss_;
  std::optional<optim::Adam> optimizer_;
  amp::GradScaler scaler_;
  Tensor x_, y_;
};

}  // namespace halfgrad::bench
