#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>

// Spellings of libtorch for what halfgrad has by other names.
namespace {

namespace torch = halfgrad;
namespace nn = torch::nn;

using Doubles = std::vector<double>;

std::int64_t first_of(torch::OptionalIntArrayRef values) { return values ? (*values)[0] : -1; }

TEST(Spellings, OptionalArraysDevicesAndViews) {
  EXPECT_EQ(first_of(300), 300);
  EXPECT_EQ(first_of(torch::IntArrayRef{4, 5}), 4);
  EXPECT_EQ(first_of(std::nullopt), -1);
  EXPECT_EQ(torch::TensorOptions("cuda:1").device(), torch::Device(torch::Device::Type::CUDA, 1));
  EXPECT_THROW(torch::TensorOptions("gpu"), std::invalid_argument);
  const torch::Tensor x = torch::ones({2, 3}).t(), view = x.alias();
  view.mul_(2);
  EXPECT_EQ(x.sum().item<float>(), 12);
  EXPECT_EQ(torch::str(nn::Dropout3d(0.25)), "torch::nn::Dropout3d(p=0.25, inplace=false)");
}

TEST(Spellings, AnomalyModeMayLeaveOutTheCheck) {
  const torch::Tensor x = torch::zeros({1}, torch::requires_grad());
  const torch::autograd::DetectAnomalyGuard outer;
  const torch::autograd::DetectAnomalyGuard inner(/*check_nan=*/false);
  EXPECT_NO_THROW((x / x).backward());
}

TEST(Spellings, ErrorsOfModulesAndFilesAreErrors) {
  const nn::Sequential model(nn::Linear(3, 2));
  try {
    model(torch::ones({2, 4}));
    FAIL() << "expected an exception";
  } catch (const torch::Error& error) {
    EXPECT_TRUE(std::string(error.what_without_backtrace()).starts_with("Sequential.0 (Linear): "))
        << error.what();
  }
  EXPECT_THROW(model(torch::ones({2, 4})), std::invalid_argument);
  torch::Tensor loaded;
  EXPECT_THROW(torch::load(loaded, "/no/such/file.pt"), torch::Error);
  EXPECT_THROW(TORCH_CHECK(false, "bad"), torch::Error);
  EXPECT_THROW(torch::ones({2}).backward(), torch::Error);
  bool is_caught = true;
  try {
    throw std::runtime_error("the program's own");
  } catch (const torch::Error&) {
  } catch (const std::exception&) {
    is_caught = false;
  }
  EXPECT_FALSE(is_caught);
}

TEST(Spellings, ItemIsAScalar) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // no double
  const torch::Scalar integer = torch::full({}, large, torch::kLong).item();
  EXPECT_EQ(integer.toLong(), large);
  EXPECT_TRUE(integer.isIntegral(false));
  EXPECT_FALSE(integer.isFloatingPoint());
  EXPECT_THROW(integer.toInt(), std::invalid_argument);
  EXPECT_EQ(torch::tensor(2.75).item().toFloat(), 2.75F);
  EXPECT_EQ(torch::tensor(2.75).item().to<int>(), 2);
  EXPECT_EQ(torch::tensor(2.75).item().toDouble(), 2.75);
  EXPECT_TRUE(torch::tensor(2.75).item().isFloatingPoint());
  EXPECT_TRUE(torch::tensor(true).item().isBoolean());
  EXPECT_TRUE(torch::tensor(true).item().isIntegral(true));
  EXPECT_TRUE(torch::tensor(true).item().toBool());
  EXPECT_THROW(torch::ones({2}).item(), std::invalid_argument);
}

TEST(Spellings, ItemConvertsToDouble) {
  const torch::Tensor x = torch::tensor(2.5), n = torch::tensor(7);
  const double value = x.item();
  EXPECT_EQ(value, 2.5);
  EXPECT_EQ(x.item() * 2 + 1, 6);
  EXPECT_EQ(std::sqrt(n.item() + 2), 3);
  EXPECT_TRUE(n.item() == 7);
  EXPECT_EQ((torch::ones({2}, torch::kLong) * n.item()).dtype(), torch::kLong);
  static_assert(!std::is_trivially_copyable_v<decltype(x.item())>);  // refused by printf
}

