#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/shadow_weight.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/optim.h>

#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/optim/parameters.h>

/// 16-bit copies of weights that the optimizer writes: training has the bits of casting each time.
namespace halfgrad::amp {
namespace {

using testing::bytes_of;

class ShadowWeights : public OnDevice {};
HALFGRAD_ON_DEVICES(ShadowWeights);

/// A net that is trained with shadows or, if `casts`, with a cast for each use.
struct Net {
  Net(Device device, bool casts, DType dtype = kHalf) : casts_(casts), dtype_(dtype) {
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
    for (const Tensor& p : parameters) all.push_back(bytes_of(p.array()));
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

Tensor batch(int step, Device device) {
  manual_seed(static_cast<std::uint64_t>(step));
  return randn({5, 7}).to(device);
}

TEST_P(ShadowWeights, AreUsedAfterAStepAndAreTheWeightsRounded) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    Net net(device(), false, dtype);
    EXPECT_FALSE(net.has_shadow());
    for (int step = 0; step < 3; ++step) {
      net.step(batch(step, device()));
      ASSERT_TRUE(net.has_shadow());
      for (const Tensor& p : net.parameters) {
        EXPECT_EQ(bytes_of(detail::shadow_of(p, dtype)), bytes_of(p.array().to(dtype)));
      }
    }
    EXPECT_FALSE(detail::shadow_of(net.first.weight, dtype == kHalf ? kBFloat16 : kHalf).defined());
  }
}

// The reference looks at its gradients, which widens them, and casts its weights.
TEST_P(ShadowWeights, AreWrittenByAPlainStep) {
  Net net(device(), false, kBFloat16), casting(device(), true, kBFloat16);
  for (int step = 0; step < 5; ++step) {
    for (Net* each : {&net, &casting}) {
      each->optimizer->zero_grad();
      each->forward(batch(step, device())).square().mean().backward();
      for (const Tensor& p : casting.parameters) {
        if (p.grad().defined()) static_cast<void>(p.grad().array());
      }
      each->optimizer->step();
    }
    EXPECT_TRUE(net.has_shadow());
    ASSERT_EQ(net.bits(), casting.bits()) << step;
    for (std::size_t i = 0; i < net.parameters.size(); ++i) {
      EXPECT_EQ(bytes_of(net.parameters[i].grad().array()),
                bytes_of(casting.parameters[i].grad().array()));
    }
  }
}

TEST_P(ShadowWeights, KeepTheirMemory) {
  Net net(device(), false);
  net.step(batch(0, device()));
  const auto* const at = detail::shadow_of(net.first.weight, kHalf).data();
  net.step(batch(1, device()));
  EXPECT_EQ(detail::shadow_of(net.first.weight, kHalf).data(), at);
}

TEST_P(ShadowWeights, SaveTheCastsOfAStep) {
  if (device().is_cpu()) GTEST_SKIP() << "counts launches";
  Net net(device(), false), casting(device(), true);
  std::vector<std::int64_t> launches;
  for (Net* each : {&net, &casting}) {
    each->step(batch(0, device()));
    const auto before = detail::launches;
    each->step(batch(1, device()));
    launches.push_back(detail::launches - before);
  }
  EXPECT_EQ(launches[1] - launches[0], 4);
}

// Something writes a weight between two steps.
struct Write {
  const char* what;
  std::function<void(Net&)> run;
};

const std::vector<Write>& writes() {
  static const std::vector<Write> all = {
      {"nothing", [](Net&) {}},
      {"in place",
       [](Net& net) {
         const NoGradGuard no_grad;
         net.first.weight.mul_(Scalar(0.5));
       }},
      {"a row",
       [](Net& net) {
         const NoGradGuard no_grad;
         net.first.weight[2].fill_(0.25);
       }},
      {"detached", [](Net& net) { net.second.bias.detach().add_(Scalar(1)); }},
      {"Array::fill_", [](Net& net) { net.second.weight.array().fill_(0.125); }},
      {"a row of the array",
       [](Net& net) { net.first.weight.array().select(0, 1).copy_(Array::full({7}, 2, kFloat)); }},
      {"init", [](Net& net) { nn::init::constant_(net.second.weight, 0.5); }},
      {"state", [](Net& net) { net.first.load_state_dict(nn::Linear(7, 9).state_dict()); }},
      {"a plain step",
       [](Net& net) {
         net.optimizer->zero_grad();
         net.forward(batch(99, net.first.weight.device())).sum().backward();
         net.optimizer->step();
       }},
      {"the four calls",
       [](Net& net) {
         net.backward(batch(98, net.first.weight.device()));
         net.scaler.unscale_(*net.optimizer);
         net.scaler.step(*net.optimizer);
         net.scaler.update();
       }},
      {"a skipped step",
       [](Net& net) {
         net.step(full({5, 7}, std::numeric_limits<double>::infinity(),
                       {.device = net.first.weight.device()}));
       }},
      {"other memory",
       [](Net& net) {
         net.first.to(kDouble);
         net.first.to(kFloat);
       }},
  };
  return all;
}

const std::vector<Write>& raw_writes() {
  static const std::vector<Write> all = {
      {"data_ptr", [](Net& net) { net.first.weight.data_ptr<float>()[3] = 4; }},
      {"accessor", [](Net& net) { net.first.weight.accessor<float, 2>()[1][2] = 5; }},
  };
  return all;
}

void expect_bits_of_casts(Device device, const Write& write) {
  SCOPED_TRACE(write.what);
  Net net(device, false), casting(device, true);
  for (int step = 0; step < 8; ++step) {
    for (Net* each : {&net, &casting}) {
      manual_seed(static_cast<std::uint64_t>(step));
      each->step(batch(step, device));
      if (step % 3 == 1) write.run(*each);
    }
    ASSERT_EQ(net.bits(), casting.bits()) << step;
  }
}

TEST_P(ShadowWeights, SeeEveryWrite) {
  for (const Write& write : writes()) expect_bits_of_casts(device(), write);
  if (device().is_cuda()) return;  // the host cannot write there
  for (const Write& write : raw_writes()) expect_bits_of_casts(device(), write);
}

// Somebody who has the address writes at any time.
TEST_P(ShadowWeights, AreNotUsedOnceTheAddressIsKnown) {
  Net net(device(), false);
  net.step(batch(0, device()));
  EXPECT_TRUE(net.has_shadow());
  static_cast<void>(net.first.weight.data_ptr<const float>());  // to read
  EXPECT_TRUE(net.has_shadow());
  static_cast<void>(net.first.weight.data_ptr<float>());
  net.step(batch(1, device()));
  EXPECT_FALSE(net.has_shadow());
}

// The graph of the first loss keeps the weights of its time.
TEST_P(ShadowWeights, AreNotOverwrittenWhileAGraphRefersToThem) {
  std::vector<std::vector<std::byte>> gradients;
  for (const bool casts : {false, true}) {
    Net net(device(), casts);
    net.step(batch(0, device()));
    const Tensor x = batch(1, device()).requires_grad_();
    const Tensor kept = net.forward(x).square().sum();
    net.step(batch(2, device()));
    net.step(batch(3, device()));
    kept.backward();
    gradients.push_back(bytes_of(x.grad().array()));
    EXPECT_EQ(net.has_shadow(), true);
  }
  EXPECT_EQ(gradients[0], gradients[1]);
}

TEST_P(ShadowWeights, OfParametersThatShareMemoryAreNotUsed) {
  std::vector<std::vector<std::byte>> results;
  for (const bool casts : {false, true}) {
    manual_seed(0);
    const Tensor memory = full({3, 4}, 0.5, {.device = device()});
    std::vector<Tensor> parameters = {memory.detach().requires_grad_(),
                                      memory.detach().requires_grad_()};
    optim::SGD optimizer(parameters, {.lr = 0.1});
    GradScaler scaler({.init_scale = 8});
    for (int step = 0; step < 4; ++step) {
      optimizer.zero_grad();
      Tensor loss;
      {
        const Autocast autocast(device().type(),
                                AutocastOptions{.dtype = kHalf, .cache_enabled = !casts});
        const Tensor x = full({2, 4}, 1.0 + step, {.device = device()});
        loss = (nn::functional::linear(x, parameters[0]).sum() * Scalar(0.5) -
                nn::functional::linear(x, parameters[1]).square().mean());
      }
      scaler.scale(loss).backward();
      static_cast<void>(scaler.step_and_update(optimizer, {.max_norm = 1}));
    }
    results.push_back(bytes_of(memory.array()));
  }
  EXPECT_EQ(results[0], results[1]);
}

/// Trains by replays, and a twin by calls.
void expect_replays_of_casts(Device device, const Write& write) {
  SCOPED_TRACE(write.what);
  Net net(device, false), casting(device, true);
  const Tensor x = batch(0, device);
  const auto step = [&] { net.step(x); };
  step();
  casting.step(x);
  Graph graph(device);
  graph.capture(step);
  for (int replay = 0; replay < 6; ++replay) {
    if (replay % 3 == 2) {
      manual_seed(static_cast<std::uint64_t>(replay));
      write.run(net);
      manual_seed(static_cast<std::uint64_t>(replay));
      write.run(casting);
    }
    x.array().copy_(batch(replay, device).array());
    graph.replay();
    casting.step(x);
    ASSERT_EQ(net.bits(), casting.bits()) << replay;
    const Tensor other = batch(50 + replay, device);
    ASSERT_EQ(bytes_of(net.forward(other).array()), bytes_of(casting.forward(other).array()));
  }
}

TEST_P(ShadowWeights, InAGraphSeeWritesBetweenReplays) {
  for (const Write& write : writes()) {
    if (std::string(write.what) != "other memory") expect_replays_of_casts(device(), write);
  }
}

TEST_P(ShadowWeights, CostAReplayNoCast) {
  if (device().is_cpu()) GTEST_SKIP() << "counts launches";
  Net net(device(), false);
  const Tensor x = batch(0, device());
  const auto step = [&] { net.step(x); };
  step();
  Graph graph(device());
  graph.capture(step);
  graph.replay();
  const auto before = detail::launches;
  graph.replay();
  EXPECT_EQ(detail::launches, before);  // outside of the graph
}

// The graph clamps weights after the optimizer's pass, or scales them before the forward pass.
TEST_P(ShadowWeights, InAGraphThatWritesWeightsItself) {
  for (const bool after : {false, true}) {
    Net net(device(), false), casting(device(), true);
    const Tensor x = batch(0, device());
    const auto step = [&](Net& each) {
      const auto change = [&] {
        const NoGradGuard no_grad;
        each.first.weight.mul_(Scalar(0.75));
        each.second.weight.clamp_(-0.1, 0.1);
      };
      if (!after) change();
      each.step(x);
      if (after) change();
    };
    step(net);
    step(casting);
    Graph graph(device());
    graph.capture([&] { step(net); });
    for (int replay = 0; replay < 4; ++replay) {
      graph.replay();
      step(casting);
      ASSERT_EQ(net.bits(), casting.bits()) << after << replay;
    }
  }
}

// Forward and backward pass in one graph, the step in another or none, a third that reads only.
TEST_P(ShadowWeights, InSeveralGraphs) {
  for (const bool captures_step : {false, true}) {
    Net net(device(), false), casting(device(), true);
    const Tensor x = batch(0, device());
    net.step(x);
    casting.step(x);
    Tensor y;
    Graph passes(device()), update(device()), halve(device()), read(device());
    passes.capture([&] { net.backward(x); });
    if (captures_step) update.capture([&] { net.update(); });
    halve.capture([&] {
      const NoGradGuard no_grad;
      net.first.weight.mul_(Scalar(0.5));
    });
    read.capture([&] { y = net.forward(x); });
    for (int step = 0; step < 6; ++step) {
      passes.replay();
      captures_step ? update.replay() : net.update();
      casting.step(x);
      if (step % 2 == 1) {
        halve.replay();
        const NoGradGuard no_grad;
        casting.first.weight.mul_(Scalar(0.5));
      }
      ASSERT_EQ(net.bits(), casting.bits()) << captures_step << step;
      read.replay();
      ASSERT_EQ(bytes_of(y.array()), bytes_of(casting.forward(x).array()));
    }
  }
}

}  // namespace
}  // namespace halfgrad::amp
