#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/fused_mlp.h>
#include <halfgrad/nn/sequential.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

TEST(FusedMLP, IsASequentialOfLinearAndReLU) {
  manual_seed(1);
  nn::Sequential sequential(nn::Linear(6, 9), nn::ReLU(), nn::Linear(9, 7), nn::ReLU(),
                            nn::Linear(7, 3));
  manual_seed(1);
  nn::FusedMLP fused({6, 9, 7, 3});
  const Tensor x = randn({20, 6});
  for (const bool autocast : {false, true}) {
    const amp::Autocast scope(get_default_device().type(), {.enabled = autocast});
    const Tensor expected = sequential(x), actual = fused(x);
    EXPECT_EQ(actual.dtype(), expected.dtype());
    const double tolerance = autocast ? 0.02 : 1e-6;
    EXPECT_TRUE(allclose(actual.to(kFloat), expected.to(kFloat), tolerance, tolerance));
    sum(expected).backward();
    sum(actual).backward();
  }
  const auto theirs = sequential.named_parameters();
  ASSERT_EQ(fused.named_parameters().keys(), theirs.keys());
  for (const auto& [name, parameter] : fused.named_parameters()) {
    const Tensor& other = theirs[name];
    EXPECT_EQ(parameter.to_vector<float>(), other.to_vector<float>()) << name;
    EXPECT_EQ(parameter.grad().dtype(), kFloat);
    EXPECT_TRUE(allclose(parameter.grad(), other.grad(), 0.02, 0.02)) << name;
  }
  sequential.load_state_dict(fused.state_dict());
}

TEST(FusedMLP, HasGeluBetweenItsLayers) {
  const Tensor x = randn({20, 6});
  for (const bool is_tanh : {false, true}) {
    manual_seed(1);
    nn::Sequential sequential(nn::Linear(6, 9), nn::GELU(is_tanh ? "tanh" : "none"),
                              nn::Linear(9, 3));
    manual_seed(1);
    nn::FusedMLP fused({6, 9, 3}, {.activation = is_tanh ? "gelu_tanh" : "gelu"});
    EXPECT_EQ(fused.named_parameters().keys(), sequential.named_parameters().keys());
    EXPECT_TRUE(allclose(fused(x), sequential(x), 1e-6, 1e-6));
    const Tensor target = randint(3, {20});
    EXPECT_TRUE(
        allclose(fused.cross_entropy(x, target), cross_entropy(sequential(x), target), 1e-6, 1e-6));
  }
  EXPECT_EQ(message_of([] {
              nn::FusedMLP({4, 2}, {.activation = "tanh"});
            }),
            "FusedMLP: expected activation to be 'relu', 'gelu' or 'gelu_tanh', got 'tanh'");
}

TEST(FusedMLP, HasItsCrossEntropy) {
  manual_seed(2);
  const nn::FusedMLP model({6, 9, 3});
  const Tensor x = randn({20, 6}), target = randint(3, {20});
  const amp::Autocast scope(get_default_device().type());
  const Tensor expected = cross_entropy(model(x), target);
  const Tensor loss = model.cross_entropy(x, target);
  expected.backward();
  std::vector<std::vector<float>> gradients;
  for (const Tensor& parameter : model.parameters()) {
    gradients.push_back(parameter.grad().to_vector<float>());
    parameter.set_grad(Tensor());
  }
  loss.backward();
  EXPECT_EQ(loss.item(), expected.item());
  std::size_t i = 0;
  for (const Tensor& parameter : model.parameters()) {
    EXPECT_EQ(parameter.grad().to_vector<float>(), gradients[i++]);
  }
}

TEST(FusedMLP, LeavesOutBiasesAndRefusesBadSizes) {
  nn::FusedMLP fused({4, 3, 2}, {.bias = false});
  EXPECT_EQ(fused.parameters().size(), 2);
  EXPECT_EQ(fused(zeros({5, 4})).sizes(), (Shape{5, 2}));
  EXPECT_EQ(message_of([] { nn::FusedMLP({4}); }),
            "FusedMLP: expected the sizes of an input and an output, got 1 sizes");
  EXPECT_EQ(message_of([] {
              nn::FusedMLP({4, -1});
            }),
            "Linear: expected sizes of at least 0, got 4 and -1");
}

}  // namespace
}  // namespace halfgrad
