#include <halfgrad/optim/clip_grad.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/core/thread_pool.h>

#include "../devices.h"
#include "parameters.h"

namespace halfgrad::nn::utils {
namespace {

using testing::expected_values;
using testing::give_grad;
using testing::kNaN;
using testing::number;
using testing::numbers;
using testing::parameter;
using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DType dtype_named(const std::string& wanted) {
  for (const DType dtype : kAllDTypes) {
    if (name(dtype) == wanted) return dtype;
  }
  throw std::invalid_argument(wanted);
}

std::vector<Tensor> with_gradients(const nlohmann::json& row) {
  std::vector<Tensor> params;
  for (const auto& gradient : row["gradients"]) {
    const Values values = numbers(gradient);
    params.push_back(parameter(Values(values.size()), dtype_named(row["dtype"])));
    give_grad(params.back(), values);
  }
  return params;
}

void expect_number(double actual, double expected, double tolerance, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what << ": " << actual;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << what;
  } else {
    EXPECT_NEAR(actual, expected, tolerance * std::max(1.0, std::abs(expected))) << what;
  }
}

// A norm, a division and a product: a handful of roundings.
void expect_gradients(const std::vector<Tensor>& params, const nlohmann::json& row) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Values actual = params[i].grad().to_vector<double>();
    const Values expected = numbers(row["clipped"][i]);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      expect_number(actual[k], expected[k], 8 * roundoff(params[i].dtype()), row.dump());
    }
  }
}

TEST(ClipGradNorm, MatchesPyTorch) {
  const auto file = expected_values("clip.json");
  for (const auto& row : file["norms"]) {
    const std::vector<Tensor> params = with_gradients(row);
    const Tensor total = clip_grad_norm_(params, number(row["max_norm"]), number(row["norm_type"]));
    EXPECT_EQ(total.dtype(), params[0].dtype());
    EXPECT_EQ(total.dim(), 0);
    EXPECT_FALSE(total.requires_grad());
    expect_number(total.item(), number(row["total"]), 4 * roundoff(total.dtype()), row.dump());
    expect_gradients(params, row);
  }
}

TEST(ClipGradNorm, MatchesTheGoldens) {
  struct Golden {
    DType dtype;
    Values gradient;
    double max_norm, norm_type, total;
    Values clipped;
  };
  const Golden goldens[] = {
      {DType::f64,
       {3, 4, 0, 12},
       1,
       2,
       13,
       {0.23076921301775288, 0.3076922840236705, 0, 0.9230768520710115}},
      {DType::f64,
       {3, 4, 0, 12},
       13,
       2,
       13,
       {2.9999997692307874, 3.9999996923077163, 0, 11.99999907692315}},
      {DType::f64, {3, 4, 0, 12}, 100, 2, 13, {3, 4, 0, 12}},
      {DType::f64, {3, 4, 0, 12}, 0, 2, 13, {0, 0, 0, 0}},
      {DType::f64, {0, 0}, 1, 2, 0, {0, 0}},
      {DType::f64, {kInfinity, 1}, 1, 2, kInfinity, {kNaN, 0}},
      {DType::f64, {kInfinity, 1}, kInfinity, 2, kInfinity, {kNaN, kNaN}},
      {DType::f64, {kNaN, 1}, 1, 2, kNaN, {kNaN, kNaN}},
      {DType::f64, {3, -4}, 1, kInfinity, 4, {3 / 4.000001, -4 / 4.000001}},
      {DType::f16, {60000, 60000}, 1, 2, kInfinity, {0, 0}},
      {DType::bf16, {3, 4}, 1, 2, 5, {0.6015625, 0.80078125}},
  };
  for (const Golden& golden : goldens) {
    Tensor param = parameter(Values(golden.gradient.size()), golden.dtype);
    give_grad(param, golden.gradient);
    const Tensor total = clip_grad_norm_(param, golden.max_norm, golden.norm_type);
    expect_number(total.item(), golden.total, 0, "total");
    const Values actual = param.grad().to_vector<double>();
    for (std::size_t i = 0; i < actual.size(); ++i) {
      expect_number(actual[i], golden.clipped[i], 2 * roundoff(DType::f64), "gradient");
    }
  }
}

TEST(ClipGradNorm, WithoutGradientsIsZero) {
  const Tensor total = clip_grad_norm_(std::vector{parameter({1}), parameter({2})}, 1);
  EXPECT_EQ(total.item(), 0);
  EXPECT_EQ(total.dtype(), DType::f32);
  EXPECT_EQ(clip_grad_norm_(std::vector<Tensor>(), 1).item(), 0);
}

TEST(ClipGradNorm, PromotesMixedDtypes) {
  Tensor half = parameter({0}, DType::f16);
  Tensor full = parameter({0}, DType::f32);
  give_grad(half, {3});
  give_grad(full, {4});
  const Tensor total = clip_grad_norm_(std::vector{half, full}, 100);
  EXPECT_EQ(total.dtype(), DType::f32);
  EXPECT_EQ(total.item(), 5);
}

