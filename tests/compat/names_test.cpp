#include <halfgrad/compat/torch.h>

#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

// Short names, printing, and arguments that may be absent, as programs for libtorch write them.
namespace {

namespace torch = halfgrad;
namespace nn = torch::nn;
using torch::message_of;

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Names, OfDtypes) {
  EXPECT_EQ(torch::kF64, torch::kDouble);
  EXPECT_EQ(torch::kF32, torch::kFloat);
  EXPECT_EQ(torch::kF16, torch::kHalf);
  EXPECT_EQ(torch::kI64, torch::kLong);
  EXPECT_EQ(torch::kI32, torch::kInt);
  EXPECT_EQ(torch::kI16, torch::kShort);
  EXPECT_EQ(torch::kI8, torch::kChar);
  EXPECT_EQ(torch::kU8, torch::kByte);
}

TEST(Names, PrintingOfLists) {
  const std::vector<std::int64_t> values{1, 2, 3};
  EXPECT_EQ(printed(torch::ArrayRef<std::int64_t>(values)), "[1, 2, 3]");
  EXPECT_EQ(printed(values), "1 2 3");
  EXPECT_EQ(printed(std::vector<double>()), "");
  EXPECT_TRUE(printed(std::vector<int>(101, 7)).ends_with(" 7 ..."));
  EXPECT_EQ(torch::str("got ", values), "got 1 2 3");
}

TEST(Names, WarningsGoToTheErrorStream) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    TORCH_WARN("step ", i);
    TORCH_WARN_ONCE("once ", i);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "halfgrad: warning: step 0\nhalfgrad: warning: once 0\nhalfgrad: warning: step 1\n");
}

TEST(Names, WhereOfACondition) {
  const torch::Tensor x = torch::tensor({{0, 1, 2}, {3, 0, 5}});
  const std::vector<torch::Tensor> places = torch::where(x > 1);
  ASSERT_EQ(places.size(), 2);
  EXPECT_EQ(places[0].to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(places[1].to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 0, 2}));
  EXPECT_TRUE(x.index({places[0], places[1]}).equal(torch::tensor({2, 3, 5})));
  const std::vector<torch::Tensor> scalar = torch::where(torch::tensor(true));
  ASSERT_EQ(scalar.size(), 1);
  EXPECT_TRUE(scalar[0].equal(torch::tensor({0})));
  EXPECT_TRUE(torch::ravel(x).equal(torch::tensor({0, 1, 2, 3, 0, 5})));
}

TEST(Names, ListsOfTensorsInFiles) {
  const torch::Tensor a = torch::arange(3), b = torch::ones({2, 2});
  std::stringstream stream;
  torch::save({a, b}, stream);
  torch::autograd::tensor_list list;
  torch::load(list, stream);
  ASSERT_EQ(list.size(), 2);
  EXPECT_TRUE(list[0].equal(a));
  EXPECT_TRUE(list[1].equal(b));
}

TEST(OptionalTensors, OfLayers) {
  const torch::Tensor x = torch::rand({4, 3}), w = torch::rand({2, 3}), v = torch::rand({3});
  const std::optional<torch::Tensor> none, some = v;
  EXPECT_TRUE(torch::linear(x, w, std::nullopt).equal(torch::linear(x, w)));
  EXPECT_TRUE(torch::linear(x, w, std::optional(torch::ones({2}))).equal(torch::linear(x, w) + 1));
  EXPECT_TRUE(torch::linear(x, w, {}).equal(torch::linear(x, w)));
  const torch::Tensor normalized = torch::layer_norm(x, {3});
  EXPECT_TRUE(torch::layer_norm(x, {3}, std::nullopt).equal(normalized));
  EXPECT_TRUE(torch::layer_norm(x, {3}, std::nullopt, none, 1e-5).equal(normalized));
  EXPECT_TRUE(torch::layer_norm(x, {3}, some, none).equal(torch::layer_norm(x, {3}, v)));
  EXPECT_TRUE(torch::group_norm(x, 3, std::nullopt, std::nullopt).equal(torch::group_norm(x, 3)));
  EXPECT_TRUE(torch::batch_norm(x, v, std::nullopt, none, {}, true, 0.1, 1e-5, false)
                  .equal(torch::batch_norm(x, v, {}, {}, {}, true)));
  const torch::Tensor q = torch::rand({2, 5, 4});
  EXPECT_TRUE(torch::scaled_dot_product_attention(q, q, q, std::nullopt)
                  .equal(torch::scaled_dot_product_attention(q, q, q)));
}

