#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/amp/training/trained.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/optim/make_optimizer.h>

/// A scale on the device of the first loss, gradients anywhere.
namespace halfgrad::amp {
namespace {

Device here() { return get_default_device(); }
Device there() { return here() == Device(kCPU, 1) ? Device() : Device(kCPU, 1); }

Tensor put(const Values& values, Device device) { return vector_of(values).to(device).detach(); }
Values read(const Tensor& tensor) { return tensor.to_vector<double>(); }

/// Two parameters, each on a device, as one group or two.
struct DeviceParameters {
  DeviceParameters(std::vector<Device> devices, bool one_group) {
    for (const Device device : devices) {
      params.push_back(put({1, 2}, device).requires_grad_());
    }
    if (one_group) {
      groups.push_back({.params = params});
    } else {
      for (const Tensor& param : params) groups.push_back({.params = {param}});
    }
  }
  void set(std::size_t i, const Values& gradient) {
    params[i].set_grad(put(gradient, params[i].device()));
  }

  std::vector<Tensor> params;
  std::vector<optim::ParamGroup> groups;
};

std::vector<std::vector<Device>> all_places() {
  return {{there(), there()}, {here(), there()}, {there(), here()}};
}

TEST(SeveralDevices, GradientsMayBeOnAnyDevice) {
  for (const auto& devices : all_places()) {
    for (const bool one_group : {false, true}) {
      for (const bool unscale : {false, true}) {
        SCOPED_TRACE(devices[0].str() + " " + devices[1].str() + (one_group ? ", one group" : "") +
                     (unscale ? ", unscale_" : ""));
        DeviceParameters parameters(devices, one_group);
        optim::SGD optimizer(parameters.groups, {.lr = 1, .momentum = 0.5});
        GradScaler scaler = started({.init_scale = 4, .growth_interval = 1, .history = 4});
        for (int bad = 0; bad < 3; ++bad) {  // the last round is a good one
          for (int i = 0; i < 2; ++i) parameters.set(i, {bad == i ? kNaN : 4, 8});
          scaler.update(4.0);
          if (unscale) scaler.unscale_(optimizer);
          EXPECT_EQ(scaler.step(optimizer).skipped(), bad < 2);
          EXPECT_EQ(optimizer.skipped_steps().item(), bad < 2 ? bad + 1.0 : 2);
          scaler.update();
          EXPECT_EQ(scaler.get_scale(), bad < 2 ? 2 : 8);
          EXPECT_EQ(scaler.reports().back().nonfinite, bad < 2 ? 1 : 0);
          EXPECT_EQ(scaler.reports().back().first_bad_parameter, bad < 2 ? bad : -1.0);
          for (const Tensor& param : parameters.params) {
            EXPECT_EQ(read(param), bad < 2 ? (Values{1, 2}) : (Values{0, 0}));
          }
        }
        EXPECT_EQ(read(parameters.params[0].grad()), (Values{1, 2}));
        EXPECT_EQ(read(parameters.params[1].grad()), (Values{1, 2}));
      }
    }
  }
}

TEST(SeveralDevices, EqualOneOptimizerPerDevice) {
  DeviceParameters together({here(), there()}, true), on_one_device({here(), here()}, true);
  optim::Adam optimizer(together.groups, {.lr = 0.1}), reference(on_one_device.groups, {.lr = 0.1});
  for (int step = 0; step < 3; ++step) {
    for (DeviceParameters* parameters : {&together, &on_one_device}) {
      for (std::size_t i = 0; i < 2; ++i) parameters->set(i, {1.0 + static_cast<double>(i), -0.5});
    }
    optimizer.step();
    reference.step();
    optimizer.param_groups()[0].lr = reference.param_groups()[0].lr = 0.01;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read(together.params[i]), read(on_one_device.params[i]));
    EXPECT_EQ(optimizer.state(together.params[i]).at("step").device(), together.params[i].device());
  }
}

// The bits are those of one device: norms are summed on the device of the first gradient.
TEST(SeveralDevices, ClippingEqualsThatOfOneDevice) {
  using namespace nn::utils;
  using Clip = std::function<Tensor(const std::vector<Tensor>&)>;
  const Clip clips[] = {
      [](const auto& params) { return clip_grad_norm_(params, 1); },
      [](const auto& params) { return clip_grad_norm_(params, 1, kInfinite); },
      [](const auto& params) {
        clip_grad_value_(params, 2.5);
        return filled({}, 0);
      },
      [](const auto& params) {
        std::vector<Tensor> gradients;
        for (const Tensor& param : params) gradients.push_back(param.grad());
        const Tensor total = get_total_norm(gradients);
        clip_grads_with_norm_(params, 1, total);
        return total;
      },
  };
  for (const Clip& clip : clips) {
    for (auto devices : all_places()) {
      devices.push_back(devices[0]);
      DeviceParameters parameters(devices, true), on_one_device(std::vector(3, devices[0]), true);
      for (DeviceParameters* const p : {&parameters, &on_one_device}) {
        for (std::size_t i = 0; i < 3; ++i) p->set(i, {3, -4 - static_cast<double>(i)});
      }
      const Tensor total = clip(parameters.params);
      EXPECT_EQ(total.item(), clip(on_one_device.params).item());
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(read(parameters.params[i].grad()), read(on_one_device.params[i].grad()));
        EXPECT_EQ(parameters.params[i].grad().device(), devices[i]);
        EXPECT_NE(read(parameters.params[i].grad()), (Values{3, -4 - static_cast<double>(i)}));
      }
    }
  }
}