TEST(Spellings, MutableGradIsAssigned) {
  const torch::Tensor x = torch::ones({2}, torch::requires_grad());
  EXPECT_FALSE(x.mutable_grad().defined());
  x.mutable_grad() = torch::full({2}, 3.0);
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{3, 3}));
  const torch::Tensor grad = x.mutable_grad();
  EXPECT_TRUE(grad.is_same(x.grad()));
  EXPECT_THROW(x.mutable_grad() = torch::ones({3}), std::invalid_argument);
  x.mutable_grad() = torch::Tensor();
  EXPECT_FALSE(x.grad().defined());
  x.mutable_grad() = torch::ones({2});
  x.mutable_grad().reset();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Spellings, FromBlobFreesItsMemory) {
  double values[] = {1, 2, 3, 4};
  void* freed = nullptr;
  {
    const auto free = [&freed](void* data) { freed = data; };
    const torch::Tensor x = torch::from_blob(values, {2, 2}, {1, 2}, free, torch::kDouble)[1];
    EXPECT_EQ(x.to_vector<double>(), (Doubles{2, 4}));
    EXPECT_EQ(freed, nullptr);
  }
  EXPECT_EQ(freed, values);
  freed = nullptr;
  static_cast<void>(torch::from_blob(
      values, 4, [&](void* data) { freed = data; }, torch::kDouble));
  EXPECT_EQ(freed, values);
}

TEST(Spellings, ExpandingArrayRepeatsOneValue) {
  EXPECT_EQ(*torch::ExpandingArray<3>(5), (std::array<std::int64_t, 3>{5, 5, 5}));
  EXPECT_EQ(*torch::ExpandingArray<2>({1, 2}), (std::array<std::int64_t, 2>{1, 2}));
  EXPECT_EQ(torch::ExpandingArray<2>(std::vector<std::int64_t>{1, 2})->at(1), 2);
  EXPECT_THROW(torch::ExpandingArray<2> wrong({1, 2, 3}), std::invalid_argument);
}

TEST(Spellings, LayoutIsAlwaysStrided) {
  EXPECT_EQ(torch::ones({2}).layout(), torch::kStrided);
  EXPECT_EQ(torch::TensorOptions().layout(torch::kStrided).dtype(torch::kHalf).layout(),
            torch::kStrided);
}

TEST(Spellings, ListsNestToAnyDepth) {
  const torch::Tensor deep = torch::tensor({{{{1, 2}}, {{3, 4}}}});
  EXPECT_EQ(deep.sizes(), (torch::Shape{1, 2, 1, 2}));
  EXPECT_EQ(deep.dtype(), torch::kLong);
  EXPECT_EQ(deep.to_vector<double>(), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(torch::tensor({{{{1.5}}}}).dtype(), torch::kFloat32);
  EXPECT_EQ(torch::tensor({{{{true}}}}).dtype(), torch::kBool);
  EXPECT_EQ(torch::tensor({{{{1}}}}, torch::kHalf).dtype(), torch::kHalf);
  EXPECT_EQ(torch::tensor({}).sizes(), torch::Shape{0});
  EXPECT_EQ(torch::tensor({}, torch::kLong).dtype(), torch::kLong);
  EXPECT_EQ(torch::tensor({{}, {}}).sizes(), (torch::Shape{2, 0}));
  EXPECT_TRUE(torch::tensor({{{{1.5}}}}, torch::requires_grad()).requires_grad());
  EXPECT_THROW(torch::tensor({{{{1, 2}}, {{3}}}}), std::invalid_argument);
  EXPECT_THROW(torch::tensor({{{{1, 2.5}}}}), std::invalid_argument);
  EXPECT_THROW(torch::tensor({1, 2.5}), std::invalid_argument);  // in libtorch, too
}

TEST(Spellings, GroupsTellAndTakeTheirRate) {
  const torch::Tensor w = torch::ones({1}, torch::requires_grad());
  torch::optim::SGD optimizer({w}, torch::optim::SGDOptions(0.5));
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.5);
  optimizer.param_groups()[0].options().set_lr(0.25);
  EXPECT_EQ(optimizer.param_groups()[0].lr, 0.25);
  w.sum().backward();
  optimizer.step();
  EXPECT_EQ(w.item(), 0.75);
  torch::optim::StepLR schedule(optimizer, 1, 0.5);
  schedule.step();  // decays in the second call, as libtorch's does
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.25);
  schedule.step();
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.125);
}

TEST(Spellings, AutogradHasItsFormerNames) {
  const torch::Tensor x = torch::ones({2}, torch::requires_grad()) * 2;
  const torch::Tensor variable = torch::autograd::make_variable(x, true);
  EXPECT_TRUE(variable.is_leaf() && variable.requires_grad());
  EXPECT_FALSE(torch::autograd::make_variable(x).requires_grad());
  const torch::autograd::InferenceMode guard;
  EXPECT_TRUE(torch::InferenceMode::is_enabled());
}

