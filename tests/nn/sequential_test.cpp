#include <halfgrad/nn/sequential.h>

#include <sstream>
#include <utility>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/functional.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::nn {
namespace {

using Names = std::vector<std::string>;

TEST(Sequential, AppliesItsLayersInOrder) {
  auto model = Sequential(Linear(784, 512), ReLU(), Linear(512, 10));
  EXPECT_EQ(model(zeros({3, 784})).sizes(), Shape({3, 10}));
  EXPECT_EQ(model.named_parameters().keys(), (Names{"0.weight", "0.bias", "2.weight", "2.bias"}));
  std::ostringstream out;
  out << model;
  EXPECT_EQ(out.str(),
            "Sequential(\n"
            "  (0): Linear(in_features=784, out_features=512, bias=true)\n"
            "  (1): ReLU()\n"
            "  (2): Linear(in_features=512, out_features=10, bias=true)\n"
            ")");
  const Tensor x = ones({1});
  EXPECT_TRUE(Sequential()(x).is_same(x));
}

TEST(Sequential, ErrorsNameTheLayerByItsPath) {
  const std::string alone = message_of<std::invalid_argument>([] {
    Linear(784, 128)(zeros({32, 512}));
  });
  EXPECT_TRUE(alone.starts_with("linear: expected")) << "no path: " << alone;
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              Sequential(Linear(784, 128))(zeros({32, 512}));
            }),
            "Sequential.0 (Linear): " + alone);
  const auto deep = Sequential(ReLU(), Sequential(ReLU(), Linear(784, 128)));
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              deep(zeros({32, 512}));
            }),
            "Sequential.1.1 (Linear): " + alone);
  const auto function = Sequential([](const Tensor& x) { return x.view({-1, 64}); });
  const std::string of_view = message_of<std::invalid_argument>([] { zeros({3}).view({-1, 64}); });
  EXPECT_EQ(message_of<std::invalid_argument>([&] { function(zeros({3})); }),
            "Sequential.0 (Function): " + of_view);
}

TEST(Sequential, ReturnsItsLayers) {
  const Linear linear(2, 2);
  auto model = Sequential(linear, ReLU(), linear);
  EXPECT_EQ(model.size(), 3);
  EXPECT_TRUE(model[2]->is_same(linear));
  EXPECT_TRUE(model.at<Linear>(2).weight.is_same(linear.weight));
  EXPECT_THROW(model.at<Linear>(1), std::invalid_argument);
  const std::string beyond = "Sequential: expected a layer in [0, 3), got 3";
  EXPECT_EQ(message_of<std::out_of_range>([&] { static_cast<void>(model[3]); }), beyond);
  EXPECT_EQ(message_of<std::out_of_range>([&] { model.at<Linear>(3); }), beyond);
}

TEST(Sequential, CopiesShareTheirLayers) {
  Sequential model;
  Sequential copy = model;
  copy.push_back("first", Linear(1, 1, {.bias = false}));
  copy.push_back([](const Tensor& x) { return x + 1; });
  model.at<Linear>(0).weight.array().fill_(3);
  EXPECT_EQ(model(full({1}, 2.0)).item(), 7);
  EXPECT_EQ(model.named_children().keys(), (Names{"first", "1"}));
}

TEST(Sequential, IsEmptyAfterAMove) {
  auto model = Sequential(Tanh());
  const Sequential moved = std::move(model);
  EXPECT_EQ(moved.size(), 1);
  const std::string refusal = "Module: expected a module, got an empty one; assign it before use";
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_TRUE(model.is_empty());
  EXPECT_EQ(message_of([&] { model.size(); }), refusal);
  EXPECT_EQ(message_of([&] { model.begin(); }), refusal);
  EXPECT_EQ(message_of([&] { model(ones({1})); }), refusal);
  EXPECT_EQ(message_of([&] { model.forward(ones({1})); }), refusal);
  model = moved;
  EXPECT_EQ(model.size(), 1);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Sequential, RefusesToContainItself) {
  auto model = Sequential(Tanh());
  EXPECT_THROW(model.push_back(model), std::invalid_argument);
  EXPECT_EQ(model.size(), 1);
}

TEST(Sequential, Nests) {
  auto model = Sequential(Sequential(Linear(1, 2), Tanh()), Linear(2, 1));
  EXPECT_EQ(model.named_parameters().keys(),
            (Names{"0.0.weight", "0.0.bias", "1.weight", "1.bias"}));
  model.eval();
  EXPECT_FALSE(model.at<Sequential>(0).at<Linear>(0).is_training());
}

TEST(Sequential, LearnsExclusiveOr) {
  manual_seed(1);
  auto model = Sequential(Linear(2, 16), Tanh(), Linear(16, 2));
  const Tensor x = tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}});
  const Tensor y = tensor({0, 1, 1, 0});
  const auto loss = [&] { return functional::cross_entropy(model(x), y); };
  const double before = loss().item();
  for (int step = 0; step < 500; ++step) {
    model.zero_grad();
    loss().backward();
    const NoGradGuard no_grad;
    for (Tensor& parameter : model.parameters()) parameter.add_(parameter.grad(), -0.5);
  }
  EXPECT_GT(before, 0.5);
  EXPECT_LT(loss().item(), 0.1);
  EXPECT_EQ(model(x).argmax(1).to_vector<std::int64_t>(), y.to_vector<std::int64_t>());
}

}  // namespace
}  // namespace halfgrad::nn
