#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>

// Programs as libtorch's users write them, where `torch` names this library.
namespace {

namespace torch = halfgrad;

TEST(LibtorchCode, TrainsAClassifierByHand) {
  torch::manual_seed(1);
  torch::Tensor inputs = torch::randn({64, 8});
  torch::Tensor targets = inputs.narrow(1, 0, 3).argmax(1);
  torch::Tensor weight = torch::empty({8, 3}).normal_(0.0, 0.1).requires_grad_();
  torch::Tensor bias = torch::zeros({3}).requires_grad_();
  torch::Tensor velocity = torch::zeros_like(weight);
  inputs = inputs.to(weight.device());

  double accuracy = 0;
  for (int epoch = 0; epoch < 40; ++epoch) {
    const std::vector<torch::Tensor> batches = inputs.split(16);
    const std::vector<torch::Tensor> labels = targets.chunk(4);
    std::int64_t correct = 0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const torch::Tensor logits = bias.addmm(batches[i], weight);
      const torch::Tensor log_probabilities = logits.log_softmax(1);
      const torch::Tensor picked = log_probabilities.gather(1, labels[i].unsqueeze(1));
      const torch::Tensor loss = picked.squeeze(1).neg().mean() + 1e-4 * weight.square().sum();
      loss.backward();

      torch::NoGradGuard no_grad;
      velocity.mul_(0.9).add_(weight.grad());
      weight.sub_(velocity, 0.1);
      bias.sub_(bias.grad(), 0.1);
      for (const torch::Tensor& parameter : {weight, bias}) parameter.grad().zero_();
      correct += logits.argmax(1).eq(labels[i]).sum().item<std::int64_t>();
    }
    accuracy = static_cast<double>(correct) / 64.0;
  }
  EXPECT_GT(accuracy, 0.9);
}

TEST(LibtorchCode, AttendsCausally) {
  torch::manual_seed(2);
  const std::int64_t steps = 5;
  const torch::Tensor x = torch::randn({2, steps, 12});
  const std::vector<torch::Tensor> parts = x.chunk(3, -1);
  const torch::Tensor mask = ~torch::ones({steps, steps}, {.dtype = torch::kBool}).tril();
  const torch::Tensor scores =
      parts[0].matmul(parts[1].transpose(-2, -1)).mul(0.5).masked_fill(mask, -1e9);
  const torch::Tensor weights = scores.softmax(-1);
  EXPECT_TRUE(weights.sum(-1).allclose(torch::ones({2, steps}), 1e-5, 1e-5));
  EXPECT_EQ(weights.triu(1).abs().max().item<float>(), 0.0f);
  EXPECT_TRUE(weights.bmm(parts[2]).select(1, 0).allclose(parts[2].select(1, 0)));
}

TEST(LibtorchCode, Indexes) {
  using namespace torch::indexing;
  torch::Tensor x = torch::arange(12, torch::kFloat).view({3, 4});
  EXPECT_EQ(x.index({Slice(1, None), 0}).sum().item<float>(), 12.0f);
  EXPECT_EQ(x.index({Ellipsis, -1}).sum().item<float>(), 21.0f);
  const torch::Tensor labels = torch::tensor({3, 0, 1}, torch::kLong);
  const torch::Tensor picked = x.index({torch::arange(3), labels});
  EXPECT_TRUE(picked.equal(torch::tensor({3.0, 4.0, 9.0})));
  x.index_put_({Slice(), Slice(None, 2)}, 0).index_put_({x > 9}, 1);
  EXPECT_TRUE(x.index({2}).equal(torch::tensor({0.0, 0.0, 1.0, 1.0})));
}

TEST(LibtorchCode, UpdatesAsAdamDoes) {
  torch::Tensor p = torch::full({4}, 1.0);
  const torch::Tensor grad = torch::tensor({0.5, -0.25, 1.0, 0.0});
  torch::Tensor m = torch::zeros_like(p);
  torch::Tensor v = torch::zeros_like(p);
  m.lerp_(grad, 1 - 0.9);
  v.mul_(0.999).addcmul_(grad, grad, 1 - 0.999);
  const torch::Tensor denominator = v.div(1 - 0.999).sqrt_().add_(1e-8);
  p.addcdiv_(m, denominator, -0.1 / (1 - 0.9));
  EXPECT_TRUE(p.allclose(torch::tensor({0.9, 1.1, 0.9, 1.0})));
}

TEST(LibtorchCode, InspectsGradientsAndValues) {
  const torch::Tensor x = torch::linspace(-2, 2, 9).view({3, 3});
  const torch::Tensor outliers = (x.abs() > 1.5) | ((1 < x) & (x < 1.75));
  EXPECT_EQ(outliers.sum().item<int>(), 3);
  EXPECT_TRUE(x.isfinite().all().item<bool>());
  const auto [values, indices] = x.max(/*dim=*/1, /*keepdim=*/true);
  EXPECT_TRUE(values.equal(x.amax(1, true)));
  EXPECT_TRUE(x.gather(1, indices).equal(values));
  const torch::Tensor normal = x.sub(x.mean(0)).div(x.std(0));
  EXPECT_TRUE(normal.var(0, /*unbiased=*/true).allclose(torch::ones({3})));
  EXPECT_EQ(x.to(torch::kHalf).nbytes(), 18U);
  EXPECT_EQ(x.clamp_min(0).flip(0).type_as(indices).sum().item<int>(), 1 + 1 + 2);
  EXPECT_TRUE(x.round().equal(torch::tensor({-2, -2, -1, 0, 0, 0, 1, 2, 2}).view_as(x).to(x)));
}

}  // namespace
