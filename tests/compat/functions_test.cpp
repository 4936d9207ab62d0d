#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/tests/json.h>

// The functions of compat/ against values and gradients of PyTorch (tests/expected/compat.py).
namespace {

namespace torch = halfgrad;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;
using Inputs = std::vector<Tensor>;
using halfgrad::tests::Json;

Tensor of_indices(const char* indices) {
  return std::string(indices) == "bags" ? torch::tensor({{1, 2, 1}, {4, 0, 3}})
                                        : torch::tensor({1, 2, 4, 4, 0, 3});
}
F::EmbeddingBagFuncOptions with_offsets() {
  return F::EmbeddingBagFuncOptions().offsets(torch::tensor({0, 2, 2, 5}));
}

const std::map<std::string, std::function<Tensor(const Inputs&)>> kFunctions = {
    {"selu", [](const Inputs& x) { return F::selu(x[0]); }},
    {"celu", [](const Inputs& x) { return F::celu(x[0], F::CELUFuncOptions().alpha(0.7)); }},
    {"hardtanh",
     [](const Inputs& x) {
       return F::hardtanh(x[0], F::HardtanhFuncOptions().min_val(-0.5).max_val(2));
     }},
    {"relu6", [](const Inputs& x) { return F::relu6(x[0]); }},
    {"hardshrink", [](const Inputs& x) { return F::hardshrink(x[0], 0.8); }},
    {"hardsigmoid", [](const Inputs& x) { return torch::hardsigmoid(x[0]); }},
    {"hardswish", [](const Inputs& x) { return torch::hardswish(x[0]); }},
    {"tanhshrink", [](const Inputs& x) { return F::tanhshrink(x[0]); }},
    {"softsign", [](const Inputs& x) { return F::softsign(x[0]); }},
    {"log_sigmoid", [](const Inputs& x) { return F::logsigmoid(x[0]); }},
    {"mish", [](const Inputs& x) { return F::mish(x[0]); }},
    {"threshold",
     [](const Inputs& x) { return F::threshold(x[0], F::ThresholdFuncOptions(0.3, 20)); }},
    {"prelu", [](const Inputs& x) { return F::prelu(x[0], x[1]); }},
    {"rrelu", [](const Inputs& x) { return F::rrelu(x[0]); }},
    {"glu", [](const Inputs& x) { return F::glu(x[0], 1); }},
    {"softmin", [](const Inputs& x) { return F::softmin(x[0], 1); }},
    {"normalize",
     [](const Inputs& x) { return F::normalize(x[0], F::NormalizeFuncOptions().p(3).dim(1)); }},
    {"cosine_similarity", [](const Inputs& x) { return F::cosine_similarity(x[0], x[1]); }},
    {"pairwise_distance",
     [](const Inputs& x) {
       return F::pairwise_distance(x[0], x[1], F::PairwiseDistanceFuncOptions().p(1));
     }},
    {"bilinear", [](const Inputs& x) { return F::bilinear(x[0], x[1], x[2], x[3]); }},
    {"group_norm",
     [](const Inputs& x) {
       return F::group_norm(x[0], F::GroupNormFuncOptions(2).weight(x[1]).bias(x[2]));
     }},
    {"hinge_embedding_loss",
     [](const Inputs& x) {
       return F::hinge_embedding_loss(x[0], x[1], F::HingeEmbeddingLossFuncOptions().margin(1.5));
     }},
    {"margin_ranking_loss",
     [](const Inputs& x) {
       return F::margin_ranking_loss(x[0], x[1], x[2],
                                     F::MarginRankingLossFuncOptions().margin(0.4));
     }},
    {"cosine_embedding_loss",
     [](const Inputs& x) {
       return F::cosine_embedding_loss(
           x[0], x[1], x[2],
           F::CosineEmbeddingLossFuncOptions().margin(-0.5).reduction(torch::kSum));
     }},
    {"triplet_margin_loss",
     [](const Inputs& x) {
       return F::triplet_margin_loss(
           x[0], x[1], x[2],
           F::TripletMarginLossFuncOptions().margin(2).swap(true).reduction(torch::kNone));
     }},
    {"triplet_margin_with_distance_loss",
     [](const Inputs& x) { return F::triplet_margin_with_distance_loss(x[0], x[1], x[2]); }},
    {"soft_margin_loss", [](const Inputs& x) { return F::soft_margin_loss(x[0], x[1]); }},
    {"multi_margin_loss",
     [](const Inputs& x) {
       return F::multi_margin_loss(x[0], x[1],
                                   F::MultiMarginLossFuncOptions().p(2).margin(0.7).weight(x[2]));
     }},
    {"multilabel_margin_loss",
     [](const Inputs& x) { return F::multilabel_margin_loss(x[0], x[1], torch::kNone); }},
    {"multilabel_soft_margin_loss",
     [](const Inputs& x) {
       return F::multilabel_soft_margin_loss(x[0], x[1],
                                             F::MultilabelSoftMarginLossFuncOptions().weight(x[2]));
     }},
    {"poisson_nll_loss",
     [](const Inputs& x) {
       return F::poisson_nll_loss(x[0], x[1], F::PoissonNLLLossFuncOptions().full(true));
     }},
    {"poisson_nll_loss of rates",
     [](const Inputs& x) {
       return F::poisson_nll_loss(x[0], x[1], F::PoissonNLLLossFuncOptions().log_input(false));
     }},
    {"kl_div",
     [](const Inputs& x) { return F::kl_div(x[0], x[1], F::KLDivFuncOptions(torch::kBatchMean)); }},
    {"embedding_bag of sums",
     [](const Inputs& x) {
       return F::embedding_bag(
           of_indices("bags"), x[0],
           F::EmbeddingBagFuncOptions().mode(torch::kSum).per_sample_weights(x[1]));
     }},
    {"embedding_bag of means",
     [](const Inputs& x) {
       return F::embedding_bag(of_indices("flat"), x[0], with_offsets().padding_idx(4));
     }},
    {"embedding_bag of maxima",
     [](const Inputs& x) {
       return F::embedding_bag(of_indices("flat"), x[0], with_offsets().mode(torch::kMax));
     }},
    {"cross", [](const Inputs& x) { return x[0].cross(x[1]); }},
};

Tensor tensor_of(const Json& values, const Json& shape, torch::DType dtype) {
  std::vector<std::int64_t> sizes;
  for (const Json& size : shape.items) sizes.push_back(static_cast<std::int64_t>(size.number));
  return torch::tensor(values.numbers(), torch::Shape(sizes), {.dtype = dtype});
}

TEST(CompatFunctions, HaveTheValuesAndGradientsOfPyTorch) {
  const Json file = halfgrad::tests::expected("compat.json");
  EXPECT_EQ(file["cases"].size(), kFunctions.size());
  for (const Json& row : file["cases"].items) {
    SCOPED_TRACE(row["name"].text);
    Inputs inputs;
    for (std::size_t i = 0; i < row["inputs"].size(); ++i) {
      const Json& input = row["inputs"][i];
      const bool integer = input["integer"].number != 0;
      inputs.push_back(
          tensor_of(input["values"], input["shape"], integer ? torch::kLong : torch::kDouble));
      if (row["gradients"][i].size() > 0) inputs.back().requires_grad_();
    }
    const Tensor output = kFunctions.at(row["name"].text)(inputs);
    const Tensor expected = tensor_of(row["output"], row["shape"], torch::kDouble);
    ASSERT_EQ(output.sizes(), expected.sizes());
    EXPECT_TRUE(torch::allclose(output, expected, 1e-12, 1e-12)) << output << expected;
    // PyTorch rounds the constants of these two gradients to float32.
    const bool rounded = row["name"].text == "celu" || row["name"].text == "hardsigmoid";
    const double tolerance = rounded ? 1e-7 : 1e-11;
    output.backward(tensor_of(row["cotangent"], row["shape"], torch::kDouble));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad()) continue;
      const Tensor gradient =
          tensor_of(row["gradients"][i], row["inputs"][i]["shape"], torch::kDouble);
      EXPECT_TRUE(torch::allclose(inputs[i].grad(), gradient, tolerance, 1e-12))
          << "input " << i << ": " << inputs[i].grad() << gradient;
    }
  }
}