/// An optimizer that checks its StepControl.
class CheckingOptimizer : public optim::Optimizer {
 public:
  explicit CheckingOptimizer(std::vector<optim::ParamGroup> groups)
      : Optimizer("CheckingOptimizer", {.lr = 1.0}) {
    add_param_groups(std::move(groups));
  }

  int updates = 0;

 protected:
  void check_options(const optim::ParamGroup&) const override {}
  std::vector<optim::StateEntry> state_entries(const optim::ParamGroup&) const override {
    return {};
  }
  void update(const optim::ParamGroup& group, const detail::GroupOptions*,
              const optim::StepControl& control) override {
    for (const Tensor& param : group.params) {
      EXPECT_EQ(control.inv_scale->device(), param.device());
      EXPECT_EQ(control.found_inf->device(), param.device());
      EXPECT_EQ(control.inv_scale->item(), 0.25);
      EXPECT_EQ(control.found_inf->item(), 0);
      ++updates;
    }
  }
};

TEST(SeveralDevices, KernelsReadTheirOwnDevice) {
  for (const auto& devices : all_places()) {
    for (const bool one_group : {false, true}) {
      DeviceParameters parameters(devices, one_group);
      parameters.set(0, {4, 4});
      parameters.set(1, {4, 4});
      CheckingOptimizer optimizer(parameters.groups);
      GradScaler scaler = started();
      scaler.step(optimizer);
      EXPECT_EQ(optimizer.updates, 2);
    }
  }
}

// A loaded count may be on another device than the scale is now.
TEST(SeveralDevices, SkippedStepsFollowTheScale) {
  Trained trained({kInfinite});
  GradScaler scaler = started();
  scaler.step(trained.optimizer);
  Tensor param = put({1}, there()).requires_grad_();
  optim::SGD resumed({param}, {.lr = 1});
  resumed.load_state_dict(trained.optimizer.state_dict());
  param.set_grad(put({kInfinite}, there()));
  GradScaler other = started();
  other.step(resumed);
  EXPECT_EQ(resumed.skipped_steps().device(), here());
  EXPECT_EQ(resumed.skipped_steps().item(), 2);
}

// The group's other device has no gradient, and no update of its own.
TEST(SeveralDevices, TwoPassesUpdateAGroupOnce) {
  for (const auto& devices : all_places()) {
    if (devices[0] == devices[1]) continue;
    for (const bool at_once : {false, true}) {
      DeviceParameters parameters(devices, true);
      optim::SGD optimizer(parameters.groups, {.lr = 1});
      GradScaler scaler({.init_scale = 4});
      const Tensor with_gradient = parameters.params[devices[0] == here() ? 0 : 1];
      scaler.scale(with_gradient.to(kHalf).sum(kFloat)).backward();
      if (at_once) {
        EXPECT_FALSE(scaler.step_and_update(optimizer, {.max_norm = 10}).skipped());
      } else {
        EXPECT_FALSE(scaler.step(optimizer).skipped());
      }
      EXPECT_EQ(read(with_gradient), (Values{0, 1}));
    }
  }
}

}  // namespace
}  // namespace halfgrad::amp
