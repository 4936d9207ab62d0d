#include <cmath>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>
#include <halfgrad/amp/module_policy.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/dropout.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/norm.h>
#include <halfgrad/nn/sequential.h>

namespace halfgrad::nn {
namespace {

using Doubles = std::vector<double>;

std::string printed(const Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

/// Compares element by element; the tolerance is `roundoffs` roundoffs of float64.
void expect_close(const Tensor& actual, const Doubles& expected, double roundoffs) {
  const Doubles values = actual.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], roundoffs * 0x1p-53 * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
  }
}

TEST(Linear, ComputesProductAndBias) {
  const Linear layer(2, 3, {.dtype = kFloat64});
  layer.weight.array().copy_(tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}).array());
  layer.bias.array().copy_(tensor({0.5, -0.5, 0.0}).array());
  const Tensor x = tensor({{1.0, -1.0}, {2.0, 0.0}}, {.dtype = kFloat64});
  const Tensor y = layer(x);
  EXPECT_EQ(y.to_vector<double>(), (Doubles{-0.5, -1.5, -1, 2.5, 5.5, 10}));
  y.sum().backward();
  EXPECT_EQ(layer.weight.grad().to_vector<double>(), (Doubles{3, -1, 3, -1, 3, -1}));
  EXPECT_EQ(layer.bias.grad().to_vector<double>(), (Doubles{2, 2, 2}));
}

TEST(Linear, TakesOptions) {
  const Linear layer(3, 4, {.bias = false, .dtype = kBFloat16});
  EXPECT_EQ(layer.weight.dtype(), kBFloat16);
  EXPECT_FALSE(layer.bias.defined());
  EXPECT_EQ(layer.parameters().size(), 1);
  EXPECT_EQ(layer(zeros({2, 5, 3}, {.dtype = kBFloat16})).sizes(), Shape({2, 5, 4}));
  EXPECT_EQ(printed(layer), "Linear(in_features=3, out_features=4, bias=false)");
  EXPECT_EQ(Linear(0, 2)(zeros({1, 0})).to_vector<double>(), (Doubles{0, 0}));
  EXPECT_THROW(Linear(-1, 2), std::invalid_argument);
}

TEST(BatchNorm1d, TrainsOnTheBatchAndEvaluatesOnRunningStatistics) {
  BatchNorm1d layer(2, {.eps = 0, .momentum = 0.25, .dtype = kFloat64});
  const Tensor x = tensor({{1.0, 10.0}, {3.0, 30.0}}, {.dtype = kFloat64});
  expect_close(layer(x), {-1, -1, 1, 1}, 16);
  expect_close(layer.running_mean, {0.25 * 2, 0.25 * 20}, 4);
  expect_close(layer.running_var, {0.75 + 0.25 * 2, 0.75 + 0.25 * 200}, 16);
  EXPECT_EQ(layer.num_batches_tracked.item(), 1);

  layer.eval();
  const double first = (1 - 0.5) / std::sqrt(1.25);
  const double second = (10 - 5.0) / std::sqrt(50.75);
  const Doubles y = layer(x).to_vector<double>();
  EXPECT_NEAR(y[0], first, 16 * 0x1p-53);
  EXPECT_NEAR(y[1], second, 16 * 0x1p-53);
  EXPECT_EQ(layer.num_batches_tracked.item(), 1);
}

TEST(BatchNorm1d, AveragesEvenlyWithoutMomentum) {
  const BatchNorm1d layer(1, {.momentum = std::nullopt, .dtype = kFloat64});
  for (const double mean : {3.0, 5.0, 10.0}) {
    layer(tensor({{mean - 1}, {mean + 1}}, {.dtype = kFloat64}));
  }
  expect_close(layer.running_mean, {6}, 16);
  expect_close(layer.running_var, {2}, 16);
  EXPECT_EQ(layer.num_batches_tracked.item(), 3);
}

TEST(BatchNorm1d, AveragingChangesNeitherOutputNorGradient) {
  std::vector<Doubles> seen[2];
  for (const bool averaging : {false, true}) {
    const BatchNorm1d layer(
        1, {.momentum = averaging ? std::nullopt : std::optional(0.1), .dtype = kFloat64});
    const Tensor x = tensor({{1.0}, {3.0}, {4.0}}, {.dtype = kFloat64}).requires_grad_();
    const Tensor y = layer(x);
    (y * y * y).sum().backward();
    seen[averaging] = {y.to_vector<double>(), x.grad().to_vector<double>()};
  }
  EXPECT_EQ(seen[true], seen[false]);
}

// The statistics stay float32, whatever dtype a policy sets for the layer.
TEST(BatchNorm1d, AveragesInTheTypeOfItsStatistics) {
  const amp::WithPolicy<BatchNorm1d> layer(BatchNorm1d(1, {.momentum = std::nullopt}),
                                           {.compute = kHalf});
  for (int batch = 0; batch < 3; ++batch) layer(tensor({{-400.0}, {400.0}}, {.dtype = kFloat}));
  EXPECT_EQ(layer.running_mean.item(), 0);
  EXPECT_NEAR(layer.running_var.item(), 320000, 320000 * 0x1p-22);
}

