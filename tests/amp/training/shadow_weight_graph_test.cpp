#include <string>

#include <gtest/gtest.h>

#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/tests/amp/training/shadow_net.h>
#include <halfgrad/tests/devices.h>

/// 16-bit copies of weights in captured steps, and what writes the weights between replays.
namespace halfgrad::amp {
namespace {

using testing::bytes_of;

class ShadowWeightsInAGraph : public OnDevice {};
HALFGRAD_ON_DEVICES(ShadowWeightsInAGraph);

/// Trains by replays, and a twin by calls.
void expect_replays_of_casts(Device device, const WeightWrite& write) {
  SCOPED_TRACE(write.what);
  ShadowNet net(device, false), casting(device, true);
  const Tensor x = shadow_batch(0, device);
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
    x.array().copy_(shadow_batch(replay, device).array());
    graph.replay();
    casting.step(x);
    ASSERT_EQ(net.bits(), casting.bits()) << replay;
    const Tensor other = shadow_batch(50 + replay, device);
    ASSERT_EQ(bytes_of(net.forward(other).array()), bytes_of(casting.forward(other).array()));
  }
}

TEST_P(ShadowWeightsInAGraph, SeeWritesBetweenReplays) {
  for (const WeightWrite& write : weight_writes()) {
    if (std::string(write.what) != "other memory") expect_replays_of_casts(device(), write);
  }
}

TEST_P(ShadowWeightsInAGraph, CostAReplayNoCast) {
  if (device().is_cpu()) GTEST_SKIP() << "counts launches";
  ShadowNet net(device(), false);
  const Tensor x = shadow_batch(0, device());
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
TEST_P(ShadowWeightsInAGraph, ThatWritesWeightsItself) {
  for (const bool after : {false, true}) {
    ShadowNet net(device(), false), casting(device(), true);
    const Tensor x = shadow_batch(0, device());
    const auto step = [&](ShadowNet& each) {
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
TEST_P(ShadowWeightsInAGraph, OrInSeveral) {
  for (const bool captures_step : {false, true}) {
    ShadowNet net(device(), false), casting(device(), true);
    const Tensor x = shadow_batch(0, device());
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
