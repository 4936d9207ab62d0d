#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/capture.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/optim.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

// capture() replays a function as a graph, and computes what the function computes.
namespace halfgrad::amp {
namespace {

class Capture : public OnDevice {
 protected:
  std::size_t graphs(std::size_t on_a_gpu) const { return device().is_cuda() ? on_a_gpu : 0; }
};
HALFGRAD_ON_DEVICES(Capture);

// Losses and final weights of ten fp16 steps with batches of 12 and 7 rows, a scale that overflows
// at first, and a learning rate that changes.
std::vector<double> train(Device device, bool captured, std::size_t* graphs) {
  manual_seed(1);
  nn::Sequential model(nn::Linear(8, 16), nn::ReLU(), nn::Dropout(0.25), nn::Linear(16, 4));
  model.to(device);
  optim::Adam optimizer(model.parameters(), {.lr = 0.01});
  optim::StepLR schedule(optimizer, {.step_size = 3, .gamma = 0.5});
  GradScaler scaler({.init_scale = 0x1p24, .growth_interval = 3});
  const auto step = [&](const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const Autocast autocast(device.type(), {.dtype = kHalf});
      loss = nn::functional::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    nn::utils::clip_grad_norm_(model.parameters(), 0.5);
    scaler.step(optimizer);
    scaler.update();
    return loss;
  };
  auto replayed = capture(step);
  std::vector<double> results;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t rows = i % 3 == 2 ? 7 : 12;
    const Tensor x = randn({rows, 8}).to(device), y = randint(4, {rows}).to(device);
    const Tensor loss = captured ? replayed(x, y) : step(x, y);
    EXPECT_FALSE(captured && loss.requires_grad());
    results.push_back(loss.item());
    schedule.step();
  }
  results.push_back(scaler.get_scale());
  for (const Tensor& parameter : model.parameters()) {
    const auto weights = parameter.to_vector<double>();
    results.insert(results.end(), weights.begin(), weights.end());
  }
  *graphs = replayed.graphs();
  return results;
}

TEST_P(Capture, TrainsAsTheFunctionDoes) {
  std::size_t captured = 0;
  const std::vector<double> expected = train(device(), false, &captured);
  EXPECT_EQ(train(device(), true, &captured), expected);
  EXPECT_EQ(captured, graphs(2));  // one for each number of rows
}

// Losses of six fp16 steps with a penalty on the norm of the loss's gradient.
std::vector<double> train_with_penalty(Device device, bool captured, std::size_t* graphs) {
  manual_seed(1);
  nn::Sequential model(nn::Linear(8, 16), nn::GELU(), nn::Linear(16, 4));
  model.to(device);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  GradScaler scaler({.init_scale = 1024});
  const auto step = [&](const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const Autocast autocast(device.type(), {.dtype = kHalf});
      loss = nn::functional::cross_entropy(model(x), y);
    }
    const auto gradients = autograd::grad({loss}, model.parameters(), {}, {.create_graph = true});
    Tensor penalty = zeros({}, {.device = device});
    for (const Tensor& gradient : gradients) penalty = penalty + gradient.square().sum();
    const Tensor total = loss + penalty * 0.1;
    scaler.scale(total).backward();
    scaler.step(optimizer);
    scaler.update();
    return total;
  };
  auto replayed = capture(step);
  std::vector<double> results;
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({12, 8}).to(device), y = randint(4, {12}).to(device);
    results.push_back((captured ? replayed(x, y) : step(x, y)).item());
  }
  *graphs = replayed.graphs();
  return results;
}

TEST_P(Capture, HoldsAGradientPenalty) {
  std::size_t captured = 0;
  const std::vector<double> expected = train_with_penalty(device(), false, &captured);
  EXPECT_EQ(train_with_penalty(device(), true, &captured), expected);
  EXPECT_EQ(captured, graphs(1));
}

TEST_P(Capture, ReturnsWhatTheFunctionReturns) {
  const Tensor sum_of_all = zeros({}, {.device = device()});
  auto nothing = capture([&](const Tensor& x) { sum_of_all.add_(sum(x)); });
  auto several = capture([](const Tensor& x) { return std::vector<Tensor>{x + 1, x * 2}; });
  for (int i = 1; i <= 4; ++i) {
    const Tensor x = full({3}, i, {.dtype = kFloat, .device = device()});
    nothing(x);
    const std::vector<Tensor> results = several(x);
    EXPECT_EQ(results[0].to_vector<double>(), std::vector<double>(3, i + 1));
    EXPECT_EQ(results[1].to_vector<double>(), std::vector<double>(3, 2 * i));
  }
  EXPECT_EQ(sum_of_all.item(), 30);
  EXPECT_EQ(nothing.graphs(), graphs(1));
}

TEST_P(Capture, HoldsTensorsThatCountTheirIndices) {
  auto sums = capture([this](const Tensor& x) {
    const Tensor steps = arange(3, {.dtype = kFloat, .device = device()});
    return eye(3, {.device = device()}).matmul(x + steps) + linspace(0, 2, 3, device());
  });
  for (int i = 1; i <= 4; ++i) {
    const Tensor x = full({3}, i, {.dtype = kFloat, .device = device()});
    EXPECT_EQ(sums(x).to_vector<double>(), (std::vector<double>{i + 0.0, i + 2.0, i + 4.0}));
  }
  EXPECT_EQ(sums.graphs(), graphs(1));
}

TEST_P(Capture, WithoutArgumentsFindsTheDeviceItself) {
  const Tensor count = zeros({}, {.device = device()});
  auto step = capture([&] { count.add_(1); });
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(count.item(), 5);
  EXPECT_EQ(step.graphs(), graphs(1));
}

TEST_P(Capture, AWaitInsideNamesTheCallAndLosesNothing) {
  const Tensor count = zeros({}, {.device = device()});
  bool look = false;
  auto step = capture([&](const Tensor& x) {
    count.add_(x);
    if (look) static_cast<void>(count.item());
  });
  const Tensor one = ones({}, {.device = device()});
  step(one);
  look = true;
  if (device().is_cuda()) {
    EXPECT_EQ(message_of<std::runtime_error>([&] { step(one); }),
              "copy: expected pinned memory while a graph is captured, got other; read a value, as "
              "item() and to(kCPU) do, after the replay");
  } else {
    step(one);
  }
  look = false;
  for (int i = 0; i < 3; ++i) step(one);
  EXPECT_EQ(count.item(), device().is_cuda() ? 4 : 5);
}

TEST_P(Capture, RefusesArgumentsThatRequireGradients) {
  auto step = capture([](const Tensor& x) { return x * 2; });
  const Tensor x = ones({2}, {.device = device()}).requires_grad_();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { step(x); }),
            "capture: expected arguments that do not require gradients, got argument 0 that does; "
            "the graph reads a copy of it. Capture it in the function, or pass x.detach()");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { step(Tensor()); }),
            "capture: expected argument 0 to be defined, got an undefined tensor");
}

}  // namespace
}  // namespace halfgrad::amp
