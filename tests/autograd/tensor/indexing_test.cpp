#include <halfgrad/autograd/ops.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

TEST(Cat, JoinsAlongAnyDimension) {
  const Tensor a = tensor({{1, 2}, {3, 4}});
  const Tensor b = tensor({{5}, {6}});
  EXPECT_EQ(elements(cat({a, b}, 1)), (Doubles{1, 2, 5, 3, 4, 6}));
  EXPECT_EQ(elements(cat({a, b.transpose(0, 1)}, -2)), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(elements(cat({a, zeros({0}), a.slice(0, 0, 0)})), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(cat({zeros({0}), zeros({0})}).sizes(), Shape{0});
}

TEST(Cat, PromotesToTheWidestDType) {
  const Tensor half = ones({2}, {.dtype = kHalf});
  EXPECT_EQ(cat({half, half}).dtype(), kHalf);
  EXPECT_EQ(cat({half, ones({2})}).dtype(), kFloat);
  EXPECT_EQ(stack({half, ones({2}, {.dtype = kBFloat16})}).dtype(), kFloat);
  EXPECT_EQ(cat({half, tensor({1, 2})}).dtype(), kHalf);
  const Tensor h = ones({1}, {.dtype = kHalf, .requires_grad = true});
  cat({h, ones({1})}).sum().backward();
  EXPECT_EQ(h.grad().dtype(), kHalf);
}

TEST(Cat, SplitsItsGradient) {
  const auto f = [](const std::vector<Tensor>& in) { return cat({in[0], in[1], in[0]}, 1); };
  const std::vector<Tensor> inputs{random_leaf({2, 3}, 1), random_leaf({2, 1}, 2)};
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
}

TEST(Cat, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(cat({}), std::invalid_argument);
  EXPECT_THROW(cat({zeros({2, 3}), zeros({3, 2})}), std::invalid_argument);
  EXPECT_THROW(cat({zeros({2}), zeros({2, 1})}), std::invalid_argument);
  EXPECT_THROW(cat({zeros({})}), std::invalid_argument);
  EXPECT_THROW(cat({zeros({2})}, 1), std::out_of_range);
  EXPECT_THROW(stack({}), std::invalid_argument);
  EXPECT_THROW(stack({zeros({2}), zeros({3})}), std::invalid_argument);
}

TEST(Stack, AddsADimension) {
  const Tensor a = tensor({1, 2});
  const Tensor b = tensor({3, 4});
  EXPECT_EQ(elements(stack({a, b})), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(elements(stack({a, b}, 1)), (Doubles{1, 3, 2, 4}));
  EXPECT_EQ(stack({a, b, a}, -1).sizes(), (Shape{2, 3}));
  EXPECT_EQ(stack({tensor(1), tensor(2)}).sizes(), Shape{2});
  expect_gradients(
      [](const auto& in) {
        return stack({in[0], in[1]}, -1);
      },
      {random_leaf({2, 3}, 1), random_leaf({2, 3}, 2)});
}

TEST(Gather, PicksAlongADimension) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(elements(gather(x, 1, tensor({{2, 0}, {1, 1}}))), (Doubles{3, 1, 5, 5}));
  EXPECT_EQ(elements(gather(x, 0, tensor({{1, 0}}))), (Doubles{4, 2}));
  EXPECT_EQ(elements(gather(x.t(), -2, tensor({{2, 0}}))), (Doubles{3, 4}));
  EXPECT_EQ(gather(tensor(5), 0, tensor(0)).item<double>(), 5);
  EXPECT_EQ(gather(tensor(5), 0, tensor({0})).sizes(), Shape{1});
  EXPECT_EQ(gather(tensor({5, 6}), 0, tensor(1)).sizes(), Shape());
  EXPECT_EQ(gather(tensor({5, 6}), 0, tensor(1)).item<double>(), 6);
  EXPECT_EQ(gather(x, 1, zeros({2, 0}, {.dtype = kLong})).numel(), 0);
  EXPECT_EQ(gather(x.to(kHalf), 1, tensor({{0}})).dtype(), kHalf);
}

TEST(ScatterAdd, AddsToTheElementsThatGatherSelects) {
  const Tensor zero = zeros({2, 3});
  const Tensor index = tensor({{2, 0, 2}});
  EXPECT_EQ(elements(scatter_add(zero, 1, index, tensor({{1.0, 2.0, 3.0}}))),
            (Doubles{2, 0, 4, 0, 0, 0}));
  EXPECT_EQ(elements(scatter_add(zero, 0, tensor({{1, 1}, {1, 0}}), ones({2, 3}))),
            (Doubles{0, 1, 0, 2, 1, 0}));
}

TEST(ScatterAdd, AccumulatesSixteenBitsInThirtyTwo) {
  constexpr std::int64_t kCount = 4096;  // float16 cannot count beyond 2048 in ones
  const Tensor index = zeros({kCount}, {.dtype = kLong});
  const Tensor one = ones({kCount}, {.dtype = kHalf});
  EXPECT_EQ(scatter_add(zeros({1}, {.dtype = kHalf}), 0, index, one).item<double>(), kCount);
}

TEST(ScatterAdd, IsTheSameForAnyNumberOfThreads) {
  const int before = get_num_threads();
  for (const std::int64_t dim : {0, 1}) {
    const Tensor self = random_leaf({300, 500}, 1);
    const Tensor index = randint(300, {300, 500}, {.dtype = DType::i64});
    const Tensor source = random_leaf({300, 500}, 2);
    const auto run = [&](int threads) {
      set_num_threads(threads);
      return scatter_add(self, dim, index, source).to_vector<double>();
    };
    EXPECT_EQ(run(1), run(2)) << dim;
  }
  set_num_threads(before);
}

TEST(Gather, AndScatterAddAreEachOthersGradients) {
  const Tensor index = tensor({{2, 0, 2, 1}, {1, 1, 1, 0}});
  const auto pick = [&](const auto& in) { return gather(in[0], 1, index); };
  expect_gradients(pick, {random_leaf({3, 3}, 1)});
  expect_second_gradients(pick, {random_leaf({3, 3}, 1)});
  const auto add = [&](const auto& in) { return scatter_add(in[0], 1, index, in[1]); };
  const std::vector<Tensor> inputs{random_leaf({3, 3}, 1), random_leaf({3, 5}, 2)};
  expect_gradients(add, inputs);
  expect_second_gradients(add, inputs);
}

TEST(IndexSelect, OfAZeroDimensionalTensorTakesOneIndex) {
  EXPECT_EQ(index_select(tensor(5.0), 0, tensor({0})).item(), 5);
  EXPECT_THROW(index_select(tensor(5.0), 0, zeros({2}, kLong)), std::invalid_argument);
  EXPECT_THROW(index_select(tensor(5.0), 0, zeros({0}, kLong)), std::invalid_argument);
}

TEST(IndexSelect, PicksWholeSlices) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(elements(index_select(x, 1, tensor({2, 0, 2}))), (Doubles{3, 1, 3, 6, 4, 6}));
  EXPECT_EQ(elements(index_select(x, 0, tensor({1}))), (Doubles{4, 5, 6}));
  EXPECT_EQ(elements(index_select(x.t(), 0, tensor({1}, {.dtype = kInt}))), (Doubles{2, 5}));
  EXPECT_EQ(index_select(x, 0, tensor(1)).sizes(), (Shape{1, 3}));
  EXPECT_EQ(index_select(x, 0, zeros({0}, {.dtype = kLong})).sizes(), (Shape{0, 3}));
  const auto f = [](const auto& in) { return index_select(in[0], 1, tensor({2, 0, 2, 2})); };
  expect_gradients(f, {random_leaf({2, 3, 2}, 1)});
  expect_second_gradients(f, {random_leaf({2, 3, 2}, 1)});
}

TEST(Embedding, LooksRowsUp) {
  const Tensor weight = tensor({{1, 2}, {3, 4}, {5, 6}});
  const Tensor rows = embedding(weight, tensor({{2, 0}, {1, 2}}));
  EXPECT_EQ(rows.sizes(), (Shape{2, 2, 2}));
  EXPECT_EQ(elements(rows), (Doubles{5, 6, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(embedding(weight, tensor(1)).sizes(), Shape{2});
  const auto f = [](const auto& in) { return embedding(in[0], tensor({2, 0, 2})); };
  expect_gradients(f, {random_leaf({3, 2}, 1)});
  expect_second_gradients(f, {random_leaf({3, 2}, 1)});
}

TEST(Embedding, SendsNoGradientToThePadding) {
  const Tensor weight = ones({3, 2}, {.requires_grad = true});
  for (const std::int64_t padding : {2, -1}) {
    weight.impl()->grad.reset();
    sum(embedding(weight, tensor({2, 0, 0, 2}), padding)).backward();
    EXPECT_EQ(elements(weight.grad()), (Doubles{2, 2, 0, 0, 0, 0}));
  }
  EXPECT_EQ(elements(embedding(weight, tensor({2}), 2)), Doubles(2, 1));
}

TEST(Embedding, HasTheSameGradientForAnyNumberOfThreads) {
  const Tensor indices = randint(50, {4000});
  const Tensor cotangent = randn({4000, 9});
  const int threads = get_num_threads();
  std::vector<Doubles> gradients;
  for (const int count : {1, 3}) {
    set_num_threads(count);
    const Tensor weight = zeros({50, 9}, {.requires_grad = true});
    embedding(weight, indices).backward(cotangent);
    gradients.push_back(elements(weight.grad()));
  }
  set_num_threads(threads);
  EXPECT_EQ(gradients[0], gradients[1]);
}

TEST(MaskedFill, ReplacesWhereTheMaskIsTrue) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(elements(masked_fill(x, tensor({true, false}), 9)), (Doubles{9, 2, 9, 4}));
  EXPECT_EQ(masked_fill(x, tensor({true, false}), 9).dtype(), kLong);
  EXPECT_EQ(masked_fill(tensor(1.0), tensor({true, false}), 9).sizes(), Shape{2});
  const Tensor half =
      masked_fill(x.to(kHalf), tensor({true, false}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(half.select(0, 0).select(0, 0).item<double>(),
            -std::numeric_limits<double>::infinity());
  EXPECT_THROW(masked_fill(x, x, 0), std::invalid_argument);
}

TEST(MaskedFill, StopsEvenInfiniteGradients) {
  const auto f = [](const auto& in) { return masked_fill(in[0], tensor({true, false, true}), 2); };
  expect_gradients(f, {random_leaf({2, 3}, 1)});
  expect_second_gradients(f, {random_leaf({2, 3}, 1)});
  const Tensor x = ones({2}, {.requires_grad = true});
  masked_fill(x, tensor({true, false}), 0)
      .backward(tensor({std::numeric_limits<double>::infinity(), 3.0}));
  EXPECT_EQ(elements(x.grad()), (Doubles{0, 3}));
}

TEST(OneHot, SetsOneElementARow) {
  EXPECT_EQ(elements(one_hot(tensor({2, 0}))), (Doubles{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(one_hot(tensor({{1}, {0}}), 4).sizes(), (Shape{2, 1, 4}));
  EXPECT_EQ(one_hot(tensor(1)).dtype(), kLong);
  EXPECT_EQ(one_hot(zeros({0}, {.dtype = kLong}), 3).sizes(), (Shape{0, 3}));
  EXPECT_THROW(one_hot(zeros({0}, {.dtype = kLong})), std::invalid_argument);
}

template <class F>
void expect_out_of_range(const char* op, const char* index, const char* size, const F& f) {
  try {
    f();
    if (get_default_device().is_cuda()) cuda::synchronize();  // throws it
    ADD_FAILURE() << op << " accepted " << index;
  } catch (const std::out_of_range& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(op), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("got ") + index), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("size ") + size), std::string::npos) << text;
  }
}

TEST(Indices, OutsideTheSizeAreNamed) {
  const Tensor x = zeros({2, 3});
  expect_out_of_range("gather", "3", "3", [&] { gather(x, 1, tensor({{3}})); });
  expect_out_of_range("gather", "-1", "2", [&] { gather(x, 0, tensor({{-1}})); });
  expect_out_of_range("scatter_add", "5", "3", [&] {
    scatter_add(x, 1, tensor({{5}}), ones({1, 1}));
  });
  expect_out_of_range("index_select", "2", "2", [&] { index_select(x, 0, tensor({0, 2})); });
  expect_out_of_range("embedding", "7", "2", [&] { embedding(x, tensor({{7}})); });
  expect_out_of_range("embedding", "4", "2", [&] { embedding(x, tensor({1}), 4); });
  expect_out_of_range("one_hot", "-2", "3", [&] { one_hot(tensor({-2}), 3); });
}

TEST(Indices, OfAnotherTypeOrShapeAreRefused) {
  const Tensor x = zeros({2, 3});
  EXPECT_THROW(gather(x, 1, zeros({2, 1})), std::invalid_argument);
  EXPECT_THROW(gather(x, 1, tensor({1})), std::invalid_argument);
  EXPECT_THROW(gather(x, 1, tensor({{0}, {0}, {0}})), std::invalid_argument);
  EXPECT_THROW(index_select(x, 1, tensor({{0}})), std::invalid_argument);
  EXPECT_THROW(embedding(zeros({2}), tensor({0})), std::invalid_argument);
  EXPECT_THROW(embedding(x, tensor({true})), std::invalid_argument);
  EXPECT_THROW(scatter_add(x, 1, tensor({{0, 1}}), ones({1, 1})), std::invalid_argument);
  EXPECT_THROW(scatter_add(x, 1, tensor({{0}}), ones({1, 1}, {.dtype = kHalf})),
               std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
