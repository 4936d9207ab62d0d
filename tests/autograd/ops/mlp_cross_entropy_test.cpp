// mlp_cross_entropy against mlp and cross_entropy one after the other: all bits are equal. And its
// value, which is computed late: nobody may notice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/ops/mlp_layers.h>
#include <halfgrad/tests/autograd/ops/mlp_loss_case.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

TEST(MlpCrossEntropy, HasTheBitsOfItsTwoOps) {
  manual_seed(1);
  const Device device = get_default_device();
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    SCOPED_TRACE(name(dtype));
    expect_bits_of_two_ops({{3, 2}, 1, dtype, device});
    expect_bits_of_two_ops({{5, 7, 3}, 255, dtype, device}, 0.5);
    expect_bits_of_two_ops({{5, 7, 3}, 9, dtype, device, dtype, false});
    expect_bits_of_two_ops({{16, 16, 10}, 600, dtype, device}, 64);
    expect_bits_of_two_ops({{5, 7, 7, 3}, 255, dtype, device, dtype, true, "gelu"}, 0.5);
    expect_bits_of_two_ops({{5, 7, 7, 3}, 255, dtype, device, dtype, true, "gelu_tanh"}, 0.5);
  }
}

// The input is not cast before: it is rounded where it is read.
TEST(MlpCrossEntropy, HasTheBitsOfItsTwoOpsUnderAutocast) {
  manual_seed(2);
  const Device device = get_default_device();
  for (const DType dtype : {kHalf, kBFloat16}) {
    SCOPED_TRACE(name(dtype));
    const amp::Autocast autocast(device.type(), {.dtype = dtype});
    expect_bits_of_two_ops({{5, 7, 3}, 130, kFloat, device}, 1024);
    expect_bits_of_two_ops({{16, 16, 10}, 40, kFloat, device}, 1024);
  }
}

TEST(MlpCrossEntropy, RoundsAFloatInputAsACastDoes) {
  manual_seed(3);
  const Device device = get_default_device();
  for (const std::int64_t features : {5, 16}) {
    const LossCase of({features, 7, 3}, 130, kFloat, device);
    of.x.detach()[0][0].fill_(1e30);  // inf in fp16
    of.x.detach()[1][0].fill_(1e-7);  // subnormal
    of.x.detach()[2][0].fill_(std::nan(""));
    const amp::Autocast autocast(device.type(), {.dtype = kHalf});
    const Tensor y = mlp(of.x, of.layers.weights, of.layers.biases);
    sum(y.slice(0, 3, 130)).backward();
    const Bits gradients = of.gradients();
    const Tensor z = mlp(of.x.to(kHalf), of.layers.weights, of.layers.biases);
    sum(z.slice(0, 3, 130)).backward();
    expect_equal({y.to_vector<double>()}, {z.to_vector<double>()});
    expect_equal(of.gradients(), gradients);
  }
}

TEST(MlpCrossEntropy, KeepsInfAndNaNWhereTheyBelong) {
  manual_seed(4);
  const Device device = get_default_device();
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan(""), 3e4}) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      SCOPED_TRACE(value);
      const LossCase of({5, 7, 3}, 40, dtype, device);
      of.x.detach()[7][3].fill_(value);
      expect_bits_of_two_ops(of);
      const LossCase large({5, 7, 3}, 40, dtype, device);
      large.layers.biases[1].detach()[2].fill_(value);
      expect_bits_of_two_ops(large);
    }
  }
}

TEST(MlpCrossEntropy, RunsAgainOnlyIfTheGraphIsKept) {
  manual_seed(5);
  const LossCase of({5, 7, 3}, 40, kBFloat16, get_default_device());
  of.two_ops().backward();
  const Bits once = of.gradients();
  const Tensor loss = of.one_op();
  loss.backward({}, /*retain_graph=*/true);
  const double value = loss.item();
  loss.backward();
  Bits twice = once;
  for (auto& gradient : twice) {
    for (double& each : gradient) each *= 2;
  }
  expect_equal(of.gradients(), twice);
  EXPECT_EQ(loss.item(), value);
  EXPECT_THROW(loss.backward(), std::runtime_error);
}

