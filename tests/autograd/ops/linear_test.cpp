#include <halfgrad/autograd/ops.h>

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

const Shape kLeading[] = {{}, {1}, {4}, {0}, {2, 3}, {2, 1, 3}};

Shape with(Shape leading, std::int64_t last) {
  leading.push_back(last);
  return leading;
}

TEST(Linear, MatchesLoopsInEveryDtype) {
  constexpr std::int64_t kIn = 5, kOut = 3;
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    const Tensor w = random_leaf({kOut, kIn}, 1).to(dtype);
    const Tensor b = random_leaf({kOut}, 2).to(dtype);
    const std::vector<double> weight = w.to_vector<double>(), bias = b.to_vector<double>();
    for (const Shape& leading : kLeading) {
      const Tensor x = random_leaf(with(leading, kIn), 3).to(dtype);
      const Tensor y = linear(x, w, b);
      ASSERT_EQ(y.sizes(), with(leading, kOut));
      ASSERT_EQ(y.dtype(), dtype);
      const std::vector<double> input = x.to_vector<double>(), actual = y.to_vector<double>();
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const std::size_t row = i / kOut, column = i % kOut;
        double sum = bias[column], magnitude = std::abs(sum);
        for (std::size_t k = 0; k < kIn; ++k) {
          const double term = input[row * kIn + k] * weight[column * kIn + k];
          sum += term;
          magnitude += std::abs(term);
        }
        const double accumulated = (kIn + 2) * roundoff(dtype == kDouble ? kDouble : kFloat);
        const double rounded = is_reduced(dtype) ? roundoff(dtype) : 0;
        EXPECT_NEAR(actual[i], sum, accumulated * magnitude + rounded * std::abs(sum));
      }
    }
  }
}

TEST(Linear, HasTheGradientsOfFiniteDifferences) {
  const auto with_bias = [](const std::vector<Tensor>& in) { return linear(in[0], in[1], in[2]); };
  const auto without = [](const std::vector<Tensor>& in) { return linear(in[0], in[1]); };
  for (const Shape& leading : kLeading) {
    const Tensor x = random_leaf(with(leading, 4), 1);
    const Tensor w = random_leaf({3, 4}, 2);
    const Tensor b = random_leaf({3}, 3);
    expect_gradients(with_bias, {x, w, b});
    expect_second_gradients(with_bias, {x, w, b});
    expect_gradients(without, {x, w});
    expect_second_gradients(without, {x, w});
  }
}

// As in PyTorch, a bias with several rows is added to the product.
TEST(Linear, TakesAnyBiasThatBroadcastsToTheResult) {
  const struct {
    Shape leading, bias;
  } cases[] = {
      {{}, {1, 3}},  {{5}, {5, 3}},    {{5}, {1, 3}},       {{5}, {5, 1}},
      {{1}, {1, 1}}, {{2, 5}, {5, 3}}, {{2, 5}, {2, 5, 3}}, {{2, 5}, {2, 1, 1}},
  };
  constexpr std::int64_t kIn = 4, kOut = 3;
  for (const auto& c : cases) {
    SCOPED_TRACE(to_string(c.leading) + " and " + to_string(c.bias));
    const Tensor x = random_leaf(with(c.leading, kIn), 1), w = random_leaf({kOut, kIn}, 2);
    const Tensor b = random_leaf(c.bias, 3);
    const Tensor y = linear(x, w, b);
    ASSERT_EQ(y.sizes(), with(c.leading, kOut));
    const auto got = y.to_vector<double>(), expected = (linear(x, w) + b).to_vector<double>();
    const auto magnitude = (linear(abs(x), abs(w)) + abs(b)).to_vector<double>();
    for (std::size_t i = 0; i < got.size(); ++i) {  // both sides round kIn + 1 times
      EXPECT_NEAR(got[i], expected[i], 2 * (kIn + 1) * roundoff(kDouble) * magnitude[i]);
    }
    const auto f = [](const std::vector<Tensor>& in) { return linear(in[0], in[1], in[2]); };
    expect_gradients(f, {x, w, b});
    expect_second_gradients(f, {x, w, b});
  }
}

TEST(Linear, OfAVectorAsWeightIsADotProduct) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}), weight = tensor({10.0, 1.0});
  EXPECT_EQ(linear(x, weight).to_vector<float>(), (std::vector<float>{12, 34}));
  EXPECT_EQ(linear(x, weight, tensor(0.5)).to_vector<float>(), (std::vector<float>{12.5, 34.5}));
  EXPECT_EQ(linear(x[0], weight).sizes(), Shape());
  EXPECT_THROW(linear(x, tensor({1.0, 2.0, 3.0})), std::invalid_argument);
}

