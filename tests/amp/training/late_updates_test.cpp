#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/tests/amp/training/late_net.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>
#include <halfgrad/tests/optim/every_optimizer.h>

/// Optimizer::set_late_updates(): the bits of a step without it, whatever follows the step.
namespace halfgrad::amp {
namespace {

using testing::bytes_of;

class LateUpdates : public OnDevice {};
HALFGRAD_ON_DEVICES(LateUpdates);

void expect_bits_of_calls(Device device, const LateStep& way, const MakeOptimizer& make) {
  LateNet late(device, true, way, make), usual(device, false, way, make);
  for (int step = 0; step < 6; ++step) {
    const Tensor x = late_batch(step, device);
    late.step(x);
    usual.step(x);
  }
  EXPECT_EQ(late.bits(), usual.bits());
}

// A graph of three steps, of which one is skipped.
void expect_bits_of_replays(Device device, const LateStep& way, const MakeOptimizer& make) {
  LateNet late(device, true, way, make), usual(device, false, way, make);
  std::vector<Tensor> batches;
  for (int step = 0; step < 3; ++step) batches.push_back(late_batch(step, device));
  late.step(batches[0]);
  usual.step(batches[0]);
  Graph graph(device);
  graph.capture([&] {
    for (const Tensor& x : batches) late.step(x);
  });
  for (int replay = 0; replay < 2; ++replay) {
    for (int step = 0; step < 3; ++step) {
      batches[static_cast<std::size_t>(step)].array().copy_(
          late_batch(3 * replay + step, device).array());
    }
    graph.replay();
    for (const Tensor& x : batches) usual.step(x);
  }
  late.losses.clear();  // the CPU appends one a step
  usual.losses.clear();
  EXPECT_EQ(late.bits(), usual.bits());
}

TEST_P(LateUpdates, GiveTheBitsOfUsualOnes) {
  for (const LateStep& way : late_steps()) {
    SCOPED_TRACE(way.name);
    expect_bits_of_calls(device(), way, late_adam());
    expect_bits_of_replays(device(), way, late_adam());
  }
}

TEST_P(LateUpdates, GiveTheBitsOfEveryOptimizer) {
  for (const auto& [name, make] : testing::every_optimizer()) {
    SCOPED_TRACE(name);
    expect_bits_of_calls(device(), late_steps()[6], make);
    expect_bits_of_replays(device(), late_steps()[0], make);
  }
}

struct Reader {
  const char* what;
  std::function<Array(LateNet&)> read;
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"a view", [](LateNet& net) { return net.parameters[4].array().select(0, 1).clone(); }},
      {"detach", [](LateNet& net) { return (net.parameters[4].detach() * 2).array(); }},
      {"item",
       [](LateNet& net) { return Array::full({}, net.parameters[4][2][1].item<float>(), kFloat); }},
      {"the host", [](LateNet& net) { return net.parameters[4].array().to(Device()); }},
      {"state_dict",
       [](LateNet& net) {
         const auto saved = net.optimizer->state_dict();
         return saved.state.at(4).at("exp_avg_sq").clone();
       }},
      {"the gradient", [](LateNet& net) { return net.parameters[4].grad().array().clone(); }},
      {"zero_grad(false)",
       [](LateNet& net) {
         net.optimizer->zero_grad(false);
         return net.parameters[4].array().clone();
       }},
      {"a write",
       [](LateNet& net) {
         const NoGradGuard no_grad;
         net.parameters[4].mul_(Scalar(2));
         return net.parameters[4].array().clone();
       }},
      {"another stream",
       [](LateNet& net) {
         const Stream other(net.device);
         other.wait_stream(current_stream(net.device));
         Array copy;
         {
           const StreamScope scope(other);
           copy = net.parameters[4].array().to(Device());
         }
         return copy;
       }},
      {"memory that is freed and reused",
       [](LateNet& net) {
         net.optimizer->zero_grad();
         std::vector<Array> others;
         for (int i = 0; i < 40; ++i) {
           for (const Tensor& p : net.parameters) {
             others.push_back(Array::full(p.sizes(), 7, i % 2 == 0 ? kFloat : kHalf, net.device));
           }
           others.push_back(Array::full({2}, 9, kFloat, net.device));
           others.push_back(Array::full({6, 2}, 9, kDouble, net.device));
           others.push_back(Array::full({}, 9, kFloat, net.device));
         }
         return net.parameters[4].array().clone();
       }},
  };
  return all;
}

TEST_P(LateUpdates, AreSeenByWhatFollowsTheStep) {
  for (const LateStep& way : late_steps()) {
    for (const Reader& reader : readers()) {
      SCOPED_TRACE(std::string(way.name) + ", " + reader.what);
      LateNet late(device(), true, way), usual(device(), false, way);
      for (int step = 0; step < 2; ++step) {
        const Tensor x = late_batch(step, device());
        late.step(x);
        usual.step(x);
        ASSERT_EQ(bytes_of(reader.read(late)), bytes_of(reader.read(usual))) << step;
      }
      EXPECT_EQ(late.bits(), usual.bits());
    }
  }
}