TEST(OutFunctions, WriteIntoTheirArgument) {
  Tensor out = torch::zeros(1);
  const Tensor a = torch::ones({2, 2}), b = torch::full({2, 2}, 3.0);
  EXPECT_TRUE(torch::add_out(out, a, b, 2).equal(torch::full({2, 2}, 7.0)));
  EXPECT_EQ(out.sizes(), (torch::Shape{2, 2}));
  EXPECT_TRUE(torch::sub_out(out, a, b).equal(a - b) && torch::mul_out(out, a, b).equal(b));
  EXPECT_TRUE(torch::div_out(out, a, b).equal(a / b) && torch::mm_out(out, a, b).equal(a.mm(b)));
  EXPECT_TRUE(torch::matmul_out(out, a, b[0]).equal(a.matmul(b[0])));
  EXPECT_TRUE(torch::linear_out(out, a, b, b[0]).equal(torch::linear(a, b, b[0])));
  EXPECT_EQ(torch::cat_out(out, {a, b}).sizes(), (torch::Shape{4, 2}));
  Tensor trained = torch::ones(1, torch::requires_grad()), whole = torch::zeros(1, torch::kLong);
  EXPECT_THROW(torch::add_out(out, trained, a), std::invalid_argument);
  EXPECT_THROW(torch::add_out(whole, a, b), std::invalid_argument);
}