// A second gradient, of the gradients' sum of squares.
TEST(MlpCrossEntropy, CanBeDifferentiatedTwice) {
  manual_seed(6);
  const LossCase of({3, 5, 2}, 4, kDouble, get_default_device());
  const auto squares = [&](const Tensor& loss) {
    const std::vector<Tensor> gradients =
        autograd::grad({loss * loss}, of.inputs(), {}, {.create_graph = true});
    Tensor total = zeros({}, TensorOptions(kDouble).device(of.x.device()));
    for (const Tensor& gradient : gradients) total = total + sum(gradient * gradient);
    return total;
  };
  squares(of.two_ops()).backward();
  const Bits expected = of.gradients();
  squares(of.one_op()).backward();
  const Bits actual = of.gradients();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t k = 0; k < expected[i].size(); ++k) {
      EXPECT_NEAR(actual[i][k], expected[i][k], 1e-12) << i << ' ' << k;
    }
  }
}

TEST(MlpCrossEntropy, KeepsItsValueIfAnOperandChanges) {
  manual_seed(7);
  const LossCase of({5, 7, 3}, 40, kBFloat16, get_default_device());
  const double value = of.two_ops().item();
  for (const Tensor& operand : {of.x, of.layers.weights[1], of.layers.biases[0], of.target}) {
    const Tensor loss = of.one_op();
    const Tensor before = operand.detach().clone();
    operand.detach().fill_(0);
    EXPECT_EQ(loss.item(), value);
    EXPECT_THROW(loss.backward(), std::runtime_error);  // as for every op that saved it
    operand.detach().copy_(before);
  }
  const Tensor loss = of.one_op();
  of.x.array().storage()->bump_version();  // a change that nothing announces
  EXPECT_EQ(message_of<std::runtime_error>([&] { loss.item(); }),
            "mlp_cross_entropy: expected operands that are unchanged until the loss is computed, "
            "got one that was changed in place; look at the loss, or call backward(), before the "
            "change");
}

TEST(MlpCrossEntropy, IsATensorAsOthersAre) {
  manual_seed(8);
  const Device device = get_default_device();
  const LossCase of({5, 7, 3}, 40, kFloat, device);
  const amp::Autocast autocast(device.type(), {.dtype = kBFloat16});
  const double value = of.two_ops().item();
  EXPECT_EQ((of.one_op() + of.one_op()).item(), 2 * value);
  EXPECT_EQ(of.one_op().detach().item(), value);
  const Tensor changed = of.one_op();
  changed.add_(Scalar(1));
  changed.backward();
  const Bits gradients = of.gradients();
  EXPECT_FLOAT_EQ(static_cast<float>(changed.item()), static_cast<float>(value + 1));
  std::vector<double> seen;
  const Tensor hooked = of.one_op();
  hooked.register_hook([&](const Tensor& dy) {
    seen.push_back(dy.item());
    return dy * Scalar(2);
  });
  hooked.retain_grad();
  hooked.backward();
  EXPECT_EQ(seen, std::vector<double>{1});
  EXPECT_EQ(hooked.grad().item(), 2);
  Bits twice = of.gradients();
  for (auto& gradient : twice) {
    for (double& each : gradient) each /= 2;
  }
  expect_equal(twice, gradients);
  EXPECT_EQ(hooked.item(), value);
}

TEST(MlpCrossEntropy, IsScaled) {
  manual_seed(9);
  const Device device = get_default_device();
  const LossCase of({5, 7, 3}, 40, kFloat, device);
  amp::GradScaler scaler({.init_scale = 1024});
  const auto loss_of = [&](bool one) {
    const amp::Autocast autocast(device.type());
    return one ? of.one_op() : of.two_ops();
  };
  const Tensor expected = loss_of(false);
  scaler.scale(expected).backward();
  const Bits gradients = of.gradients();
  {
    const Tensor loss = loss_of(true);
    scaler.scale(loss).backward();
    expect_equal(of.gradients(), gradients);
    EXPECT_EQ(loss.item(), expected.item());
  }
  const Tensor scaled = scaler.scale(loss_of(true)), other = scaler.scale(loss_of(true));
  EXPECT_EQ(scaled.item(), expected.item() * 1024);
  scaler.set_scale(8);
  EXPECT_EQ(other.item(), expected.item() * 1024);
}

