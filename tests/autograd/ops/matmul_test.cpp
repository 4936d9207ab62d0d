#include <halfgrad/autograd/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>

namespace halfgrad {
namespace {

struct Case {
  Shape a, b, expected;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << to_string(c.a) << " by " << to_string(c.b);
}

const Case kCases[] = {
    {{2, 3}, {3, 4}, {2, 4}},
    {{3}, {3}, {}},
    {{3}, {3, 4}, {4}},
    {{2, 3}, {3}, {2}},
    {{3}, {5, 3, 4}, {5, 4}},
    {{5, 2, 3}, {3}, {5, 2}},
    {{5, 2, 3}, {3, 4}, {5, 2, 4}},
    {{2, 3}, {5, 3, 4}, {5, 2, 4}},
    {{5, 2, 3}, {5, 3, 4}, {5, 2, 4}},
    {{5, 1, 3}, {3, 4}, {5, 1, 4}},
    {{6, 1, 2, 3}, {5, 3, 4}, {6, 5, 2, 4}},
    {{6, 5, 2, 3}, {6, 1, 3, 4}, {6, 5, 2, 4}},
    {{2, 0}, {0, 3}, {2, 3}},
    {{0}, {0}, {}},
    {{0, 3}, {3, 2}, {0, 2}},
    {{4, 0, 3}, {3, 2}, {4, 0, 2}},
    {{0, 2, 3}, {0, 3, 2}, {0, 2, 2}},
};

// The elements of a tensor as doubles, read at an index that broadcasts.
class Reader {
 public:
  explicit Reader(const Tensor& t) : sizes_(t.sizes()), data_(t.to_vector<double>()) {}
  double at(const Shape& batch, std::int64_t row, std::int64_t col) const {
    Shape index = batch;
    index.push_back(row);
    index.push_back(col);
    std::int64_t flat = 0;
    for (int i = 0; i < sizes_.size(); ++i) {
      const std::int64_t at = index[index.size() - sizes_.size() + i];
      flat = flat * sizes_[i] + (sizes_[i] == 1 ? 0 : at);
    }
    return data_[static_cast<std::size_t>(flat)];
  }

 private:
  Shape sizes_;
  std::vector<double> data_;
};

// Compares each element of c = a b with a loop:
//     |error| <= (k + 1) roundoff(accumulator) sum_k |a_ik b_kj| + one rounding of the result
void expect_product(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Reader left(a.dim() == 1 ? a.unsqueeze(0) : a);
  const Reader right(b.dim() == 1 ? b.unsqueeze(1) : b);
  Tensor full = b.dim() == 1 ? c.unsqueeze(-1) : c;
  if (a.dim() == 1) full = full.unsqueeze(-2);
  const std::vector<double> actual = full.to_vector<double>();
  const std::int64_t depth = a.size(-1);
  const double accumulator = roundoff(a.dtype() == kDouble ? kDouble : kFloat);
  const double rounding = is_reduced(a.dtype()) ? roundoff(a.dtype()) : 0;
  for (std::int64_t flat = 0; flat < full.numel(); ++flat) {
    Shape index = full.sizes();
    std::int64_t rest = flat;
    for (int i = index.size() - 1; i >= 0; --i) {
      index[i] = rest % full.sizes()[i];
      rest /= full.sizes()[i];
    }
    const std::int64_t col = index.back();
    index.erase(index.size() - 1);
    const std::int64_t row = index.back();
    index.erase(index.size() - 1);
    double sum = 0, magnitude = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      const double term = left.at(index, row, k) * right.at(index, k, col);
      sum += term;
      magnitude += std::abs(term);
    }
    const double error = static_cast<double>(depth + 1) * accumulator * magnitude;
    EXPECT_NEAR(actual[static_cast<std::size_t>(flat)], sum, error + rounding * std::abs(sum));
  }
}

class Matmul : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Matmul, ::testing::ValuesIn(kCases));

TEST_P(Matmul, MatchesLoopsInEveryDtype) {
  const auto& [a_sizes, b_sizes, expected] = GetParam();
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Tensor a = random_leaf(a_sizes, 1).to(dtype);
    const Tensor b = random_leaf(b_sizes, 2).to(dtype);
    const Tensor c = matmul(a, b);
    EXPECT_EQ(c.sizes(), expected);
    EXPECT_EQ(c.dtype(), dtype);
    expect_product(a, b, c);
  }
}

TEST_P(Matmul, HasTheGradientsOfFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) { return matmul(in[0], in[1]); };
  const std::vector<Tensor> inputs{random_leaf(GetParam().a, 1), random_leaf(GetParam().b, 2)};
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
}

