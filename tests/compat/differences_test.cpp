#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/tests/folder.h>

// The second table of docs/libtorch.md, as far as no other test shows it.
namespace {

namespace torch = halfgrad;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

TEST(Differences, LayersAreHandles) {
  nn::Linear layer(2, 2);
  nn::Linear copy = layer;
  {
    const torch::NoGradGuard no_grad;
    copy->weight.fill_(1);
  }
  EXPECT_EQ(layer->weight.sum().item<int>(), 4) << "tensors are shared";
  copy->weight = torch::zeros({2, 2});
  EXPECT_EQ(layer->weight.sum().item<int>(), 4) << "members are not";
  EXPECT_EQ(copy->parameters()[0].sum().item<int>(), 4) << "nor is the registered parameter";
}

TEST(Differences, ExceptionsAreStandard) {
  EXPECT_THROW(nn::Linear(3, 2)(torch::ones({1, 4})), std::invalid_argument);
  EXPECT_THROW(torch::ones(2).select(0, 5), std::out_of_range);
}

TEST(Differences, ModulesListsAHandleOfAnObjectOnTheStack) {
  struct Net : nn::Module {
    Net() { register_module("fc", nn::Linear(2, 2)); }
  } net;
  EXPECT_EQ(net.modules().size(), 2);
  EXPECT_TRUE(net.modules()[0]->is_same(net));
}

TEST(Differences, SoftplusIsExactUnlessOptionsCutItOff) {
  const torch::Tensor x = torch::tensor(21.0, torch::kDouble);
  EXPECT_NE(torch::softplus(x).item<double>(), 21.0);
  EXPECT_EQ(F::softplus(x, F::SoftplusFuncOptions()).item<double>(), 21.0);
  const nn::Softplus layer = nn::SoftplusOptions();
  EXPECT_EQ(layer(x).item<double>(), 21.0);
}

TEST(Differences, EmbeddingTakesBothOrders) {
  const torch::Tensor table = torch::randn({3, 2}), indices = torch::tensor({2, 0});
  EXPECT_TRUE(F::embedding(indices, table).equal(F::embedding(table, indices)));
}

TEST(Differences, LayersPrintAsInPython) {
  std::ostringstream out;
  out << nn::Linear(3, 4);
  EXPECT_EQ(out.str(), "Linear(in_features=3, out_features=4, bias=true)");
}

TEST(Differences, StrPrintsLayersAsLibtorchDoes) {
  EXPECT_EQ(torch::str(nn::Linear(3, 4)),
            "torch::nn::Linear(in_features=3, out_features=4, bias=true)");
}

TEST(Differences, ItemConvertsToDouble) {
  static_assert(std::is_convertible_v<decltype(torch::ones({}).item()), torch::Scalar>);
  static_assert(std::is_convertible_v<decltype(torch::ones({}).item()), double>);
}

// x.item() has another type in a program for libtorch, so an inline function of a header that
// called it would be compiled in two ways.
TEST(Differences, NoHeaderTakesAnItemWithoutItsType) {
  namespace fs = std::filesystem;
  const fs::path root = HALFGRAD_SOURCE_DIR;
  std::string found;
  for (const char* folder : {"autograd", "nn", "optim", "amp", "async", "io", "data", "compat"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) {
        const bool is_array = line.find("found_inf_.item()") != std::string::npos;
        const std::size_t at = line.find(".item()");
        if (at != std::string::npos && !is_array && line.find("//") > at) {
          found += entry.path().string() + ": " + line + "\n";
        }
      }
    }
  }
  EXPECT_EQ(found, "");
}

TEST(Differences, ViewsOfNoGradModeRequireNone) {
  const torch::NoGradGuard no_grad;
  EXPECT_FALSE(torch::ones({2}).requires_grad_().view({1, 2}).requires_grad());
}

TEST(Differences, FilesAreSafetensors) {
  const halfgrad::tests::Folder folder;
  torch::save(nn::Linear(3, 4), (folder / "layer.pt").string());
  const auto file = torch::io::load_safetensors(folder / "layer.pt");
  EXPECT_EQ(file.tensors.at("weight").sizes(), (torch::Shape{4, 3}));
}

TEST(Differences, LiteralsAreFloat32AndInt64) {
  EXPECT_EQ(torch::tensor({1, 2}).dtype(), torch::kLong);
  EXPECT_EQ(torch::tensor({1.5}).dtype(), torch::kFloat);
}

}  // namespace