TEST(FromBlob, SeesTheCallersMemory) {
  std::vector<double> memory{1, 2, 3, 4, 5, 6};
  const Tensor x = torch::from_blob(memory.data(), {2, 3}, torch::kDouble);
  memory[5] = 9;
  EXPECT_EQ(x[1][2].item<double>(), 9);
  EXPECT_EQ(torch::from_blob(memory.data(), {3, 2}, {1, 3}, torch::kDouble)[2][1].item<double>(),
            9);
  EXPECT_EQ(torch::from_blob(memory.data(), 2).dtype(), torch::kFloat);
}

TEST(Parameters, BecomeAVectorAndBack) {
  torch::nn::Linear linear(2, 3);
  const Tensor vector = torch::nn::utils::parameters_to_vector(linear->parameters());
  EXPECT_EQ(vector.numel(), 9);
  torch::nn::utils::vector_to_parameters(torch::arange(9, torch::kFloat), linear->parameters());
  EXPECT_TRUE(linear->bias.equal(torch::tensor({6.0, 7.0, 8.0})));
  EXPECT_THROW(torch::nn::utils::vector_to_parameters(vector.slice(0, 1), linear->parameters()),
               std::invalid_argument);
}

TEST(Dropout, OfSelusOutputsKeepsMeanAndVariance) {
  torch::manual_seed(1);
  const Tensor x = torch::randn(100000);
  for (const double p : {0.1, 0.5}) {
    const Tensor y = torch::nn::AlphaDropout(p)(x);
    EXPECT_NEAR(y.mean().item(), 0, 0.02);
    EXPECT_NEAR(y.var().item(), 1, 0.03);
  }
  torch::nn::AlphaDropout off(0.5);
  off->eval();
  EXPECT_TRUE(off(x).equal(x));
  const Tensor channels = torch::nn::Dropout2d(0.5)(torch::ones({50, 20, 3}));
  const Tensor kept = channels.sum(2);
  EXPECT_TRUE(((kept == 0) | (kept == 6)).all().item<bool>()) << "whole channels, scaled by 2";
  EXPECT_NEAR((kept == 0).to(torch::kFloat).mean().item(), 0.5, 0.1);
  const Tensor dropped = torch::nn::FeatureAlphaDropout(0.5)(torch::randn({40, 20, 1}));
  EXPECT_EQ(dropped.sizes(), (torch::Shape{40, 20, 1}));
  EXPECT_THROW(torch::nn::Dropout2d(1.5), std::invalid_argument);
}

TEST(InPlace, OverwritesTheInput) {
  const Tensor x = torch::randn(10);
  const auto expect_in_place = [&](const auto& layer, const Tensor& expected) {
    const Tensor y = x.clone();
    EXPECT_TRUE(layer(y).equal(expected));
    EXPECT_TRUE(y.equal(expected)) << layer.name();
  };
  namespace nn = torch::nn;
  expect_in_place(nn::ReLU(nn::ReLUOptions(true)), torch::relu(x));
  expect_in_place(nn::ReLU6(true), torch::relu6(x));
  expect_in_place(nn::SELU(true), torch::selu(x));
  expect_in_place(nn::ELU(nn::ELUOptions().inplace(true)), torch::elu(x));
  expect_in_place(nn::LeakyReLU(nn::LeakyReLUOptions().inplace(true)), torch::leaky_relu(x));
  expect_in_place(nn::CELU(nn::CELUOptions().inplace(true)), torch::celu(x));
  expect_in_place(nn::Hardtanh(nn::HardtanhOptions().inplace(true)), torch::hardtanh(x));
  const Tensor leaf = torch::randn(3).requires_grad_();
  Tensor y = leaf * 1;
  nn::ELU(nn::ELUOptions().inplace(true))(y).sum().backward();
  const Tensor same = leaf.detach().clone().requires_grad_();
  torch::elu(same).sum().backward();
  EXPECT_TRUE(leaf.grad().equal(same.grad()));
}

