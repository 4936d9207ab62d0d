#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/optim/sgd.h>

/// What the GradScaler tests share: a parameter with a given gradient, and a scaler at work.
namespace halfgrad::amp {

using Values = std::vector<double>;
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Tensor full(const Shape& sizes, double value, DType dtype = kFloat) {
  return Tensor(Array::full(sizes, value, dtype));
}

inline Tensor tensor(const Values& values, DType dtype = kFloat) {
  const Array result = Array::empty({static_cast<std::int64_t>(values.size())}, kDouble);
  std::copy(values.begin(), values.end(), result.data_as<double>());
  return Tensor(result.to(dtype).clone());
}

/// A parameter of ones with this gradient, an SGD with lr 1 that owns it.
struct Trained {
  explicit Trained(const Values& gradient, DType dtype = kFloat,
                   optim::SGDOptions options = {.lr = 1})
      : param(full({static_cast<std::int64_t>(gradient.size())}, 1, dtype).requires_grad_()),
        optimizer({param}, options) {
    set(gradient);
  }
  void set(const Values& gradient) { param.set_grad(tensor(gradient, param.dtype())); }
  Values value() const { return param.to_vector<double>(); }
  Values gradient() const { return param.grad().to_vector<double>(); }

  Tensor param;
  optim::SGD optimizer;
};

/// A scaler that has its scale, as after a first loss.
inline GradScaler started(const GradScalerOptions& options = {.init_scale = 4}) {
  GradScaler scaler(options);
  scaler.scale(full({}, 1));
  return scaler;
}

template <class Error>
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline void expect_same(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << got[i] << ", expected " << expected[i];
  }
}

}  // namespace halfgrad::amp