TEST(BatchNorm1d, UsesTheBatchIfNoStatisticsAreTracked) {
  BatchNorm1d layer(1,
                    {.eps = 0, .affine = false, .track_running_stats = false, .dtype = kFloat64});
  EXPECT_TRUE(layer.state_dict().is_empty());
  layer.eval();
  expect_close(layer(tensor({{1.0}, {3.0}}, {.dtype = kFloat64})), {-1, 1}, 16);
}

TEST(BatchNorm1d, TakesSequencesAndRefusesOtherShapes) {
  const BatchNorm1d layer(3);
  EXPECT_EQ(layer(rand({2, 3, 4})).sizes(), Shape({2, 3, 4}));
  try {
    layer(rand({2, 4}));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "BatchNorm1d: expected shape [n, 3] or [n, 3, l], got [2, 4]");
  }
  EXPECT_EQ(printed(layer),
            "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=true, bias=true, "
            "track_running_stats=true)");
}

TEST(BatchNorm1d, OfNoSamplesKeepsItsStatistics) {
  const BatchNorm1d layer(2);
  EXPECT_EQ(layer(rand({0, 2, 3})).sizes(), Shape({0, 2, 3}));
  EXPECT_EQ(layer.running_var.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_THROW(layer(rand({1, 2})), std::invalid_argument) << "one value for each channel";
  EXPECT_THROW(BatchNorm1d(2, {.eps = -1})(rand({4, 2})), std::invalid_argument);
}

TEST(LayerNorm, NormalisesScalesAndShifts) {
  const LayerNorm layer({2}, {.eps = 0, .dtype = kFloat64});
  layer.weight.array().fill_(3);
  layer.bias.array().fill_(0.5);
  const Tensor x = tensor({{1.0, 3.0}, {40.0, 20.0}}, {.dtype = kFloat64});
  expect_close(layer(x), {-2.5, 3.5, 3.5, -2.5}, 16);
  EXPECT_EQ(printed(layer), "LayerNorm([2], eps=0, elementwise_affine=true, bias=true)");
  EXPECT_EQ(printed(LayerNorm({2}, {.elementwise_affine = false})),
            "LayerNorm([2], eps=1e-05, elementwise_affine=false, bias=false)");
  EXPECT_TRUE(LayerNorm({2}, {.elementwise_affine = false}).parameters().empty());
  EXPECT_EQ(LayerNorm({2}, {.bias = false}).parameters().size(), 1);
}

TEST(RMSNorm, DividesByTheRootMeanSquare) {
  const RMSNorm layer({2}, {.eps = 0.0, .dtype = kFloat64});
  layer.weight.array().fill_(5);
  const Tensor x = tensor({{1.0, 7.0}}, {.dtype = kFloat64});
  expect_close(layer(x), {1, 7}, 16);
  EXPECT_EQ(printed(RMSNorm({2})), "RMSNorm([2], eps=none, elementwise_affine=true)");
}

TEST(GroupNorm, NormalizesGroupsOfChannels) {
  const GroupNorm layer(2, 4, {.eps = 0, .dtype = kFloat64});
  layer.weight.array().fill_(3);
  layer.bias.array().fill_(0.5);
  const Tensor x = tensor({{1.0, 3.0, 40.0, 20.0}}, {.dtype = kFloat64});
  expect_close(layer(x), {-2.5, 3.5, 3.5, -2.5}, 16);
  EXPECT_EQ(printed(layer), "GroupNorm(2, 4, eps=0, affine=true, bias=true)");
  EXPECT_TRUE(GroupNorm(2, 4, {.affine = false}).parameters().empty());
  EXPECT_THROW(layer(rand({2, 6})), std::invalid_argument);
  EXPECT_THROW(layer(rand({4})), std::invalid_argument);
  EXPECT_THROW(GroupNorm rejected(3, 4), std::invalid_argument);
  EXPECT_THROW(GroupNorm rejected(0, 4), std::invalid_argument);
}

TEST(Dropout, ZeroesAndScalesInTrainingOnly) {
  manual_seed(2);
  Dropout layer(0.25);
  const Tensor x = ones({1 << 14});
  double zeroed = 0;
  for (const float y : layer(x).to_vector<float>()) {
    EXPECT_TRUE(y == 0 || y == 1.0f / 0.75f) << y;
    zeroed += y == 0;
  }
  const double n = 1 << 14;
  EXPECT_NEAR(zeroed / n, 0.25, 5 * std::sqrt(0.25 * 0.75 / n));
  layer.eval();
  EXPECT_EQ(layer(x).to_vector<float>(), x.to_vector<float>());
  EXPECT_THROW(Dropout(1.5), std::invalid_argument);
  EXPECT_EQ(printed(layer), "Dropout(p=0.25, inplace=false)");
}

TEST(Embedding, LooksUpRowsAndKeepsThePaddingRowZero) {
  for (const std::int64_t padding : {2, -2}) {
    const Embedding layer(4, 3, {.padding_idx = padding});
    const Tensor y = layer(tensor({{0, 2}, {2, 1}}));
    EXPECT_EQ(y.sizes(), Shape({2, 2, 3}));
    EXPECT_EQ(y[0][1].to_vector<double>(), (Doubles{0, 0, 0}));
    EXPECT_EQ(y[1][1].to_vector<float>(), layer.weight[1].to_vector<float>());
    y.sum().backward();
    EXPECT_EQ(layer.weight.grad().to_vector<double>(),
              (Doubles{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  }
  EXPECT_THROW(Embedding(4, 3, {.padding_idx = 4}), std::invalid_argument);
  EXPECT_EQ(printed(Embedding(4, 3)), "Embedding(4, 3)");
  EXPECT_EQ(printed(Embedding(4, 3, {.padding_idx = -1})), "Embedding(4, 3, padding_idx=3)");
}

TEST(Embedding, FromPretrainedKeepsTheTable) {
  const Tensor table = tensor({{1.0, 2.0}, {3.0, 4.0}});
  const Embedding frozen = Embedding::from_pretrained(table);
  EXPECT_EQ(frozen(tensor({1})).to_vector<double>(), (Doubles{3, 4}));
  EXPECT_FALSE(frozen.weight.requires_grad());
  EXPECT_EQ(frozen.weight.data_ptr(), table.data_ptr());
  const Embedding trained = Embedding::from_pretrained(table, {.freeze = false, .padding_idx = 0});
  trained(tensor({0, 1})).sum().backward();
  EXPECT_EQ(trained.weight.grad().to_vector<double>(), (Doubles{0, 0, 1, 1}));
  EXPECT_FALSE(table.requires_grad()) << "the caller's tensor stays as it is";
  EXPECT_THROW(Embedding::from_pretrained(ones({3})), std::invalid_argument);
  EXPECT_THROW(Embedding::from_pretrained(Tensor()), std::invalid_argument);
}

TEST(Activations, EqualTheirOps) {
  using Map = std::function<Tensor(const Tensor&)>;
  const struct {
    const char* text;
    Module module;
    Map layer, op;
  } cases[] = {
      {"Identity()", Identity(), Identity(), [](const Tensor& x) { return x; }},
      {"ReLU()", ReLU(), ReLU(), [](const Tensor& x) { return relu(x); }},
      {"Sigmoid()", Sigmoid(), Sigmoid(), [](const Tensor& x) { return sigmoid(x); }},
      {"Tanh()", Tanh(), Tanh(), [](const Tensor& x) { return tanh(x); }},
      {"SiLU()", SiLU(), SiLU(), [](const Tensor& x) { return silu(x); }},
      {"LeakyReLU(negative_slope=0.2)", LeakyReLU(0.2), LeakyReLU(0.2),
       [](const Tensor& x) { return leaky_relu(x, 0.2); }},
      {"ELU(alpha=0.5)", ELU(0.5), ELU(0.5), [](const Tensor& x) { return elu(x, 0.5); }},
      {"GELU(approximate='tanh')", GELU("tanh"), GELU("tanh"),
       [](const Tensor& x) { return gelu(x, "tanh"); }},
      {"Softplus(beta=2, threshold=inf)", Softplus(2), Softplus(2),
       [](const Tensor& x) { return softplus(x, 2); }},
      {"Softmax(dim=0)", Softmax(0), Softmax(0), [](const Tensor& x) { return softmax(x, 0); }},
      {"LogSoftmax(dim=1)", LogSoftmax(1), LogSoftmax(1),
       [](const Tensor& x) { return log_softmax(x, 1); }},
  };
  manual_seed(4);
  const Tensor x = randn({3, 5});
  for (const auto& c : cases) {
    EXPECT_EQ(c.layer(x).to_vector<float>(), c.op(x).to_vector<float>()) << c.text;
    EXPECT_EQ(printed(c.module), c.text);
  }
  EXPECT_EQ(Flatten()(zeros({2, 3, 4})).sizes(), Shape({2, 12}));
  EXPECT_EQ(Flatten(0, 1)(zeros({2, 3, 4})).sizes(), Shape({6, 4}));
}

TEST(Layers, GradientsReachEveryParameter) {
  manual_seed(6);
  auto model = Sequential(Linear(4, 8), LayerNorm({8}), GELU(), Linear(8, 8), BatchNorm1d(8),
                          SiLU(), Dropout(0.1), RMSNorm({8}), GroupNorm(2, 8), Linear(8, 2));
  const Tensor weights = randn({16, 2});
  (model(randn({16, 4})) * weights).sum().backward();
  for (const auto& [name, parameter] : model.named_parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name;
    double largest = 0;
    for (const double g : parameter.grad().to_vector<double>()) largest = std::max(largest, g * g);
    EXPECT_GT(largest, 0) << name;
  }
}

}  // namespace
}  // namespace halfgrad::nn
