#include <halfgrad/compat/torch.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

// An optimizer as programs for libtorch write it: options, state and step() of its own.
namespace {

namespace torch = halfgrad;

struct HeavyBallOptions : torch::optim::OptimizerCloneableOptions<HeavyBallOptions> {
  HeavyBallOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0.9;

 public:
  double get_lr() const override { return lr(); }
  void set_lr(const double lr) override { this->lr(lr); }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(momentum);
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, momentum);
  }
};

struct HeavyBallState : torch::optim::OptimizerCloneableParamState<HeavyBallState> {
  TORCH_ARG(torch::Tensor, buffer) = {};
  TORCH_ARG(int64_t, count) = 0;

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(buffer);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(count);
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, buffer);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(int64_t, count);
  }
};

class HeavyBall : public torch::optim::Optimizer {
 public:
  HeavyBall(std::vector<torch::optim::OptimizerParamGroup> groups, HeavyBallOptions defaults)
      : Optimizer(std::move(groups), std::make_unique<HeavyBallOptions>(defaults)) {}
  HeavyBall(std::vector<torch::Tensor> params, HeavyBallOptions defaults)
      : HeavyBall({torch::optim::OptimizerParamGroup(std::move(params))}, defaults) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    torch::Tensor loss = {};
    if (closure != nullptr) {
      torch::AutoGradMode enable_grad(true);
      loss = closure();
    }
    for (auto& group : param_groups_) {
      auto& options = static_cast<HeavyBallOptions&>(group.options());
      for (auto& p : group.params()) {
        if (!p.grad().defined()) continue;
        auto found = state_.find(p.unsafeGetTensorImpl());
        if (found == state_.end()) {
          auto fresh = std::make_unique<HeavyBallState>();
          fresh->buffer(torch::zeros_like(p));
          found = state_.emplace(p.unsafeGetTensorImpl(), std::move(fresh)).first;
        }
        auto& state = static_cast<HeavyBallState&>(*found->second);
        state.buffer().mul_(options.momentum()).add_(p.grad());
        state.count(state.count() + 1);
        p.add_(state.buffer(), -options.lr());
      }
    }
    return loss;
  }
  void save(torch::serialize::OutputArchive& archive) const override {
    torch::optim::serialize<HeavyBallState, HeavyBallOptions>(archive, *this);
  }
  void load(torch::serialize::InputArchive& archive) override {
    torch::optim::serialize<HeavyBallState, HeavyBallOptions>(archive, *this);
  }
};

torch::Tensor weights_of(double value) { return torch::tensor({value, -value}).requires_grad_(); }
torch::Tensor squares_of(const torch::Tensor& w) {
  w.set_grad(torch::Tensor());
  torch::Tensor loss = (w * w).sum();
  loss.backward();
  return loss;
}

TEST(OwnOptimizer, StepsAsSGDOfTheLibrary) {
  const torch::Tensor w = weights_of(1), v = weights_of(1);
  HeavyBall own({w}, HeavyBallOptions(0.1));
  torch::optim::SGD sgd({v}, torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int i = 0; i < 5; ++i) {
    squares_of(v);
    sgd.step();
    EXPECT_EQ(own.step([&] { return squares_of(w); }).dim(), 0);
    EXPECT_TRUE(torch::allclose(w, v, 1e-6, 0));
  }
  EXPECT_EQ(own.name(), "HeavyBall");
  own.zero_grad();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(own.state().size(), 1);
  EXPECT_EQ(own.defaults().get_lr(), 0.1);
}

TEST(OwnOptimizer, GroupsHaveOptionsOfTheirOwn) {
  const torch::Tensor w = weights_of(1), v = weights_of(1), u = weights_of(1);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<torch::Tensor>{w});
  groups.emplace_back(std::vector<torch::Tensor>{v},
                      std::make_unique<HeavyBallOptions>(HeavyBallOptions(0.5).momentum(0)));
  HeavyBall own(groups, HeavyBallOptions(0.1));
  own.add_param_group(torch::optim::OptimizerParamGroup({u}));
  EXPECT_EQ(own.param_groups()[0].options().get_lr(), 0.1);
  EXPECT_EQ(own.param_groups()[1].options().get_lr(), 0.5);
  own.param_groups()[0].options().set_lr(0.25);
  EXPECT_EQ(static_cast<HeavyBallOptions&>(own.param_groups()[0].options()).lr(), 0.25);
  EXPECT_EQ(own.param_groups()[2].options().get_lr(), 0.1);
  EXPECT_EQ(own.defaults().get_lr(), 0.1);
  torch::optim::StepLR schedule(own, 1, 0.5);
  schedule.step();
  schedule.step();
  EXPECT_EQ(own.param_groups()[0].options().get_lr(), 0.125);
  EXPECT_EQ(own.param_groups()[1].options().get_lr(), 0.25);
  EXPECT_EQ(schedule.get_last_lr(), (std::vector<double>{0.125, 0.25, 0.05}));
  EXPECT_THROW(
      static_cast<void>(static_cast<torch::optim::AdamOptions&>(own.param_groups()[0].options())),
      std::invalid_argument);
  torch::optim::Adam adam({weights_of(1)}, 0.1);
  EXPECT_EQ(torch::message_of<std::invalid_argument>([&] {
              static_cast<void>(static_cast<HeavyBallOptions&>(adam.param_groups()[0].options()));
            }),
            "options: expected the group of an optimizer with HeavyBallOptions, got another "
            "optimizer's");
  EXPECT_EQ(torch::message_of<std::invalid_argument>([&] {
              adam.add_param_group(torch::optim::OptimizerParamGroup(
                  {weights_of(2)}, std::make_unique<HeavyBallOptions>(0.1)));
            }),
            "Adam: expected a group with its own options, got HeavyBallOptions");
  EXPECT_THROW(adam.defaults(), std::logic_error);
}