TEST(Spellings, ContainersAreMadeFromPointers) {
  const nn::Sequential layers(nn::Linear(3, 2), nn::ReLU());
  const nn::Sequential copy = std::dynamic_pointer_cast<nn::SequentialImpl>(layers.clone());
  EXPECT_EQ(copy.size(), 2);
  EXPECT_FALSE(copy.is_same(layers));
  const nn::Sequential same = std::make_shared<nn::Sequential>(layers);
  EXPECT_TRUE(same.is_same(layers));
  const nn::Sequential none = std::shared_ptr<nn::Sequential>();
  EXPECT_TRUE(none.Callable::is_empty());
  const nn::ModuleList list(nn::Linear(3, 2));
  const nn::ModuleList list_copy = std::dynamic_pointer_cast<nn::ModuleListImpl>(list.clone());
  EXPECT_EQ(list_copy.size(), 1);
  const nn::ModuleDict dict = std::make_shared<nn::ModuleDict>();
  EXPECT_EQ(dict.size(), 0);
}

TEST(Spellings, TransformersTakeBuilders) {
  nn::TransformerEncoderLayer layer(
      nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(8).dropout(0).activation(
          torch::kGELU));
  EXPECT_EQ(layer->linear1->weight.sizes(), (torch::Shape{8, 4}));
  const torch::Tensor x = torch::randn({3, 2, 4});
  const torch::Tensor by_name = layer(x);
  layer->options.activation([](const torch::Tensor& t) { return torch::gelu(t); });
  EXPECT_TRUE(torch::equal(by_name, layer(x)));
  layer->options.activation(torch::kReLU);
  EXPECT_FALSE(torch::equal(by_name, layer(x)));

  const auto layer_options = nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(8).dropout(0);
  const nn::LayerNorm norm(nn::LayerNormOptions({4}));
  const nn::TransformerDecoder decoder(
      nn::TransformerDecoderOptions(layer_options, 2).norm(nn::AnyModule(norm)));
  EXPECT_EQ(decoder->layers.size(), 2);
  EXPECT_TRUE(decoder->norm.is_same(norm));
  const nn::Transformer model(nn::TransformerOptions(4, 2, 1, 1)
                                  .dropout(0)
                                  .dim_feedforward(8)
                                  .custom_decoder(nn::AnyModule(decoder)));
  EXPECT_TRUE(model->decoder.is_same(decoder));
  EXPECT_EQ(model(x, torch::randn({5, 2, 4})).sizes(), (torch::Shape{5, 2, 4}));
  const auto wrong = nn::TransformerOptions(4, 2).custom_encoder(nn::AnyModule(norm));
  EXPECT_THROW(const nn::Transformer none(wrong), std::invalid_argument);
}

TEST(Spellings, StrPrintsModulesOfATransformer) {
  nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 8});
  EXPECT_EQ(torch::str(nn::TransformerEncoder(layer, 1, nn::LayerNorm({4}))),
            "torch::nn::TransformerEncoderImpl(\n"
            "  (layers): torch::nn::ModuleList(\n"
            "    (0): torch::nn::TransformerEncoderLayerImpl(\n"
            "      (self_attn): torch::nn::MultiheadAttention(\n"
            "        (out_proj): torch::nn::Linear(in_features=4, out_features=4, bias=true)\n"
            "      )\n"
            "      (linear1): torch::nn::Linear(in_features=4, out_features=8, bias=true)\n"
            "      (dropout): torch::nn::Dropout(p=0.1, inplace=false)\n"
            "      (linear2): torch::nn::Linear(in_features=8, out_features=4, bias=true)\n"
            "      (norm1): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)\n"
            "      (norm2): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)\n"
            "      (dropout1): torch::nn::Dropout(p=0.1, inplace=false)\n"
            "      (dropout2): torch::nn::Dropout(p=0.1, inplace=false)\n"
            "    )\n"
            "  )\n"
            "  (norm): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)\n"
            ")");
}

TEST(Spellings, StrPrintsParametersAndNorms) {
  nn::ParameterDict dict;
  dict.insert("a", torch::ones({2, 1}));
  EXPECT_EQ(torch::str(dict),
            "torch::nn::ParameterDict(\n(a): Parameter containing: [Float of size [2, 1]]\n)");
  EXPECT_EQ(torch::str(nn::BatchNorm1d(nn::BatchNorm1dOptions(4).affine(false))),
            "torch::nn::BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=false, "
            "track_running_stats=true)");
}

}  // namespace
