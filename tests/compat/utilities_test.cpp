#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>

// The small things of torch, at and c10: compat/utilities.h.
namespace {

namespace torch = halfgrad;
namespace c10 = halfgrad;
namespace nn = torch::nn;

TEST(Utilities, IrangeCountsUpToItsEnd) {
  std::vector<std::int64_t> seen;
  for (const auto i : c10::irange(std::int64_t{3})) seen.push_back(i);
  for (const auto i : c10::irange(5, std::int64_t{7})) seen.push_back(i);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 5, 6}));
  for ([[maybe_unused]] const auto i : c10::irange(-2)) FAIL() << "a negative end is no range";
  for ([[maybe_unused]] const auto i : c10::irange(4, 4)) FAIL() << "an empty range";
}

TEST(Utilities, StrPrintsAllParts) {
  EXPECT_EQ(c10::str(), "");
  EXPECT_EQ(c10::str("n = ", 3, ", x = ", 0.5), "n = 3, x = 0.5");
  EXPECT_EQ(c10::Join("-", std::vector<int>{1, 2, 3}), "1-2-3");
  EXPECT_EQ(c10::Join("-", std::vector<int>{}), "");
}

TEST(Utilities, CheckThrowsWithItsText) {
  EXPECT_NO_THROW(TORCH_CHECK(true, "never seen"));
  try {
    TORCH_CHECK(1 > 2, "got ", 5);
    FAIL() << "expected an exception";
  } catch (const c10::Error& error) {
    EXPECT_EQ(std::string(error.what()), "got 5");
  }
  EXPECT_THROW(TORCH_CHECK(false), std::runtime_error);
}

TEST(Utilities, ErrorCatchesWhatHalfgradThrows) {
  EXPECT_THROW(torch::ones({2}).view({3}), c10::Error);
  EXPECT_THROW(torch::ones({2}).select(0, 5), c10::Error);
}

struct Inner : nn::Module {
  Inner() : nn::Module("Inner") {
    register_module("fc", nn::Linear(3, 4));
    register_module("table", nn::Embedding(nn::EmbeddingOptions(5, 2).padding_idx(1)));
    register_module("act", nn::ReLU(nn::ReLUOptions().inplace(true)));
  }
};
struct Empty : nn::Module {
  Empty() : nn::Module("Empty") {}
};

TEST(Utilities, StrPrintsModulesAsLibtorchDoes) {
  EXPECT_EQ(c10::str(nn::Linear(3, 4)),
            "torch::nn::Linear(in_features=3, out_features=4, bias=true)");
  EXPECT_EQ(c10::str(Empty()), "Empty");
  EXPECT_EQ(c10::str(Inner()),
            "Inner(\n"
            "  (fc): torch::nn::Linear(in_features=3, out_features=4, bias=true)\n"
            "  (table): torch::nn::Embedding(num_embeddings=5, embedding_dim=2, padding_idx=1)\n"
            "  (act): torch::nn::ReLU(inplace=true)\n"
            ")");
}

TEST(Utilities, LayersPrintTheirOptions) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {c10::str(nn::Dropout(0.25)), "Dropout(p=0.25, inplace=false)"},
      {c10::str(nn::AlphaDropout(0.25)), "AlphaDropout(p=0.25, inplace=false)"},
      {c10::str(nn::ReLU6()), "ReLU6()"},
      {c10::str(nn::SELU(true)), "SELU(inplace=true)"},
      {c10::str(nn::CELU(nn::CELUOptions().alpha(2))), "CELU(alpha=2)"},
      {c10::str(nn::ELU(nn::ELUOptions().inplace(true))), "ELU(alpha=1, inplace=true)"},
      {c10::str(nn::LeakyReLU(nn::LeakyReLUOptions().inplace(true))),
       "LeakyReLU(negative_slope=0.01, inplace=true)"},
      {c10::str(nn::GLU(1)), "GLU(dim=1)"},
      {c10::str(nn::Softmin(0)), "Softmin(dim=0)"},
      {c10::str(nn::Hardtanh()), "Hardtanh(min_val=-1, max_val=1)"},
      {c10::str(nn::Hardshrink(0.75)), "Hardshrink(0.75)"},
      {c10::str(nn::Softshrink()), "Softshrink(0.5)"},
      {c10::str(nn::Threshold(1, 2)), "Threshold(threshold=1, value=2)"},
      {c10::str(nn::RReLU()), "RReLU(lower=0.125, upper=0.333333)"},
      {c10::str(nn::CosineSimilarity()), "CosineSimilarity(dim=1, eps=1e-08)"},
      {c10::str(nn::PairwiseDistance()), "PairwiseDistance(p=2, eps=1e-06, keepdim=false)"},
      {c10::str(nn::Unflatten(1, {2, 3})), "Unflatten(dim=1, unflattened_size={2, 3})"},
      {c10::str(nn::HingeEmbeddingLoss(nn::HingeEmbeddingLossOptions().margin(2))),
       "HingeEmbeddingLoss(margin=2)"},
      {c10::str(nn::CosineEmbeddingLoss()), "CosineEmbeddingLoss(margin=0)"},
      {c10::str(nn::TripletMarginLoss()),
       "TripletMarginLoss(margin=1, p=2, eps=1e-06, swap=false)"},
      {c10::str(nn::TripletMarginWithDistanceLoss()),
       "TripletMarginWithDistanceLoss(margin=1, swap=false)"},
      {c10::str(nn::SoftMarginLoss()), "SoftMarginLoss()"},
  };
  for (const auto& [printed, expected] : texts) EXPECT_EQ(printed, "torch::nn::" + expected);
}