// An update that ran later would write its results into the arrays that got the memory.
TEST_P(LateUpdates, EndBeforeTheMemoryOfDestroyedParametersIsReused) {
  std::vector<Shape> shapes;
  {
    LateNet net(device(), true);
    net.step(late_batch(0, device()));
    for (const Tensor& p : net.parameters) shapes.push_back(p.sizes());
  }
  std::vector<Array> others;
  for (int i = 0; i < 20; ++i) {
    for (const Shape& sizes : shapes) others.push_back(Array::full(sizes, 7, kFloat, device()));
  }
  for (const Array& other : others) {
    EXPECT_EQ(bytes_of(other), bytes_of(Array::full(other.sizes(), 7, kFloat)));
  }
}

TEST_P(LateUpdates, AreWaitedForByTheFirstProductThatReadsThem) {
  if (device().is_cpu()) GTEST_SKIP() << "on the CPU no update is late";
  for (const std::size_t way : {0, 1, 2}) {
    SCOPED_TRACE(late_steps()[way].name);
    LateNet net(device(), true, late_steps()[way]);
    const Tensor x = late_batch(0, device());
    net.step(x);
    const auto expect_late = [&](bool first, bool second, bool third) {
      EXPECT_EQ(net.is_late(0), first);
      EXPECT_EQ(net.is_late(2), second);
      EXPECT_EQ(net.is_late(4), third);
    };
    expect_late(true, true, true);
    const Autocast autocast(device().type(), {.dtype = kHalf, .enabled = way < 2});
    const Tensor hidden = relu(net.layers[0](x));
    expect_late(false, true, true);
    const Tensor logits = net.layers[1](hidden);
    expect_late(false, false, true);
    Event().record(current_stream(device()));
    expect_late(false, false, false);
  }
}

TEST_P(LateUpdates, TakeALaunchForEachLargeLayer) {
  if (device().is_cpu()) GTEST_SKIP() << "on the CPU nothing is launched";
  const auto launches_of_a_step = [&](std::int64_t min_elements) {
    LateNet net(device(), true, late_steps()[6]);
    net.optimizer->set_late_updates(min_elements > 0, min_elements > 0 ? min_elements : 1);
    std::int64_t count = 0;
    for (int step = 0; step < 2; ++step) {
      net.optimizer->zero_grad();
      net.forward(late_batch(step, device())).square().mean().backward();
      count = -detail::launches;
      net.optimizer->step();
      count += detail::launches;
    }
    return count;
  };
  const std::int64_t usual = launches_of_a_step(0);
  EXPECT_EQ(launches_of_a_step(1), usual + 2);
  EXPECT_EQ(launches_of_a_step(72), usual + 1);  // 7 x 9 + 9 elements; then all others
  EXPECT_EQ(launches_of_a_step(1000), usual);
}

TEST_P(LateUpdates, LeaveMemoryAloneWhoseAddressIsKnown) {
  if (device().is_cpu()) GTEST_SKIP() << "on the CPU no update is late";
  LateNet net(device(), true);
  static_cast<void>(net.parameters[2].data_ptr());
  net.step(late_batch(0, device()));
  EXPECT_TRUE(net.is_late(0));
  EXPECT_FALSE(net.is_late(2));
  EXPECT_TRUE(net.is_late(4));
}

TEST_P(LateUpdates, OfAFailedCaptureLeaveNothingBehind) {
  LateNet late(device(), true), usual(device(), false);
  const Tensor x = late_batch(0, device());
  late.step(x);
  usual.step(x);
  if (device().is_cuda()) {
    LateNet other(device(), true);
    other.step(x);
    Graph broken(device());
    EXPECT_THROW(broken.capture([&] {
      other.step(x);
      throw std::domain_error("the user's");
    }),
                 std::domain_error);
    EXPECT_FALSE(other.is_late(4));
    EXPECT_THROW(broken.capture([&] {
      other.step(x);
      static_cast<void>(other.parameters[4][0][0].item());
    }),
                 std::runtime_error);
    EXPECT_FALSE(other.is_late(4));
  }
  late.step(x);
  usual.step(x);
  EXPECT_EQ(late.bits(), usual.bits());
}

TEST_P(LateUpdates, AreRefusedWithoutASize) {
  LateNet net(device(), false);
  EXPECT_FALSE(net.optimizer->has_late_updates());
  EXPECT_EQ(message_of<std::invalid_argument>([&] { net.optimizer->set_late_updates(true, 0); }),
            "set_late_updates: expected min_elements >= 1, got 0");
  net.optimizer->set_late_updates();
  EXPECT_TRUE(net.optimizer->has_late_updates());
  optim::LAMB whole(net.parameters);
  whole.set_late_updates();
  EXPECT_FALSE(whole.has_late_updates());
}

}  // namespace
}  // namespace halfgrad::amp
