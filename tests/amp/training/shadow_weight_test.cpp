#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/launches.h>
#include <halfgrad/tests/amp/training/shadow_net.h>
#include <halfgrad/tests/devices.h>

/// 16-bit copies of weights that the optimizer writes: training has the bits of casting each time.
namespace halfgrad::amp {
namespace {

using testing::bytes_of;

class ShadowWeights : public OnDevice {};
HALFGRAD_ON_DEVICES(ShadowWeights);

TEST_P(ShadowWeights, AreUsedAfterAStepAndAreTheWeightsRounded) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    ShadowNet net(device(), false, dtype);
    EXPECT_FALSE(net.has_shadow());
    for (int step = 0; step < 3; ++step) {
      net.step(shadow_batch(step, device()));
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
  ShadowNet net(device(), false, kBFloat16), casting(device(), true, kBFloat16);
  for (int step = 0; step < 5; ++step) {
    for (ShadowNet* each : {&net, &casting}) {
      each->optimizer->zero_grad();
      each->forward(shadow_batch(step, device())).square().mean().backward();
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

// set_data() may give a weight another view of its storage, whose version stays the same.
TEST_P(ShadowWeights, AreStaleForAnotherViewOfTheStorage) {
  ShadowNet net(device(), false);
  net.step(shadow_batch(0, device()));
  const Tensor& weight = net.first.weight;
  const Array before = weight.array();
  weight.set_data(Tensor(before.as_strided({9, 7}, {1, 9}, 0)));
  EXPECT_FALSE(detail::shadow_of(weight, kHalf).defined());
  const Tensor x = shadow_batch(1, device());
  const Tensor y = net.forward(x);
  weight.set_data(Tensor(weight.array().clone()));
  EXPECT_EQ(bytes_of(y.array()), bytes_of(net.forward(x).array()));
}

TEST_P(ShadowWeights, KeepTheirMemory) {
  ShadowNet net(device(), false);
  net.step(shadow_batch(0, device()));
  const auto* const at = detail::shadow_of(net.first.weight, kHalf).data();
  net.step(shadow_batch(1, device()));
  EXPECT_EQ(detail::shadow_of(net.first.weight, kHalf).data(), at);
}

TEST_P(ShadowWeights, SaveTheCastsOfAStep) {
  if (device().is_cpu()) GTEST_SKIP() << "counts launches";
  ShadowNet net(device(), false), casting(device(), true);
  std::vector<std::int64_t> launches;
  for (ShadowNet* each : {&net, &casting}) {
    each->step(shadow_batch(0, device()));
    const auto before = detail::launches;
    each->step(shadow_batch(1, device()));
    launches.push_back(detail::launches - before);
  }
  EXPECT_EQ(launches[1] - launches[0], 4);
}

const std::vector<WeightWrite>& raw_writes() {
  static const std::vector<WeightWrite> all = {
      {"data_ptr", [](ShadowNet& net) { net.first.weight.data_ptr<float>()[3] = 4; }},
      {"accessor", [](ShadowNet& net) { net.first.weight.accessor<float, 2>()[1][2] = 5; }},
  };
  return all;
}

void expect_bits_of_casts(Device device, const WeightWrite& write) {
  SCOPED_TRACE(write.what);
  ShadowNet net(device, false), casting(device, true);
  for (int step = 0; step < 8; ++step) {
    for (ShadowNet* each : {&net, &casting}) {
      manual_seed(static_cast<std::uint64_t>(step));
      each->step(shadow_batch(step, device));
      if (step % 3 == 1) write.run(*each);
    }
    ASSERT_EQ(net.bits(), casting.bits()) << step;
  }
}

TEST_P(ShadowWeights, SeeEveryWrite) {
  for (const WeightWrite& write : weight_writes()) expect_bits_of_casts(device(), write);
  if (device().is_cuda()) return;  // the host cannot write there
  for (const WeightWrite& write : raw_writes()) expect_bits_of_casts(device(), write);
}

// Somebody who has the address writes at any time.
TEST_P(ShadowWeights, AreNotUsedOnceTheAddressIsKnown) {
  ShadowNet net(device(), false);
  net.step(shadow_batch(0, device()));
  EXPECT_TRUE(net.has_shadow());
  static_cast<void>(net.first.weight.data_ptr<const float>());  // to read
  EXPECT_TRUE(net.has_shadow());
  static_cast<void>(net.first.weight.data_ptr<float>());
  net.step(shadow_batch(1, device()));
  EXPECT_FALSE(net.has_shadow());
}

// The graph of the first loss keeps the weights of its time.
TEST_P(ShadowWeights, AreNotOverwrittenWhileAGraphRefersToThem) {
  std::vector<std::vector<std::byte>> gradients;
  for (const bool casts : {false, true}) {
    ShadowNet net(device(), casts);
    net.step(shadow_batch(0, device()));
    const Tensor x = shadow_batch(1, device()).requires_grad_();
    const Tensor kept = net.forward(x).square().sum();
    net.step(shadow_batch(2, device()));
    net.step(shadow_batch(3, device()));
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

}  // namespace
}  // namespace halfgrad::amp
