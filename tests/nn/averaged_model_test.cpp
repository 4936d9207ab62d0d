#include <halfgrad/nn/averaged_model.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::optim {
namespace {

using Values = std::vector<double>;

using AveragedModelOn = OnDevice;
HALFGRAD_ON_DEVICES(AveragedModelOn);

nn::Sequential layers() { return nn::Sequential(nn::Linear(3, 2), nn::BatchNorm1d(2)); }

std::vector<Tensor> tensors_of(const nn::Module& module) {
  std::vector<Tensor> all = module.parameters();
  for (const Tensor& buffer : module.buffers()) all.push_back(buffer);
  return all;
}

// Writes values that depend on the step; counts are integers.
void set_values(const nn::Module& module, int step) {
  const NoGradGuard no_grad;
  double k = 0;
  for (Tensor tensor : tensors_of(module)) {
    k += 1;
    if (tensor.is_floating_point()) {
      tensor.fill_(std::sin(k * step));
    } else {
      tensor.fill_(7 * step);
    }
  }
}

std::vector<Values> values_of(const nn::Module& module) {
  std::vector<Values> all;
  for (const Tensor& tensor : tensors_of(module)) all.push_back(tensor.to_vector<double>());
  return all;
}

void expect_near(const std::vector<Values>& got, const std::vector<Values>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size());
    for (std::size_t k = 0; k < got[i].size(); ++k) {
      const double tolerance = 16 * 0x1p-24 * std::max(1.0, std::abs(expected[i][k]));
      EXPECT_NEAR(got[i][k], expected[i][k], tolerance) << "tensor " << i;
    }
  }
}

// The average in double after five steps. `weight` is that of the value of step t > 1.
template <class Weight>
std::vector<Values> reference(const nn::Module& model, const Weight& weight, bool use_buffers) {
  std::vector<Values> average;
  const std::size_t params = model.parameters().size();
  for (int step = 1; step <= 5; ++step) {
    set_values(model, step);
    const std::vector<Values> now = values_of(model);
    if (average.empty()) average = now;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const bool is_copied = i >= params && !use_buffers;
      const bool is_integer = !tensors_of(model)[i].is_floating_point();
      for (std::size_t k = 0; k < now[i].size(); ++k) {
        double& a = average[i][k];
        a = is_copied || step == 1 ? now[i][k] : a + (now[i][k] - a) * weight(step);
        if (is_integer) a = std::trunc(a);
      }
    }
  }
  return average;
}

TEST_P(AveragedModelOn, IsTheMeanByDefault) {
  nn::Sequential model = layers();
  model.to(device());
  AveragedModel average(model);
  for (int step = 1; step <= 5; ++step) {
    set_values(model, step);
    average.update_parameters(model);
    if (step == 1) {
      EXPECT_EQ(values_of(average.module), values_of(model));
    }
  }
  EXPECT_EQ(average.n_averaged.item(), 5);
  expect_near(values_of(average.module), reference(
                                             model, [](int step) { return 1.0 / step; }, false));
}

TEST_P(AveragedModelOn, AveragesExponentially) {
  for (const bool use_buffers : {false, true}) {
    nn::Sequential model = layers();
    model.to(device());
    AveragedModel average(model, {.avg_fn = get_ema_avg_fn(0.75), .use_buffers = use_buffers});
    for (int step = 1; step <= 5; ++step) {
      set_values(model, step);
      average.update_parameters(model);
    }
    expect_near(values_of(average.module), reference(
                                               model, [](int) { return 0.25; }, use_buffers));
  }
}

TEST_P(AveragedModelOn, CallsAFunctionOfTheUser) {
  nn::Linear model(2, 1);
  model.to(device());
  const AvgFn maximum = [](const Tensor& averaged, const Tensor& current, const Tensor&) {
    return halfgrad::maximum(averaged, current);
  };
  AveragedModel average(model, {.avg_fn = maximum});
  const NoGradGuard no_grad;
  for (const double value : {-3, -1, -2}) {
    model.weight.fill_(value);
    average.update_parameters(model);
  }
  EXPECT_EQ(average.module.weight.to_vector<double>(), (Values{-1, -1}));
}

// A float16 model is averaged in float32 and rounded once a step.
TEST_P(AveragedModelOn, KeepsTheDtype) {
  nn::Linear model(2, 1);
  model.to(device(), DType::f16);
  AveragedModel average(model);
  const NoGradGuard no_grad;
  for (const double value : {1, 2, 4}) {
    model.weight.fill_(value);
    average.update_parameters(model);
  }
  EXPECT_EQ(average.module.weight.dtype(), DType::f16);
  const double third = 1.5 + (4 - 1.5) / 3;
  EXPECT_NEAR(average.module.weight.to_vector<double>()[0], third, third * 0x1p-11);
}

