#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/shadow_weight.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/optim.h>
#include <halfgrad/tests/optim/parameters.h>

/// Shared by the tests of 16-bit weights that the optimizer writes.
namespace halfgrad::amp {

/// A net that is trained with shadows or, if `casts`, with a cast for each use.
struct ShadowNet {
  ShadowNet(Device device, bool casts, DType dtype = kHalf) : casts_(casts), dtype_(dtype) {
    manual_seed(3);
    first = nn::Linear(7, 9);
    second = nn::Linear(9, 3);
    first.to(device);
    second.to(device);
    for (const Tensor& p : {first.weight, first.bias, second.weight, second.bias}) {
      parameters.push_back(p);
    }
    optimizer.emplace(parameters, optim::AdamOptions{.lr = 0.01});
  }

  Tensor forward(const Tensor& x) const {
    const Autocast autocast(x.device().type(),
                            AutocastOptions{.dtype = dtype_, .cache_enabled = !casts_});
    return second(relu(first(x)));
  }
  void backward(const Tensor& x) {
    optimizer->zero_grad();
    loss = forward(x).square().mean();  // lives during the step, as in most programs
    scaler.scale(loss).backward();
  }
  void update() { static_cast<void>(scaler.step_and_update(*optimizer, {.max_norm = 1})); }
  void step(const Tensor& x) {
    backward(x);
    update();
  }
  std::vector<std::vector<std::byte>> bits() const {
    std::vector<std::vector<std::byte>> all;
    for (const Tensor& p : parameters) all.push_back(testing::bytes_of(p.array()));
    return all;
  }
  bool has_shadow() const {
    return detail::shadow_of(first.weight, dtype_).defined() &&
           detail::shadow_of(second.bias, dtype_).defined();
  }

  nn::Linear first{1, 1}, second{1, 1};
  std::vector<Tensor> parameters;
  Tensor loss;
  std::optional<optim::Adam> optimizer;
  GradScaler scaler{{.init_scale = 1024, .growth_interval = 3}};

 private:
  bool casts_;
  DType dtype_;
};

inline Tensor shadow_batch(int step, Device device) {
  manual_seed(static_cast<std::uint64_t>(step));
  return randn({5, 7}).to(device);
}

/// Something writes a weight between two steps.
struct WeightWrite {
  const char* what;
  std::function<void(ShadowNet&)> run;
};

inline const std::vector<WeightWrite>& weight_writes() {
  static const std::vector<WeightWrite> all = {
      {"nothing", [](ShadowNet&) {}},
      {"in place",
       [](ShadowNet& net) {
         const NoGradGuard no_grad;
         net.first.weight.mul_(Scalar(0.5));
       }},
      {"a row",
       [](ShadowNet& net) {
         const NoGradGuard no_grad;
         net.first.weight[2].fill_(0.25);
       }},
      {"detached", [](ShadowNet& net) { net.second.bias.detach().add_(Scalar(1)); }},
      {"Array::fill_", [](ShadowNet& net) { net.second.weight.array().fill_(0.125); }},
      {"a row of the array",
       [](ShadowNet& net) {
         net.first.weight.array().select(0, 1).copy_(Array::full({7}, 2, kFloat));
       }},
      {"init", [](ShadowNet& net) { nn::init::constant_(net.second.weight, 0.5); }},
      {"state", [](ShadowNet& net) { net.first.load_state_dict(nn::Linear(7, 9).state_dict()); }},
      {"a plain step",
       [](ShadowNet& net) {
         net.optimizer->zero_grad();
         net.forward(shadow_batch(99, net.first.weight.device())).sum().backward();
         net.optimizer->step();
       }},
      {"the four calls",
       [](ShadowNet& net) {
         net.backward(shadow_batch(98, net.first.weight.device()));
         net.scaler.unscale_(*net.optimizer);
         net.scaler.step(*net.optimizer);
         net.scaler.update();
       }},
      {"a skipped step",
       [](ShadowNet& net) {
         net.step(full({5, 7}, std::numeric_limits<double>::infinity(),
                       {.device = net.first.weight.device()}));
       }},
      {"other memory",
       [](ShadowNet& net) {
         net.first.to(kDouble);
         net.first.to(kFloat);
       }},
  };
  return all;
}

}  // namespace halfgrad::amp
