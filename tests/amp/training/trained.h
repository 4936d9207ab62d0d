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
#include <halfgrad/tests/amp/scaler/tensors.h>
#include <halfgrad/tests/message_of.h>

/// Shared by the GradScaler tests: a parameter with a given gradient, and a scaler after its first
/// loss.
namespace halfgrad::amp {

/// A parameter of ones with this gradient, and its SGD with lr 1.
struct Trained {
  explicit Trained(const Values& gradient, DType dtype = kFloat,
                   optim::SGDArguments options = {.lr = 1})
      : param(filled({static_cast<std::int64_t>(gradient.size())}, 1, dtype).requires_grad_()),
        optimizer({param}, options) {
    set(gradient);
  }
  void set(const Values& gradient) { param.set_grad(vector_of(gradient, param.dtype())); }
  Values value() const { return param.to_vector<double>(); }
  Values gradient() const { return param.grad().to_vector<double>(); }

  Tensor param;
  optim::SGD optimizer;
};

/// A scaler whose scale exists, as after a first loss.
inline GradScaler started(const GradScalerOptions& options = {.init_scale = 4}) {
  GradScaler scaler(options);
  scaler.scale(filled({}, 1));
  return scaler;
}

inline void expect_same(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << got[i] << ", expected " << expected[i];
  }
}

}  // namespace halfgrad::amp
