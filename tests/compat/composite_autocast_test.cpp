#include <halfgrad/compat/torch.h>

#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

// The dtypes of functions that libtorch's autocast lists name, for inputs of each dtype. The
// expected ones are those of the lists for CUDA (aten/src/ATen/autocast_mode.h).
namespace halfgrad {
namespace {

namespace F = torch::nn::functional;

Tensor values(DType dtype, const Shape& sizes) {
  return (torch::arange(numel(sizes), {.dtype = kFloat}).view(sizes) * 0.1 - 0.15).to(dtype);
}

/// A function of x `[2, 3]`.
using Function = std::function<Tensor(const Tensor& x)>;

struct Dtypes {
  Function f;
  DType of_half, of_float;
};

const std::map<std::string, Dtypes> kFunctions = {
    {"prelu", {[](const Tensor& x) { return torch::prelu(x, ones({3})); }, kHalf, kHalf}},
    {"bilinear",
     {[](const Tensor& x) {
        return torch::bilinear(x, x, values(x.dtype(), {4, 3, 3}), ones({4}));
      },
      kHalf, kFloat}},
    {"bilinear of two dtypes",
     {[](const Tensor& x) {
        return torch::bilinear(x, x.to(kFloat), values(kHalf, {4, 3, 3}));
      },
      kFloat, kFloat}},
    {"celu", {[](const Tensor& x) { return torch::celu(x); }, kHalf, kFloat}},
    {"mish", {[](const Tensor& x) { return torch::mish(x); }, kHalf, kFloat}},
    {"log_sigmoid", {[](const Tensor& x) { return torch::log_sigmoid(x); }, kHalf, kFloat}},
    {"cosine_similarity",
     {[](const Tensor& x) { return F::cosine_similarity(x, x); }, kFloat, kFloat}},
    {"pairwise_distance",
     {[](const Tensor& x) { return F::pairwise_distance(x, x); }, kFloat, kFloat}},
    {"index_put of two dtypes",
     {[](const Tensor& x) {
        return torch::index_put(x, {torch::tensor({1})}, values(kFloat, {1, 3}));
      },
      kFloat, kFloat}},
    {"index_put of one dtype",
     {[](const Tensor& x) {
        return torch::index_put(x, {torch::tensor({1})}, values(x.dtype(), {1, 3}));
      },
      kHalf, kFloat}},
    {"hinge_embedding_loss",
     {[](const Tensor& x) {
        return F::hinge_embedding_loss(x, ones({2, 3}));
      },
      kFloat, kFloat}},
    {"margin_ranking_loss",
     {[](const Tensor& x) {
        return F::margin_ranking_loss(x, x, ones({2, 3}).to(x.dtype()));
      },
      kFloat, kFloat}},
    {"cosine_embedding_loss",
     {[](const Tensor& x) { return F::cosine_embedding_loss(x, x, ones({2})); }, kFloat, kFloat}},
    {"triplet_margin_loss",
     {[](const Tensor& x) { return F::triplet_margin_loss(x, x * 2, x); }, kFloat, kFloat}},
    {"soft_margin_loss",
     {[](const Tensor& x) { return F::soft_margin_loss(x, x); }, kFloat, kFloat}},
    {"multi_margin_loss",
     {[](const Tensor& x) {
        return F::multi_margin_loss(x, torch::tensor({0, 2}));
      },
      kFloat, kFloat}},
    {"multilabel_margin_loss",
     {[](const Tensor& x) {
        return F::multilabel_margin_loss(x, zeros({2, 3}).to(kLong));
      },
      kFloat, kFloat}},
    {"poisson_nll_loss",
     {[](const Tensor& x) { return F::poisson_nll_loss(x, x); }, kFloat, kFloat}},
};

TEST(CompositeAutocast, GivesTheDtypesOfPyTorchsLists) {
  for (const auto& [name, expected] : kFunctions) {
    const amp::Autocast region(kCPU, kHalf);
    EXPECT_EQ(expected.f(values(kHalf, {2, 3})).dtype(), expected.of_half) << name;
    EXPECT_EQ(expected.f(values(kFloat, {2, 3})).dtype(), expected.of_float) << name;
  }
}

// A loss of 16-bit inputs is computed in float32 from the beginning: 1 + 2^-12 is no float16.
TEST(CompositeAutocast, ConvertsTheInputsOfALossFirst) {
  const Tensor x = torch::tensor({0x1p-12}).to(kHalf), y = torch::tensor({1.0}).to(kHalf);
  const amp::Autocast region(kCPU, kHalf);
  EXPECT_EQ(F::margin_ranking_loss(x, y, torch::tensor({1.0})).item<float>(), 1 - 0x1p-12f);
}

TEST(CompositeAutocast, RoundsAnActivationOnce) {
  const Tensor x = values(kHalf, {100});
  EXPECT_TRUE(torch::mish(x).equal(torch::mish(x.to(kFloat)).to(kHalf)));
  EXPECT_TRUE(torch::celu(x).equal(torch::celu(x.to(kFloat)).to(kHalf)));
  EXPECT_TRUE(torch::log_sigmoid(x).equal(torch::log_sigmoid(x.to(kFloat)).to(kHalf)));
}

}  // namespace
}  // namespace halfgrad