TEST(AveragedModel, LeavesTheModelAlone) {
  nn::Linear model(2, 1);
  AveragedModel average(model);
  const auto before = values_of(model);
  {
    const NoGradGuard no_grad;
    for (Tensor param : average.module.parameters()) param.fill_(5);
  }
  EXPECT_EQ(values_of(model), before);
  const Tensor x = tensor(Values{1, 2}).reshape({1, 2});
  EXPECT_EQ(average(x).item(), 20);
}

TEST(AveragedModel, ContinuesFromAStateDict) {
  nn::Linear model(2, 1);
  AveragedModel first(model), second(model);
  for (int step = 1; step <= 4; ++step) {
    set_values(model, step);
    first.update_parameters(model);
    if (step > 2) second.update_parameters(model);
    if (step == 2) second.load_state_dict(first.state_dict());
  }
  EXPECT_EQ(values_of(second.module), values_of(first.module));
  EXPECT_EQ(second.n_averaged.item(), 4);
  EXPECT_EQ(first.state_dict().keys(),
            (std::vector<std::string>{"n_averaged", "module.weight", "module.bias"}));
}

struct UnclonedNet : nn::Callable<UnclonedNet> {
  nn::Linear layer = register_module("layer", nn::Linear(2, 1));
  Tensor forward(const Tensor& x) const { return layer(x); }
};

TEST(AveragedModel, TakesACopyOfAModelWithoutClone) {
  const UnclonedNet model;
  EXPECT_THROW(AveragedModel<UnclonedNet>{model}, std::invalid_argument);
  AveragedModel average(model, UnclonedNet());
  EXPECT_EQ(values_of(average.module), values_of(model));
  average.update_parameters(model);
  EXPECT_EQ(values_of(average.module), values_of(model));
}

TEST(AveragedModel, NamesWhatDoesNotFit) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { get_ema_avg_fn(1.5); }),
            "get_ema_avg_fn: expected decay in [0, 1], got 1.5");
  nn::Linear model(2, 1);
  AveragedModel average(model);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { average.update_parameters(nn::Linear(3, 1)); }),
            "AveragedModel: expected parameters of shape [1, 2] at position 0, got [1, 3]");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { average.update_parameters(nn::Linear(2, 1, {.bias = false})); }),
            "AveragedModel: expected a model with 2 parameters, got 1");
}

// The reference: the mean of the batches' means and unbiased variances, in double.
TEST_P(AveragedModelOn, UpdatesBatchNormFromTheLoader) {
  nn::Sequential model = layers();
  model.to(device());
  AveragedModel average(model);
  set_values(average, 3);
  average.module.eval();
  std::vector<std::pair<Tensor, int>> loader;
  for (int i = 1; i <= 3; ++i) {
    loader.emplace_back(arange(6 * i).to(kFloat).reshape({2 * i, 3}).sin().to(device()), i);
  }
  update_bn(loader, average);

  const auto* const norm = average.module[1]->as<nn::BatchNorm1d>();
  Tensor mean = zeros({2}, {.dtype = kDouble, .device = device()}), var = mean;
  for (const auto& [x, label] : loader) {
    const Tensor y = average.module[0]->as<nn::Linear>()->forward(x).detach().to(kDouble);
    mean = mean + halfgrad::mean(y, Shape{0}) / 3;
    var = var + halfgrad::var(y, Shape{0}) / 3;
  }
  expect_near({norm->running_mean.to_vector<double>(), norm->running_var.to_vector<double>()},
              {mean.to_vector<double>(), var.to_vector<double>()});
  EXPECT_EQ(norm->num_batches_tracked.item(), 3);
  EXPECT_FALSE(average.module.is_training());
  EXPECT_FALSE(nn::detail::plain_running_averages);
}

struct RefusingLoader {
  const Tensor* begin() const { throw std::runtime_error("no batch expected"); }
  const Tensor* end() const { return nullptr; }
};

TEST(UpdateBn, ReadsNoBatchWithoutBatchNorm) {
  const nn::Sequential model(nn::Linear(3, 2), nn::BatchNorm1d(2, {.track_running_stats = false}));
  EXPECT_NO_THROW(update_bn(RefusingLoader{}, model));
  EXPECT_THROW(update_bn(RefusingLoader{}, layers()), std::runtime_error);
}

// Modes are restored module by module, also after an exception of the model.
TEST(UpdateBn, RestoresTheModeOfEachModule) {
  nn::Sequential model = layers();
  model[0]->eval();
  EXPECT_THROW(update_bn(std::vector{ones({4, 5})}, model), std::invalid_argument);
  EXPECT_FALSE(model[0]->is_training());
  EXPECT_TRUE(model[1]->is_training());
  EXPECT_TRUE(model.is_training());
  EXPECT_FALSE(nn::detail::plain_running_averages);
  EXPECT_TRUE(GradMode::is_enabled());
}

}  // namespace
}  // namespace halfgrad::optim
