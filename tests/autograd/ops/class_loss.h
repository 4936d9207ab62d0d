#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/ops.h>

// A cross_entropy of classes and its gradient, as one op and as the separate ops.
namespace halfgrad {

// Casts floating operands to float32, as autocast does for a loss.
struct CastsToFloat final : CastRule {
  void cast(const char*, Precision precision, std::span<Tensor> operands) override {
    if (precision != Precision::wide_range) return;
    for (Tensor& each : operands) {
      if (each.is_floating_point()) each = to(each, kFloat);
    }
  }
  std::optional<DType> dtype_of(const char*, Precision, const Tensor&) const override {
    return kFloat;
  }
  std::unique_ptr<CastRule> copy() const override { return std::make_unique<CastsToFloat>(); }
};

struct SilentObserver final : OpObserver {
  void ran(const OpCall&) override {}
};

struct ClassLoss {
  Tensor x, target;
  bool cast = true;
  Reduction reduction = kMean;
  std::int64_t ignore_index = -100;
  double dloss = 1;
};

struct LossAndGradient {
  DType dtype;
  std::vector<float> loss, gradient;
};

inline LossAndGradient run_class_loss(const ClassLoss& c) {
  CastsToFloat rule;
  const Tensor x = c.x.detach().requires_grad_();
  Tensor loss;
  {
    const detail::CastRuleScope scope(c.cast ? &rule : nullptr);
    loss = cross_entropy(x, c.target, {.ignore_index = c.ignore_index, .reduction = c.reduction});
  }
  loss.backward(full(loss.sizes(), c.dloss, loss.options()));
  return {loss.dtype(), loss.to_vector<float>(), x.grad().to_vector<float>()};
}

inline LossAndGradient run_separately(const ClassLoss& c) {
  SilentObserver observer;
  const OpObserverGuard guard(observer);
  return run_class_loss(c);
}

inline std::vector<std::uint32_t> class_loss_bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> all;
  for (const float value : values) {
    all.push_back(std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value));
  }
  return all;
}

inline void expect_bits_of_separate_ops(const ClassLoss& c) {
  const LossAndGradient one = run_class_loss(c), separate = run_separately(c);
  EXPECT_EQ(one.dtype, separate.dtype);
  EXPECT_EQ(class_loss_bits(one.loss), class_loss_bits(separate.loss));
  EXPECT_EQ(class_loss_bits(one.gradient), class_loss_bits(separate.gradient));
}

inline Tensor class_logits(std::int64_t rows, std::int64_t classes, DType dtype,
                           Device device = kCUDA) {
  return (randn({rows, classes}) * Scalar(3)).to(dtype).to(device);
}
inline Tensor classes_of(std::int64_t rows, std::int64_t classes, Device device = kCUDA) {
  return randint(classes, {rows}).to(device);
}

}  // namespace halfgrad