TEST(ClipGradNorm, ErrorIfNonfiniteLeavesGradients) {
  for (const double bad : {kInfinity, kNaN}) {
    Tensor param = parameter({0, 0});
    give_grad(param, {bad, 2});
    EXPECT_THROW(clip_grad_norm_(param, 1, 2, true), std::runtime_error);
    EXPECT_EQ(param.grad().to_vector<double>()[1], 2);
    EXPECT_NO_THROW(clip_grad_norm_(param, 1));
  }
}

TEST(ClipGradNorm, SameBitsForAnyNumberOfThreads) {
  const int before = get_num_threads();
  const auto run = [](int threads) {
    set_num_threads(threads);
    Values values;
    for (int i = 0; i < 100001; ++i) values.push_back(std::sin(i));
    Tensor param = parameter(Values(values.size()), DType::f32);
    give_grad(param, values);
    Values result{clip_grad_norm_(param, 1).item()};
    for (const double value : param.grad().to_vector<double>()) result.push_back(value);
    return result;
  };
  EXPECT_EQ(run(1), run(2));
  set_num_threads(before);
}

// A gradient that two parameters share is multiplied twice, as in PyTorch. It is large enough that
// threads share the work.
TEST(ClipGradNorm, MultipliesASharedGradientOncePerParameter) {
  const Tensor gradient = ones({65536});
  std::vector<Tensor> params(4);
  for (Tensor& param : params) {
    param = zeros({65536}).requires_grad_();
    param.set_grad(gradient);
  }
  EXPECT_EQ(clip_grad_norm_(params, 256).item(), 512);
  const Values once{gradient.to_vector<double>()};
  EXPECT_NEAR(once[0], 0x1p-4, 0x1p-26);
  EXPECT_EQ(once, Values(65536, once[0]));
}

TEST(ClipGradValue, MatchesPyTorch) {
  const auto file = expected_values("clip.json");
  for (const auto& row : file["values"]) {
    const std::vector<Tensor> params = with_gradients(row);
    clip_grad_value_(params, row["clip_value"]);
    expect_gradients(params, row);
  }
}

TEST(ClipGradValue, WithoutGradientsDoesNothing) {
  const Tensor param = parameter({1});
  clip_grad_value_(param, 1);
  clip_grad_value_(std::vector<Tensor>(), 1);
  EXPECT_FALSE(param.grad().defined());
}

TEST(GetTotalNorm, ErrorsNameTheFunction) {
  try {
    get_total_norm({tensor({kInfinity})}, 2, true);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "get_total_norm: expected a finite norm, got inf");
  }
}

class ClipGradNormOfMany : public OnDevice {};
HALFGRAD_ON_DEVICES(ClipGradNormOfMany);

// More tensors than one launch can take, in every dtype, some strided, some empty.
TEST_P(ClipGradNormOfMany, HasNoLimitAndDoesNotWait) {
  constexpr DType kDTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
  std::vector<Tensor> params;
  double squares = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::int64_t size = i == 700 ? 10000 : i % 9;
    const double value = 0x1p-6 * (i % 5 + 1);
    const Array gradient = Array::full({size, 2}, value, kDTypes[i % 4], device());
    const bool transposed = i % 3 == 0;
    Tensor param(
        Array::empty(transposed ? Shape{2, size} : Shape{size, 2}, gradient.dtype(), device()));
    param.set_grad(Tensor(transposed ? gradient.transpose(0, 1) : gradient));
    params.push_back(param);
    const double norm = value * std::sqrt(2.0 * static_cast<double>(size));
    squares += std::pow(full({}, norm, {.dtype = kDTypes[i % 4]}).item(), 2);
  }
  const auto waits = cuda::host_waits();
  const Tensor total = clip_grad_norm_(params, 1);
  EXPECT_EQ(cuda::host_waits(), waits);
  const double expected = std::sqrt(squares);
  // A 16-bit norm about half way between two values may be rounded to either.
  EXPECT_NEAR(total.item(), expected, 2 * roundoff(DType::bf16) * expected / std::sqrt(1500));
  const double clipped = 0x1p-6 / (total.item() + 1e-6);
  EXPECT_NEAR(params[5].grad().to_vector<double>()[9], clipped, 2 * roundoff(DType::f64));
}

// An empty tensor's norm is the identity of its reduction: infinite for the smallest magnitude.
TEST_P(ClipGradNormOfMany, TakesEmptyTensors) {
  const std::vector<Tensor> tensors{Tensor(Array::empty({0}, DType::f32, device())),
                                    Tensor(Array::full({3}, 2, DType::f32, device()))};
  EXPECT_EQ(get_total_norm(tensors, 1).item(), 6);
  EXPECT_EQ(get_total_norm(tensors, -kInfinity).item(), 2);
  EXPECT_EQ(get_total_norm({tensors[0]}, -kInfinity).item(), kInfinity);
}

}  // namespace
}  // namespace halfgrad::nn::utils