TEST(MatmulViews, AreReadInPlace) {
  const Tensor a = random_leaf({3, 5, 2}, 1).detach();
  const Tensor b = random_leaf({4, 2}, 2).detach();
  const Tensor batch = a.transpose(1, 2);  // [3, 2, 5]
  expect_product(batch, random_leaf({5, 4}, 3), matmul(batch, random_leaf({5, 4}, 3)));
  expect_product(a, b.t(), matmul(a, b.t()));
  const Tensor every_other = a.slice(0, 0, 3, 2);
  expect_product(every_other, b.t(), matmul(every_other, b.t()));
  const Tensor repeated = b.unsqueeze(0).expand({3, 4, 2});
  expect_product(a, repeated.transpose(1, 2), matmul(a, repeated.transpose(1, 2)));
  const Tensor permuted = random_leaf({2, 4, 3, 5}, 4).permute({2, 0, 3, 1});  // [3, 2, 5, 4]
  expect_product(permuted, b, matmul(permuted, b));
}

TEST(MatmulViews, GiveTheSameGradientsAsCopies) {
  const auto f = [](const std::vector<Tensor>& in) {
    return matmul(in[0].transpose(-2, -1), in[1].slice(1, 0, 4, 2));
  };
  expect_gradients(f, {random_leaf({2, 3, 5}, 1), random_leaf({3, 4}, 2)});
}

TEST(Matmul, AccumulatesSixteenBitsInThirtyTwo) {
  constexpr std::int64_t kDepth = 4096;  // above 2048, float16 cannot count in ones
  const Tensor a = ones({1, kDepth}, {.dtype = kHalf});
  EXPECT_EQ(matmul(a, a.t()).item<double>(), kDepth);
  const Tensor b = ones({1, 300}, {.dtype = kBFloat16});  // above 256
  EXPECT_EQ(matmul(b, b.t()).item<double>(), 300);
}

TEST(Matmul, OverflowsSixteenBitsOnlyInTheResult) {
  const Tensor a = tensor({{60000.0, 60000.0, -60000.0}}, {.dtype = kHalf});
  const Tensor one = ones({3, 1}, {.dtype = kHalf});
  EXPECT_EQ(matmul(a, one).item<double>(), 60000);
  EXPECT_EQ(matmul(a.slice(1, 0, 2), one.slice(0, 0, 2)).item<double>(),
            std::numeric_limits<double>::infinity());
}

TEST(Matmul, IsTheSameForAnyNumberOfThreads) {
  const Tensor a = random_leaf({4, 70, 90}, 1).to(kFloat);
  const Tensor b = random_leaf({90, 80}, 2).to(kFloat);
  const int threads = get_num_threads();
  set_num_threads(1);
  const std::vector<float> one = matmul(a, b).to_vector<float>();
  set_num_threads(3);
  EXPECT_EQ(matmul(a, b).to_vector<float>(), one);
  set_num_threads(threads);
}

TEST(Matmul, ComputesOnlyTheGradientsThatAreNeeded) {
  const Tensor a = random_leaf({2, 3}, 1);
  const Tensor b = random_leaf({3, 2}, 2).detach();
  const Tensor c = matmul(a, b);
  c.sum().backward();
  EXPECT_FALSE(b.grad().defined());
  EXPECT_EQ(a.grad().sizes(), a.sizes());
  EXPECT_EQ(c.grad_fn_name(), "matmul");
}

TEST(SpecialProducts, EqualMatmulOfTheirShapes) {
  const Tensor a = random_leaf({4, 2, 3}, 1);
  const Tensor b = random_leaf({4, 3, 5}, 2);
  expect_product(a, b, bmm(a, b));
  expect_product(a.select(0, 1), b.select(0, 1), mm(a.select(0, 1), b.select(0, 1)));
  const Tensor v = random_leaf({3}, 3);
  expect_product(a.select(0, 0), v, mv(a.select(0, 0), v));
  expect_gradients([](const auto& in) { return bmm(in[0], in[1]); }, {a, b});
  expect_gradients([](const auto& in) { return mv(in[0].select(0, 2), in[1]); }, {a, v});
}

TEST(Dot, MatchesLoops) {
  const auto f = [](const std::vector<Tensor>& in) { return dot(in[0], in[1]); };
  for (const std::int64_t n : {0, 1, 7}) {
    const Tensor a = random_leaf({n}, 1);
    const Tensor b = random_leaf({n}, 2);
    EXPECT_EQ(dot(a, b).sizes(), Shape{});
    expect_product(a, b, dot(a, b));
    expect_gradients(f, {a, b});
    expect_second_gradients(f, {a, b});
  }
}