TEST(Linear, NamesABiasThatWouldMakeTheResultLarger) {
  const Tensor x = ones({1, 4}), w = ones({3, 4});
  EXPECT_EQ(message_of([&] {
              linear(x, w, ones({5, 3}));
            }),
            "linear: expected a bias that broadcasts to the result " + to_string(Shape{1, 3}) +
                ", got " + to_string(Shape{5, 3}));
  EXPECT_THROW(linear(x[0], w, ones({5, 3})), std::invalid_argument);
  EXPECT_THROW(linear(x, w, ones({1, 3}, {.dtype = kHalf})), std::invalid_argument);
  EXPECT_THROW(linear(x, ones({3}), ones({1, 3})), std::invalid_argument);
}

TEST(Linear, TakesViews) {
  const auto f = [](const std::vector<Tensor>& in) {
    return linear(in[0].transpose(0, 1), in[1].t(), in[2].slice(0, 0, 6, 2));
  };
  const std::vector<Tensor> inputs{random_leaf({4, 2, 3}, 1).detach().requires_grad_(),
                                   random_leaf({3, 3}, 2), random_leaf({6}, 3)};
  expect_gradients(f, inputs);
  const Tensor copied = linear(inputs[0].transpose(0, 1).contiguous(), inputs[1].t().contiguous(),
                               inputs[2].slice(0, 0, 6, 2).contiguous());
  EXPECT_EQ(f(inputs).to_vector<double>(), copied.to_vector<double>());
}

// The saved tensors are freed, as for every op; the output stays.
TEST(Linear, BackwardFreesTheTensorsThatTheActivationSaved) {
  for (const auto& f : {linear_relu, linear_gelu}) {
    const Tensor x = ones({64, 64}), w = ones({64, 64}, {.requires_grad = true});
    const auto held = [&] { return allocator::stats(x.device()).current; };
    const std::int64_t before = held();
    const Tensor y = f(x, w, {});
    const auto differentiate = [&](bool retain_graph) {
      autograd::grad({sum(y)}, {w}, {}, {.retain_graph = retain_graph});
    };
    differentiate(true);
    differentiate(false);
    EXPECT_EQ(held() - before, 64 * 64 * item_size(kFloat));
    EXPECT_NE(message_of<std::runtime_error>([&] { differentiate(false); }).find("has freed"),
              std::string::npos);
  }
}

TEST(Linear, SumsSixteenBitBiasGradientsInThirtyTwo) {
  constexpr std::int64_t kRows = 4096;  // float16 cannot count beyond 2048 in ones
  const Tensor x = zeros({kRows, 1}, {.dtype = kHalf});
  const Tensor w = zeros({1, 1}, {.dtype = kHalf, .requires_grad = true});
  const Tensor b = zeros({1}, {.dtype = kHalf, .requires_grad = true});
  linear(x, w, b).backward(ones({kRows, 1}, {.dtype = kHalf}));
  EXPECT_EQ(b.grad().item<double>(), kRows);
  EXPECT_EQ(b.grad().dtype(), kHalf);
}

TEST(Linear, RoundsOnceAfterTheBias) {
  // 2048 + 1 is not a float16: rounding before adding the bias would give 2048.
  const Tensor x = tensor({{2048.0, 1.0}}, {.dtype = kHalf});
  const Tensor w = ones({1, 2}, {.dtype = kHalf});
  EXPECT_EQ(linear(x, w, ones({1}, {.dtype = kHalf})).item<double>(), 2050);
}

TEST(Linear, ErrorsNameTheBadArgument) {
  const auto message = [](const Tensor& x, const Tensor& w, const Tensor& b = {}) -> std::string {
    try {
      linear(x, w, b);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no std::invalid_argument";
  };
  const auto expect_both = [](const std::string& text, const char* first, const char* second) {
    EXPECT_NE(text.find("linear"), std::string::npos) << text;
    EXPECT_NE(text.find(first), std::string::npos) << text;
    EXPECT_NE(text.find(second), std::string::npos) << text;
  };
  const Tensor w = zeros({3, 4});
  expect_both(message(zeros({2, 5}), w), "[2, 5]", "[3, 4]");
  expect_both(message(zeros({}), w), "[]", "[3, 4]");
  expect_both(message(zeros({4}), zeros({5})), "[4]", "[1, 5]");
  expect_both(message(zeros({4}), w, zeros({2})), "[2]", "[3, 4]");
  expect_both(message(zeros({4}, {.dtype = kHalf}), w), "float16", "float32");
  expect_both(message(zeros({4}), w, zeros({3}, {.dtype = kHalf})), "float32", "float16");
}

}  // namespace
}  // namespace halfgrad
