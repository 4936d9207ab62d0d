#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/master_weights.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/late_work.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/optim/optim.h>
#include <halfgrad/tests/optim/make_optimizer.h>
#include <halfgrad/tests/optim/parameters.h>

/// Shared by the tests of Optimizer::set_late_updates().
namespace halfgrad::amp {

/// A way of ending an iteration, between zero_grad() and the next forward pass.
struct LateStep {
  const char* name;
  bool autocasts = true;
  bool has_masters = false;
  bool scales = true;
  std::function<void(optim::Optimizer&, GradScaler&)> end;
};

inline const std::vector<LateStep>& late_steps() {
  const auto in_two_calls = [](optim::Optimizer& optimizer, GradScaler& scaler) {
    scaler.step(optimizer);
    scaler.update();
  };
  static const std::vector<LateStep> all = {
      {.name = "step_and_update",
       .end =
           [](optim::Optimizer& optimizer, GradScaler& scaler) {
             static_cast<void>(scaler.step_and_update(optimizer, {.max_norm = 1}));
           }},
      {.name = "step, update", .end = in_two_calls},
      {.name = "float32", .autocasts = false, .end = in_two_calls},
      {.name = "masters", .autocasts = false, .has_masters = true, .end = in_two_calls},
      {.name = "four calls",
       .end =
           [](optim::Optimizer& optimizer, GradScaler& scaler) {
             scaler.unscale_(optimizer);
             nn::utils::clip_grad_norm_(optimizer.parameters(), 1);
             scaler.step(optimizer);
             scaler.update();
           }},
      {.name = "clip, step",
       .scales = false,
       .end =
           [](optim::Optimizer& optimizer, GradScaler&) {
             nn::utils::clip_grad_norm_(optimizer.parameters(), 1);
             optimizer.step();
           }},
      {.name = "step",
       .autocasts = false,
       .scales = false,
       .end = [](optim::Optimizer& optimizer, GradScaler&) { optimizer.step(); }},
  };
  return all;
}

inline MakeOptimizer late_adam() {
  return make<optim::Adam>(optim::AdamArguments{.lr = 0.01, .weight_decay = 0.1});
}

/// Three layers, each of which is large enough for a launch if `late`.
struct LateNet {
  LateNet(Device on, bool late, const LateStep& way = late_steps()[0],
          const MakeOptimizer& make = late_adam())
      : device(on), step_(way) {
    manual_seed(3);
    for (std::size_t i = 0; i + 1 < 4; ++i) {
      layers.emplace_back(kSizes[i], kSizes[i + 1]);
      layers.back().to(device);
      if (way.has_masters) layers.back().to(kHalf);
      parameters.push_back(layers.back().weight);
      parameters.push_back(layers.back().bias);
    }
    optimizer = make(parameters);
    if (way.has_masters) masters.emplace(*optimizer);
    optimizer->set_late_updates(late, 1);
  }

  Tensor forward(const Tensor& x) const {
    const Autocast autocast(device.type(), {.dtype = kHalf, .enabled = step_.autocasts});
    Tensor y = step_.has_masters ? x.to(kHalf) : x;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      y = layers[i](y);
      if (i + 1 < layers.size()) y = relu(y);
    }
    return y;
  }
  void step(const Tensor& x) {
    optimizer->zero_grad();
    const Tensor loss = forward(x).to(kFloat).square().mean();
    losses.push_back(loss.detach());
    (step_.scales ? scaler.scale(loss) : loss).backward();
    step_.end(*optimizer, scaler);
  }

  bool is_late(std::size_t parameter) const {
    return detail::has_late_work(*parameters[parameter].impl()->array.storage());
  }
  std::vector<std::vector<std::byte>> bits() const {
    std::vector<std::vector<std::byte>> all;
    for (const Tensor& p : parameters) {
      all.push_back(testing::bytes_of(p.array()));
      for (const auto& [name, array] : optimizer->state(p)) {
        all.push_back(testing::bytes_of(array));
      }
    }
    for (const auto& [name, array] : scaler.records()) all.push_back(testing::bytes_of(array));
    for (const Tensor& loss : losses) all.push_back(testing::bytes_of(loss.array()));
    if (optimizer->skipped_steps().defined()) {
      all.push_back(testing::bytes_of(optimizer->skipped_steps()));
    }
    return all;
  }

  static constexpr std::int64_t kSizes[] = {7, 9, 5, 3};
  Device device;
  std::vector<nn::Linear> layers;
  std::vector<Tensor> parameters, losses;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::optional<MasterWeights> masters;
  GradScaler scaler{{.init_scale = 1024, .growth_interval = 2}};

 private:
  LateStep step_;
};

/// The batch of a step; an infinite one for every fourth step.
inline Tensor late_batch(int step, Device device) {
  manual_seed(static_cast<std::uint64_t>(step));
  const Tensor batch = randn({5, 7});
  if (step % 4 == 2) batch.fill_(std::numeric_limits<float>::infinity());
  return batch.to(device);
}

}  // namespace halfgrad::amp