TEST(OptionalTensors, OfLosses) {
  const torch::Tensor x = torch::rand({4, 3}), y = torch::rand({4, 3});
  const torch::Tensor classes = torch::tensor({0, 2, 1, 1});
  EXPECT_TRUE(torch::nll_loss(x, classes, std::nullopt).equal(torch::nll_loss(x, classes)));
  EXPECT_TRUE(torch::cross_entropy_loss(x, classes, std::nullopt)
                  .equal(torch::cross_entropy_loss(x, classes)));
  EXPECT_TRUE(torch::binary_cross_entropy(x, y, std::nullopt, torch::kSum)
                  .equal(torch::binary_cross_entropy(x, y, {}, torch::kSum)));
  EXPECT_TRUE(torch::binary_cross_entropy_with_logits(x, y, std::nullopt, std::nullopt)
                  .equal(torch::binary_cross_entropy_with_logits(x, y)));
}

TEST(LayerOptions, OfLayersThatWereMade) {
  const nn::Linear linear(nn::LinearOptions(3, 2).bias(false));
  EXPECT_EQ(linear->options.in_features(), 3);
  EXPECT_EQ(linear->options.out_features(), 2);
  EXPECT_FALSE(linear->options.bias());
  EXPECT_EQ(nn::Linear(torch::ones({2, 5}), torch::ones({2}))->options.in_features(), 5);
  const nn::Dropout dropout(nn::DropoutOptions(0.25).inplace(true));
  EXPECT_EQ(dropout->options.p(), 0.25);
  EXPECT_TRUE(dropout->options.inplace());
  const nn::Embedding table(nn::EmbeddingOptions(5, 4).padding_idx(-1));
  EXPECT_EQ(table->options.num_embeddings(), 5);
  EXPECT_EQ(table->options.embedding_dim(), 4);
  EXPECT_EQ(table->options.padding_idx(), 4);
  const nn::LayerNorm layer_norm(nn::LayerNormOptions({2, 3}).eps(1e-3).elementwise_affine(false));
  EXPECT_EQ(layer_norm->options.normalized_shape(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(layer_norm->options.eps(), 1e-3);
  EXPECT_FALSE(layer_norm->options.elementwise_affine());
  const nn::GroupNorm group_norm(nn::GroupNormOptions(2, 6).affine(false));
  EXPECT_EQ(group_norm->options.num_groups(), 2);
  EXPECT_EQ(group_norm->options.num_channels(), 6);
  EXPECT_FALSE(group_norm->options.affine());
  nn::BatchNorm1d batch_norm(nn::BatchNorm1dOptions(4).momentum(0.5).track_running_stats(false));
  EXPECT_EQ(batch_norm->options.num_features(), 4);
  EXPECT_EQ(batch_norm->options.momentum(), 0.5);
  EXPECT_EQ(batch_norm->options.eps(), 1e-5);
  EXPECT_FALSE(batch_norm->options.track_running_stats());
  const nn::Linear copy = linear;
  EXPECT_EQ(copy->options.out_features(), 2);
}

TEST(Losses, ErrorsNameTheLoss) {
  const torch::Tensor x = torch::rand({4, 3}), y = torch::rand({5, 2});
  const auto starts = [](const std::string& name, const auto& call) {
    const std::string message = message_of([&] { call(); });
    EXPECT_TRUE(message.starts_with(name + ": expected")) << message;
  };
  starts("hinge_embedding_loss", [&] { torch::hinge_embedding_loss(x, y); });
  starts("margin_ranking_loss", [&] { torch::margin_ranking_loss(x, x, y); });
  starts("cosine_embedding_loss", [&] { torch::cosine_embedding_loss(x, y, y); });
  starts("triplet_margin_loss", [&] { torch::triplet_margin_loss(x, x, y); });
  starts("soft_margin_loss", [&] { torch::soft_margin_loss(x, y); });
  starts("poisson_nll_loss",
         [&] { torch::poisson_nll_loss(x, y, true, false, 1e-8, torch::kMean); });
  starts("multi_margin_loss", [&] { torch::multi_margin_loss(x, torch::tensor({0, 9, 0, 0})); });
  starts("pairwise_distance", [&] { torch::pairwise_distance(x, y); });
  starts("bilinear", [&] { torch::bilinear(x, x, y); });
}

TEST(Losses, KLDivLossTakesBatchMean) {
  const torch::Tensor x = torch::rand({4, 3});
  const torch::Tensor log_p = torch::log_softmax(x, 1), p = torch::softmax(x * 2, 1);
  const torch::Tensor expected = torch::kl_div(log_p, p, torch::kSum) / 4;
  EXPECT_TRUE(nn::KLDivLoss(torch::kBatchMean)(log_p, p).equal(expected));
  const auto options = nn::KLDivLossOptions(torch::kBatchMean).log_target(true);
  EXPECT_TRUE(nn::KLDivLoss(options)(log_p, p.log()).allclose(expected));
}

// libtorch's values are those of group_norm() with a group for each channel.
TEST(InstanceNorm, NormalizesEachChannelOfEachSample) {
  const torch::Tensor x = torch::rand({2, 3, 4, 5});
  nn::InstanceNorm2d plain(3);
  const torch::Tensor y = plain(x);
  EXPECT_TRUE(y.equal(torch::group_norm(x, 3)));
  EXPECT_TRUE(plain(x[0]).equal(y[0]));
  EXPECT_TRUE(plain->parameters().empty());
  const nn::InstanceNorm1d affine(nn::InstanceNorm1dOptions(3).affine(true).eps(1e-3));
  EXPECT_EQ(affine->named_parameters().size(), 2);
  EXPECT_TRUE(affine(x[0][0].reshape({1, 4, 5}).slice(1, 0, 3))
                  .equal(torch::group_norm(x[0][0].reshape({1, 4, 5}).slice(1, 0, 3), 3,
                                           torch::ones({3}), torch::zeros({3}), 1e-3)));
  EXPECT_EQ(
      message_of([&] { plain(x[0][0]); }),
      "InstanceNorm2d: expected [n, 3, ...] or [3, ...] with 2 dimensions after the channels, "
      "got [4, 5]");
  EXPECT_THROW(plain(torch::ones({2, 3, 1, 1})), std::invalid_argument);
}

// Expected values: PyTorch 2.15.
TEST(InstanceNorm, KeepsRunningStatistics) {
  const torch::Tensor x = torch::arange(24.0).pow(2).view({2, 3, 4}) / 10;
  nn::InstanceNorm1d norm(
      nn::InstanceNorm1dOptions(3).momentum(0.25).affine(true).track_running_stats(true));
  norm->weight.set_data(torch::tensor({1.0, 2.0, -1.0}));
  norm->bias.set_data(torch::tensor({0.0, 1.0, 2.0}));
  const torch::Tensor y = norm(x);
  EXPECT_TRUE(y.equal(torch::group_norm(x, 3, norm->weight, norm->bias)));
  EXPECT_TRUE(norm->running_mean.allclose(torch::tensor({2.3375, 4.2375, 6.9375})));
  EXPECT_TRUE(norm->running_var.allclose(torch::tensor({2.29083347, 3.55749941, 5.35750103})));
  norm->eval();
  EXPECT_TRUE(norm(x[0]).flatten().allclose(
      torch::tensor({-1.54437912, -1.47830939, -1.28010035, -0.94975191, -1.79672301, -0.84239107,
                     0.32401460, 1.70249438, 2.23221850, 1.49775982, 0.67689437, -0.23037830})));
  EXPECT_TRUE(norm->running_mean.allclose(torch::tensor({2.3375, 4.2375, 6.9375})));
  norm->reset_running_stats();
  EXPECT_TRUE(norm->running_mean.equal(torch::zeros({3})));
  EXPECT_TRUE(norm->running_var.equal(torch::ones({3})));
  EXPECT_EQ(norm->named_buffers().size(), 3);
}

}  // namespace