TEST(Utilities, TempFilesEndWithTheirScope) {
  std::string name;
  {
    const auto first = c10::make_tempfile("halfgrad-"), second = c10::make_tempfile("halfgrad-");
    EXPECT_NE(first.name, second.name);
    name = first.name;
    EXPECT_NE(name.find("halfgrad-"), std::string::npos);
    torch::save(torch::ones({2}), name);
    torch::Tensor loaded;
    torch::load(loaded, name);
    EXPECT_EQ(loaded.sum().item<int>(), 2);
  }
  EXPECT_FALSE(std::filesystem::exists(name));
  EXPECT_THROW(c10::make_tempfile("no/such/folder/"), std::runtime_error);
}

TEST(Utilities, DefaultDTypeHasLibtorchsNames) {
  EXPECT_EQ(torch::typeMetaToScalarType(torch::get_default_dtype()), torch::kFloat);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  const torch::Dtype of_layer = nn::Linear(2, 3)->weight.scalar_type();
  const torch::Dtype of_tensor = torch::ones({2}).scalar_type();
  torch::set_default_dtype(torch::kFloat);
  EXPECT_EQ(of_layer, torch::kDouble);
  EXPECT_EQ(of_tensor, torch::kDouble);
}

TEST(Utilities, TensorsHaveLibtorchsOtherMethods) {
  const torch::Tensor x = torch::ones({2});
  EXPECT_EQ(x.data_ptr(), x.data_ptr<float>());
  EXPECT_EQ(x.get_device(), -1);
  EXPECT_TRUE(x.is_signed());
  EXPECT_TRUE(torch::ones({2}, torch::kInt).is_signed());
  EXPECT_FALSE(torch::ones({2}, torch::kByte).is_signed());
  EXPECT_FALSE(torch::ones({2}, torch::kBool).is_signed());
  EXPECT_EQ(x.toType(torch::kHalf).dtype(), torch::kHalf);
  EXPECT_EQ(torch::tensor({{{1, 2}}, {{3, 4}}}, torch::kFloat).sizes(), (torch::Shape{2, 1, 2}));
}

TEST(Utilities, PdistIsTheDistanceOfAllPairs) {
  namespace F = torch::nn::functional;
  const torch::Tensor x =
      torch::tensor({{0.0, 0.0}, {3.0, 4.0}, {0.0, 1.0}}, torch::dtype(torch::kDouble))
          .requires_grad_();
  const torch::Tensor distances = F::pdist(x);
  EXPECT_TRUE(torch::allclose(
      distances, torch::tensor({5.0, 1.0, std::sqrt(18.0)}, torch::dtype(torch::kDouble))));
  EXPECT_TRUE(torch::allclose(F::pdist(x, 1).detach(),
                              torch::tensor({7.0, 1.0, 6.0}, torch::dtype(torch::kDouble))));
  distances.sum().backward();
  EXPECT_NEAR(x.grad()[0][0].item(), -0.6, 1e-12);
  EXPECT_NEAR(x.grad()[0][1].item(), -0.8 - 1, 1e-12);
  EXPECT_EQ(F::pdist(torch::ones({1, 2})).sizes(), torch::Shape{0});
  EXPECT_THROW(F::pdist(torch::ones({3})), std::invalid_argument);
}

TEST(Utilities, EmbeddingTakesAllArgumentsOfLibtorch) {
  const torch::Tensor table = torch::ones({3, 2}).requires_grad_();
  const torch::Tensor indices = torch::tensor({0, 2});
  torch::embedding(table, indices, -1, false, false).sum().backward();
  EXPECT_TRUE(torch::equal(table.grad(), torch::tensor({{1.0, 1.0}, {0.0, 0.0}, {1.0, 1.0}})));
  table.set_grad({});
  torch::embedding(table, indices, 2, false).sum().backward();
  EXPECT_TRUE(torch::equal(table.grad(), torch::tensor({{1.0, 1.0}, {0.0, 0.0}, {0.0, 0.0}})));
  table.set_grad({});
  torch::embedding(table, torch::tensor({0, 2, 2}), -1, true).sum().backward();  // 2 counts half
  EXPECT_TRUE(torch::equal(table.grad(), torch::tensor({{1.0, 1.0}, {0.0, 0.0}, {1.0, 1.0}})));
  EXPECT_THROW(torch::embedding(table, indices, -1, false, true), std::invalid_argument);
}

TEST(Utilities, HardtanhRefusesAnEmptyInterval) {
  const torch::Tensor x = torch::ones({2});
  EXPECT_THROW(torch::hardtanh(x, 1, -1), std::invalid_argument);
  EXPECT_THROW(nn::Hardtanh(nn::HardtanhOptions().min_val(2))(x), std::invalid_argument);
  EXPECT_EQ(torch::hardtanh(x, 0.5, 0.5).sum().item<float>(), 1.0f);
}

TEST(Utilities, FromPretrainedTakesBuilders) {
  const auto options = nn::EmbeddingFromPretrainedOptions().freeze(false);
  nn::Embedding table = nn::Embedding::from_pretrained(torch::ones({3, 2}), options);
  EXPECT_TRUE(table->weight.requires_grad());
}

}  // namespace
