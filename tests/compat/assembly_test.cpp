#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>

// compat/assembly.h and compat/init.h.
namespace {

namespace torch = halfgrad;
namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;

Tensor table(std::initializer_list<double> values, const torch::Shape& sizes) {
  return torch::tensor(std::vector<double>(values), torch::kFloat).view(sizes);
}

TEST(Assembly, VanderHasThePowersOfAVector) {
  const Tensor x = torch::tensor({1.0, 2.0, 3.0}, torch::requires_grad());
  EXPECT_TRUE(torch::vander(x).equal(table({1, 1, 1, 4, 2, 1, 9, 3, 1}, {3, 3})));
  EXPECT_TRUE(torch::vander(x, 2).equal(table({1, 1, 2, 1, 3, 1}, {3, 2})));
  EXPECT_TRUE(
      torch::vander(x, 4, true).equal(table({1, 1, 1, 1, 1, 2, 4, 8, 1, 3, 9, 27}, {3, 4})));
  EXPECT_EQ(torch::vander(x, 0).sizes(), (torch::Shape{3, 0}));
  EXPECT_EQ(torch::vander(torch::tensor({true, false})).dtype(), torch::kLong);
  EXPECT_EQ(torch::vander(x.to(torch::kHalf)).dtype(), torch::kHalf);
  torch::vander(x).sum().backward();
  EXPECT_TRUE(x.grad().equal(table({3, 5, 7}, {3}))) << "2 x + 1";
  EXPECT_THROW(torch::vander(x, -1), std::invalid_argument);
  EXPECT_THROW(torch::vander(torch::ones({2, 2})), std::invalid_argument);
}

TEST(Assembly, BlockDiagPutsMatricesOnADiagonal) {
  const Tensor blocks = torch::block_diag(
      {torch::ones({1, 2}), torch::tensor({2.0, 3.0}), torch::tensor(4.0), torch::full({2, 1}, 5)});
  const Tensor expected = table({1, 1, 0, 0, 0, 0,  //
                                 0, 0, 2, 3, 0, 0,  //
                                 0, 0, 0, 0, 4, 0,  //
                                 0, 0, 0, 0, 0, 5,  //
                                 0, 0, 0, 0, 0, 5},
                                {5, 6});
  EXPECT_TRUE(blocks.equal(expected));
  EXPECT_THROW(torch::block_diag({torch::ones({1, 1, 1})}), std::invalid_argument);
}

TEST(Assembly, ScattersReplaceAPart) {
  const Tensor x = torch::zeros({2, 3}, torch::requires_grad());
  const Tensor row = torch::tensor({1.0, 2.0, 3.0}, torch::requires_grad());
  const Tensor y = torch::select_scatter(x, row, 0, 1);
  EXPECT_TRUE(y.equal(table({0, 0, 0, 1, 2, 3}, {2, 3})));
  (y * table({1, 2, 3, 4, 5, 6}, {2, 3})).sum().backward();
  EXPECT_TRUE(x.grad().equal(table({1, 2, 3, 0, 0, 0}, {2, 3})));
  EXPECT_TRUE(row.grad().equal(table({4, 5, 6}, {3})));
  EXPECT_EQ(x.sum().item<double>(), 0) << "self is not changed";
  EXPECT_TRUE(torch::slice_scatter(x, torch::ones({2, 2}), 1, 0, 3, 2)
                  .equal(table({1, 0, 1, 1, 0, 1}, {2, 3})));
  EXPECT_TRUE(
      torch::slice_scatter(x, torch::ones({1, 3}), 0, 1).equal(table({0, 0, 0, 1, 1, 1}, {2, 3})));
  EXPECT_TRUE(
      torch::diagonal_scatter(x, torch::ones({2}), 1).equal(table({0, 1, 0, 0, 0, 1}, {2, 3})));
  EXPECT_THROW(torch::select_scatter(x, torch::ones({1}), 0, 1), std::invalid_argument)
      << "src does not broadcast";
}

TEST(Assembly, PadSequenceFillsShortSequences) {
  const std::vector<Tensor> sequences = {torch::tensor({1, 2}), torch::tensor({3})};
  EXPECT_TRUE(rnn::pad_sequence(sequences, true).equal(torch::tensor({{1, 2}, {3, 0}})));
  EXPECT_TRUE(rnn::pad_sequence(sequences).equal(torch::tensor({{1, 3}, {2, 0}})));
  EXPECT_TRUE(
      rnn::pad_sequence(sequences, true, -1, "left").equal(torch::tensor({{1, 2}, {-1, 3}})));
  EXPECT_EQ(rnn::pad_sequence({torch::ones({2, 4}), torch::ones({3, 4})}).sizes(),
            (torch::Shape{3, 2, 4}));
  EXPECT_THROW(rnn::pad_sequence({}), std::invalid_argument);
  EXPECT_THROW(rnn::pad_sequence(sequences, true, 0, "up"), std::invalid_argument);
}

TEST(Assembly, FlattensTensorsAndTakesThemApart) {
  const Tensor a = torch::tensor({{1, 2}, {3, 4}}), none = torch::empty({0}, torch::kLong);
  const Tensor flat = torch::utils::flatten_dense_tensors({a, none, torch::tensor({5})});
  EXPECT_TRUE(flat.equal(torch::tensor({1, 2, 3, 4, 5})));
  const auto parts = torch::utils::unflatten_dense_tensors(flat, {a, none, torch::ones({1})});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(parts[0].equal(a));
  EXPECT_EQ(parts[1].numel(), 0);
  EXPECT_EQ(parts[2].item<int>(), 5);
  EXPECT_THROW(torch::utils::flatten_dense_tensors({}), std::invalid_argument);
  EXPECT_THROW(torch::utils::unflatten_dense_tensors(flat, {a}), std::invalid_argument);
  EXPECT_THROW(torch::utils::unflatten_dense_tensors(flat, {a, a}), std::invalid_argument);
}

TEST(Assembly, SparseInitHasZerosInEachColumn) {
  const Tensor weight = torch::empty({10, 4}).requires_grad_();
  torch::nn::init::sparse_(weight, 0.25, 0.5);
  EXPECT_TRUE((weight == 0).sum({0}).equal(torch::full({4}, 3))) << "a quarter of 10, rounded up";
  EXPECT_TRUE(weight.is_leaf());
  EXPECT_THROW(torch::nn::init::sparse_(weight, 1.5), std::invalid_argument);
  EXPECT_THROW(torch::nn::init::sparse_(torch::ones({3}), 0.5), std::invalid_argument);
  const auto [fan_in, fan_out] = torch::nn::init::_calculate_fan_in_and_fan_out(weight);
  EXPECT_EQ(fan_in, 4);
  EXPECT_EQ(fan_out, 10);
}

}  // namespace