TEST(Outer, MultipliesEveryPair) {
  const Tensor a = tensor({1, 2, 3});
  const Tensor b = tensor({4, 5});
  EXPECT_EQ(outer(a, b).to_vector<double>(), (std::vector<double>{4, 5, 8, 10, 12, 15}));
  expect_gradients([](const auto& in) { return outer(in[0], in[1]); },
                   {random_leaf({3}, 1), random_leaf({2}, 2)});
}

TEST(AddMm, IsBetaTimesSelfPlusAlphaTimesTheProduct) {
  const Tensor a = random_leaf({2, 3}, 1);
  const Tensor b = random_leaf({3, 4}, 2);
  for (const Shape& sizes : {Shape{2, 4}, Shape{4}, Shape{2, 1}, Shape{}}) {
    const Tensor self = random_leaf(sizes, 3);
    const Tensor parts = self * 0.5 + mm(a, b) * -3.0;
    const std::vector<double> expected = parts.to_vector<double>();
    const std::vector<double> actual = addmm(self, a, b, 0.5, -3.0).to_vector<double>();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], 32 * roundoff(kDouble));
    }
    const auto f = [](const auto& in) { return addmm(in[0], in[1], in[2], 0.5, -3.0); };
    expect_gradients(f, {self, a, b});
    expect_second_gradients(f, {self, a, b});
  }
}

TEST(AddMm, WithBetaZeroDoesNotReadSelf) {
  const Tensor self = full({2, 2}, std::numeric_limits<double>::quiet_NaN());
  const Tensor one = ones({2, 2});
  EXPECT_EQ(addmm(self, one, one, 0).to_vector<double>(), std::vector<double>(4, 2));
}

template <class F>
std::string refusal_of(const F& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no std::invalid_argument";
}

TEST(Products, ErrorsNameTheBadArgument) {
  const auto t = [](const Shape& sizes, DType dtype = kFloat) {
    return zeros(sizes, {.dtype = dtype});
  };
  const auto expect_names = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
  };
  expect_names(refusal_of([&] { matmul(t({2, 3}), t({4, 5})); }), {"matmul", "[2, 3]", "[4, 5]"});
  expect_names(refusal_of([&] { matmul(t({}), t({4})); }), {"matmul", "[]", "[4]"});
  expect_names(refusal_of([&] { matmul(t({2, 1, 3}), t({3, 3, 1})); }), {"matmul", "[2]", "[3]"});
  expect_names(refusal_of([&] { mm(t({2}), t({2, 5})); }), {"mm", "[2]", "[2, 5]"});
  expect_names(refusal_of([&] { mm(t({2, 3}), t({2, 5})); }), {"mm", "[2, 3]", "[2, 5]"});
  expect_names(refusal_of([&] { bmm(t({2, 1, 3}), t({1, 3, 5})); }), {"bmm", "[1, 3, 5]"});
  expect_names(refusal_of([&] { mv(t({2, 3}), t({2})); }), {"mv", "[2, 3]", "[2]"});
  expect_names(refusal_of([&] { dot(t({3}), t({2})); }), {"dot", "[3]", "[2]"});
  expect_names(refusal_of([&] { outer(t({3, 1}), t({2})); }), {"outer", "[3, 1]", "[2]"});
  expect_names(refusal_of([&] {
                 addmm(t({3}), t({2, 2}), t({3, 3}));
               }),
               {"addmm", "[2, 2]", "[3, 3]"});
  expect_names(refusal_of([&] { addmm(t({3}), t({2, 2}), t({2, 2})); }), {"[3]", "[2, 2]"});
  expect_names(refusal_of([&] { addmm(t({3}), t({1, 2, 2}), t({1, 2, 2})); }), {"[1, 2, 2]"});
  expect_names(refusal_of([&] {
                 baddbmm(t({2}), t({2, 2}), t({1, 2, 2}));
               }),
               {"baddbmm", "[2, 2]", "[1, 2, 2]"});
  expect_names(refusal_of([&] { baddbmm(t({2}), t({3, 2, 2}), t({1, 2, 2})); }), {"[3, 2, 2]"});
  expect_names(refusal_of([&] { baddbmm(t({3}), t({1, 2, 2}), t({1, 2, 2})); }), {"[3]"});
  expect_names(refusal_of([&] {
                 baddbmm(t({2}, kHalf), t({1, 2, 2}), t({1, 2, 2}));
               }),
               {"baddbmm", "float16", "float32"});
  expect_names(refusal_of([&] { mm(t({2, 2}, kHalf), t({2, 2})); }), {"mm", "float16", "float32"});
  expect_names(refusal_of([&] { dot(t({2}, kHalf), t({2}, kBFloat16)); }),
               {"dot", "float16", "bfloat16"});
}

}  // namespace
}  // namespace halfgrad