TEST(OwnOptimizer, AGradScalerUnscalesAndSkips) {
  const torch::Tensor w = weights_of(1), v = weights_of(1);
  HeavyBall scaled({w}, HeavyBallOptions(0.1)), plain({v}, HeavyBallOptions(0.1));
  torch::amp::GradScaler scaler({.init_scale = 1024});
  for (int i = 0; i < 3; ++i) {
    scaled.zero_grad();
    scaler.scale((w * w).sum()).backward();
    if (i == 1) scaler.unscale_(scaled);
    scaler.step(scaled);
    scaler.update();
    plain.step([&] { return squares_of(v); });
    EXPECT_TRUE(torch::allclose(w, v, 1e-6, 0));
    EXPECT_TRUE(torch::allclose(w.grad(), v.grad(), 1e-12, 0));
  }
  const torch::Tensor before = w.detach().clone();
  scaled.zero_grad();
  scaler.scale((w * INFINITY).sum()).backward();
  scaler.step(scaled);
  scaler.update();
  EXPECT_TRUE(torch::equal(w, before));
  EXPECT_EQ(scaler.get_scale(), 512);
  EXPECT_EQ(scaled.skipped_steps().item<int64_t>(), 1);
  EXPECT_EQ(scaled.steps(), 4);
}

TEST(OwnOptimizer, IsSavedByItsOwnFunctions) {
  const torch::Tensor w = weights_of(1), v = weights_of(1), unused = weights_of(3);
  HeavyBall own({w, unused}, HeavyBallOptions(0.1).momentum(0.5));
  own.step([&] { return squares_of(w); });
  std::stringstream file;
  torch::save(own, file);
  HeavyBall loaded({v, unused}, HeavyBallOptions(0.3));
  torch::load(loaded, file);
  v.set_data(w.detach().clone());
  EXPECT_EQ(static_cast<HeavyBallOptions&>(loaded.param_groups()[0].options()).momentum(), 0.5);
  EXPECT_EQ(loaded.state().size(), 1);
  own.step([&] { return squares_of(w); });
  loaded.step([&] { return squares_of(v); });
  EXPECT_TRUE(torch::equal(w, v));
  EXPECT_EQ(static_cast<HeavyBallState&>(*loaded.state()[v.unsafeGetTensorImpl()]).count(), 2);

  torch::serialize::OutputArchive output;
  own.save(output);
  torch::serialize::InputArchive input;
  std::stringstream bytes;
  output.save_to(bytes);
  input.load_from(bytes);
  HeavyBall smaller({weights_of(1)}, HeavyBallOptions(0.1));
  EXPECT_EQ(torch::message_of<std::invalid_argument>([&] { smaller.load(input); }),
            "HeavyBall: expected 1 parameters in group 0, got 2");
}

TEST(OwnOptimizer, AdamIsSavedThroughAnArchive) {
  const torch::Tensor w = weights_of(1);
  torch::optim::Adam adam({w}, 0.1), other({w}, 0.2);
  squares_of(w);
  adam.step();
  torch::serialize::OutputArchive output;
  adam.save(output);
  std::stringstream bytes;
  output.save_to(bytes);
  torch::serialize::InputArchive input;
  input.load_from(bytes);
  other.load(input);
  EXPECT_EQ(other.steps(), 1);
  EXPECT_EQ(other.param_groups()[0].options().get_lr(), 0.1);
}

struct PlainOptions : torch::optim::OptimizerCloneableOptions<PlainOptions> {};
struct Plain : torch::optim::Optimizer {
  explicit Plain(const torch::Tensor& w)
      : Optimizer(std::vector<torch::Tensor>{w}, std::make_unique<PlainOptions>()) {}
  torch::Tensor step(LossClosure /*closure*/ = nullptr) override { return {}; }
};

TEST(OwnOptimizer, WhatIsNotOverriddenSaysSo) {
  Plain plain(weights_of(1));
  std::stringstream file;
  EXPECT_EQ(torch::message_of<std::logic_error>([&] { torch::save(plain, file); }),
            "Plain: expected an override of save(), got none");
  EXPECT_EQ(torch::message_of<std::logic_error>([&] { torch::optim::StepLR(plain, 1); }),
            "PlainOptions: expected an override of get_lr(), got none");
  EXPECT_EQ(torch::message_of<std::logic_error>([&] { plain.state_dict(); }),
            "state_dict: expected an optimizer without options of its own, got Plain; call its "
            "save() and load()");
}

}  // namespace
