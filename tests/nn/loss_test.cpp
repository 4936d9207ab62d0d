#include <halfgrad/nn/loss.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/random.h>

namespace halfgrad::nn {
namespace {

using Criterion = std::function<Tensor(const Tensor&, const Tensor&)>;

// Sets every option to another value than its default: each must reach the op.
TEST(Losses, EqualTheirOpsWithEveryOption) {
  manual_seed(8);
  const Tensor x = randn({4, 3});
  const Tensor real = randn({4, 3});
  const Tensor unit = rand({4, 3});
  const Tensor classes = tensor({0, 2, 1, 2});
  const Tensor weight = tensor({0.5, 1.0, 2.0});
  const struct {
    const char* name;
    Criterion loss, op;
    Tensor input, target;
  } cases[] = {
      {"cross_entropy",
       CrossEntropyLoss(
           {.weight = weight, .ignore_index = 1, .reduction = kSum, .label_smoothing = 0.1}),
       [&](auto& a, auto& b) {
         return cross_entropy(a, b, {weight, 1, kSum, 0.1});
       },
       x, classes},
      {"nll", NLLLoss({.weight = weight, .ignore_index = 1, .reduction = kSum}),
       [&](auto& a, auto& b) { return nll_loss(a, b, weight, kSum, 1); }, x, classes},
      {"mse", MSELoss({.reduction = kNone}), [](auto& a, auto& b) { return mse_loss(a, b, kNone); },
       x, real},
      {"l1", L1Loss({.reduction = kSum}), [](auto& a, auto& b) { return l1_loss(a, b, kSum); }, x,
       real},
      {"smooth_l1", SmoothL1Loss({.reduction = kSum, .beta = 0.5}),
       [](auto& a, auto& b) { return smooth_l1_loss(a, b, kSum, 0.5); }, x, real},
      {"huber", HuberLoss({.reduction = kSum, .delta = 0.5}),
       [](auto& a, auto& b) { return huber_loss(a, b, kSum, 0.5); }, x, real},
      {"bce", BCELoss({.weight = weight, .reduction = kSum}),
       [&](auto& a, auto& b) { return binary_cross_entropy(a, b, weight, kSum); }, unit, unit},
      {"bce_with_logits",
       BCEWithLogitsLoss({.weight = weight, .pos_weight = weight * 2, .reduction = kSum}),
       [&](auto& a, auto& b) {
         return binary_cross_entropy_with_logits(a, b, weight, weight * 2, kSum);
       },
       x, unit},
      {"kl_div", KLDivLoss({.reduction = kSum, .log_target = true}),
       [](auto& a, auto& b) { return kl_div(a, b, kSum, true); }, x, real},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.loss(c.input, c.target).to_vector<float>(),
              c.op(c.input, c.target).to_vector<float>())
        << c.name;
  }
}

TEST(Losses, WeightsAreConvertedWithTheModule) {
  CrossEntropyLoss loss({.weight = ones({3})});
  EXPECT_EQ(loss.named_buffers().keys(), (std::vector<std::string>{"weight"}));
  EXPECT_TRUE(loss.parameters().empty());
  loss.to(kFloat64);
  const Tensor x = zeros({2, 3}, {.dtype = kFloat64});
  EXPECT_EQ(loss(x, tensor({0, 1})).dtype(), kFloat64);
  EXPECT_TRUE(CrossEntropyLoss().buffers().empty());
}

// Each call needs a source line of its own.
TEST(Losses, WarnOnceForEachCallSite) {
  const Tensor x = full({2, 1}, 0.5), target = full({2}, 0.25);
  const MSELoss mse;
  const L1Loss l1;
  const SmoothL1Loss smooth_l1;
  const HuberLoss huber;
  const KLDivLoss kl_div;
  std::vector<std::function<void()>> calls;
  calls.emplace_back([&] { mse(x, target); });
  calls.emplace_back([&] { mse(x, target); });
  calls.emplace_back([&] { mse.forward(x, target); });
  calls.emplace_back([&] { l1(x, target); });
  calls.emplace_back([&] { smooth_l1(x, target); });
  calls.emplace_back([&] { huber(x, target); });
  calls.emplace_back([&] { kl_div(x, target); });
  for (const auto& call : calls) {
    ::testing::internal::CaptureStderr();
    for (int step = 0; step < 3; ++step) call();
    const std::string warnings = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1) << warnings;
    EXPECT_NE(warnings.find("loss_test.cpp:"), std::string::npos) << warnings;
  }
}

}  // namespace
}  // namespace halfgrad::nn