TEST(MlpCrossEntropy, ShowsItsTwoOpsToAnObserver) {
  struct Names final : OpObserver {
    void ran(const OpCall& call) override { names.emplace_back(call.op); }
    std::vector<std::string> names;
  };
  manual_seed(10);
  const LossCase of({5, 7, 3}, 40, kBFloat16, get_default_device());
  of.one_op().backward();
  const Bits gradients = of.gradients();
  Names names;
  const OpObserverGuard guard(names);
  of.one_op().backward();
  EXPECT_EQ(std::count(names.names.begin(), names.names.end(), "mlp"), 1);
  EXPECT_EQ(std::count(names.names.begin(), names.names.end(), "cross_entropy"), 1);
  expect_equal(of.gradients(), gradients);
}

TEST(MlpCrossEntropy, TakesAnyLeadingDimensionsAndAnEmptyBatch) {
  manual_seed(11);
  const Device device = get_default_device();
  const Layers layers = draw_layers({3, 5, 2}, kFloat, device, true);
  for (const Shape& sizes : {Shape{}, Shape{7}, Shape{2, 4}}) {
    Shape with_features = sizes;
    with_features.push_back(3);
    const Tensor x = randn(with_features).to(device).requires_grad_();
    const Tensor target = randint(2, sizes).to(device);
    const Tensor loss = mlp_cross_entropy(x, layers.weights, layers.biases, target);
    const Tensor expected =
        cross_entropy(mlp(x, layers.weights, layers.biases).reshape({-1, 2}), target.reshape({-1}));
    EXPECT_EQ(loss.item(), expected.item());
    EXPECT_EQ(autograd::grad({loss}, {x})[0].to_vector<float>(),
              autograd::grad({expected}, {x})[0].to_vector<float>());
  }
  const Tensor nothing = mlp_cross_entropy(zeros({0, 3}).to(device), layers.weights, layers.biases,
                                           zeros({0}, {.dtype = kLong}).to(device));
  EXPECT_TRUE(std::isnan(nothing.item()));
}

// Layers that are too wide, or too many, or of float32 on a GPU.
TEST(MlpCrossEntropy, ComposesWhatTheKernelsDoNotTake) {
  manual_seed(12);
  const Device device = get_default_device();
  expect_bits_of_two_ops({{16, 300, 5}, 20, kHalf, device});
  expect_bits_of_two_ops({{4, 4, 4, 4, 4, 4, 4, 4, 4, 3}, 20, kHalf, device});
}

TEST(MlpCrossEntropy, RefusesOperandsThatDoNotFit) {
  const Device device = get_default_device();
  const Tensor x = zeros({2, 3}).to(device), w = zeros({4, 3}).to(device);
  const Tensor t = zeros({2}, {.dtype = kLong}).to(device);
  const auto refused = [](const auto& f) { return message_of<std::invalid_argument>(f); };
  EXPECT_EQ(refused([&] { mlp_cross_entropy(x, {}, {}, t); }),
            "mlp_cross_entropy: expected at least one weight, got none");
  EXPECT_EQ(refused([&] { mlp_cross_entropy(x, {w.transpose(0, 1)}, {}, t); }),
            "mlp_cross_entropy: expected weight 0 of shape [out, 3], got [3, 4]");
  EXPECT_EQ(refused([&] { mlp_cross_entropy(x, {w}, {}, t.to(kFloat)); }),
            "mlp_cross_entropy: expected int64 class indices, got float32");
  EXPECT_EQ(refused([&] { mlp_cross_entropy(x, {w}, {}, t.unsqueeze(1)); }),
            "mlp_cross_entropy: expected class indices of shape [2], got [2, 1]");
}

TEST(MlpCrossEntropy, ReportsTargetsThatAreNotClasses) {
  const Device device = get_default_device();
  const Tensor x = zeros({2, 3}).to(device), w = zeros({4, 3}).to(device).requires_grad_();
  for (const DType dtype : {kFloat, kHalf}) {
    for (const std::int64_t wrong : {std::int64_t{4}, std::int64_t{-1}, std::int64_t{-100}}) {
      const Tensor target = full({2}, wrong, {.dtype = kLong}).to(device);
      EXPECT_THROW(
          {
            const Tensor loss = mlp_cross_entropy(x.to(dtype), {w.to(dtype)}, {}, target);
            loss.item();
          },
          std::out_of_range);
    }
  }
}

}  // namespace
}  // namespace halfgrad