TEST(Layers, ComputeTheirFunctions) {
  namespace nn = torch::nn;
  const Tensor x = torch::randn({4, 6});
  EXPECT_TRUE(nn::Functional(torch::relu)(x).equal(torch::relu(x)));
  EXPECT_TRUE(nn::Functional(torch::selu)(x).equal(torch::selu(x)));
  EXPECT_TRUE(nn::Softmin(1)(x).equal(torch::softmax(-x, 1)));
  EXPECT_TRUE(nn::GLU(1)(x).equal(torch::glu(x, 1)));
  EXPECT_TRUE(nn::Threshold(0.1, 20.0)(x).equal(torch::threshold(x, 0.1, 20)));
  EXPECT_TRUE(nn::Hardshrink(0.7)(x).equal(torch::hardshrink(x, 0.7)));
  EXPECT_TRUE(nn::Softshrink(0.7)(x).equal(torch::softshrink(x, 0.7)));
  EXPECT_TRUE(nn::LogSigmoid()(x).equal(torch::log_sigmoid(x)));
  EXPECT_TRUE(nn::Tanhshrink()(x).equal(torch::tanhshrink(x)));
  EXPECT_TRUE(nn::Mish()(x).equal(torch::mish(x)) && nn::Softsign()(x).equal(torch::softsign(x)));
  EXPECT_TRUE(nn::PReLU()(x).allclose(torch::leaky_relu(x, 0.25)));
  EXPECT_EQ(nn::Unflatten(1, {2, 3})(x).sizes(), (torch::Shape{4, 2, 3}));
  EXPECT_TRUE(nn::CosineSimilarity()(x, x).allclose(torch::ones(4)));
  EXPECT_EQ(nn::Bilinear(6, 6, 3)(x, x).sizes(), (torch::Shape{4, 3}));
  EXPECT_EQ(nn::GroupNorm(2, 6)(x).sizes(), x.sizes());
  EXPECT_EQ(nn::EmbeddingBag(5, 3)(torch::tensor({{1, 2}, {3, 4}})).sizes(), (torch::Shape{2, 3}));
  nn::RReLU rrelu;
  rrelu->eval();
  EXPECT_TRUE(rrelu(x).allclose(torch::leaky_relu(x, 11.0 / 48)));
  nn::MSELoss loss{nn::MSELossOptions(torch::kSum)};
  EXPECT_TRUE(loss->forward(x, x * 2).allclose((x * x).sum()));
  EXPECT_FALSE(nn::MarginRankingLoss(nn::MarginRankingLossOptions().margin(1)).is_empty());
}

TEST(CompatLayers, MultiheadAttentionTakesOptions) {
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2).bias(false).kdim(4));
  const torch::Tensor query = torch::rand({5, 3, 8}), key = torch::rand({6, 3, 4}),
                      value = torch::rand({6, 3, 8});
  const auto [output, weights] = attention->forward(query, key, value);
  EXPECT_EQ(output.sizes(), query.sizes());
  EXPECT_EQ(weights.sizes(), (torch::Shape{3, 5, 6}));
  EXPECT_FALSE(attention->in_proj_bias.defined());
  const nn::MultiheadAttention more(
      nn::MultiheadAttentionOptions(8, 2).add_bias_kv(true).add_zero_attn(true));
  EXPECT_EQ(std::get<1>(more->forward(value, value, value)).sizes(), (torch::Shape{3, 6, 8}));
}

TEST(CompatLayers, MultiheadAttentionIsItsFunction) {
  namespace F = torch::nn::functional;
  const nn::MultiheadAttention layer(nn::MultiheadAttentionOptions(8, 2).add_bias_kv(true));
  const torch::Tensor x = torch::rand({6, 3, 8}),
                      hidden = torch::triu(torch::ones({6, 6}, torch::kBool), 1);
  const auto [expected, expected_weights] = layer->forward(x, x, x, {}, true, hidden);
  const auto [output, weights] = F::multi_head_attention_forward(
      x, x, x,
      F::MultiheadAttentionForwardFuncOptions(8, 2, layer->in_proj_weight, layer->in_proj_bias,
                                              layer->bias_k, layer->bias_v, false, 0,
                                              layer->out_proj.weight, layer->out_proj.bias)
          .attn_mask(hidden));
  EXPECT_TRUE(torch::equal(output, expected));
  EXPECT_TRUE(torch::equal(weights, expected_weights));
}

}  // namespace
