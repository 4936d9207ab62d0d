#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/master_weights.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/tests/devices.h>

#include "every_optimizer.h"
#include "parameters.h"

/// Optimizers against their papers' formulas, written for one element in double; `t` counts from 1.
namespace halfgrad::optim {
namespace {

using testing::bytes_of;
using testing::every_optimizer;
using testing::kNaN;
using testing::OptimizerCase;
using testing::tensor_of;
using Values = std::vector<double>;
using State = std::array<double, 3>;  // the moments of one element

/// Returns the next parameter from p, the gradient g and the element's moments, 0 at first.
using Formula = std::function<double(double p, double g, double t, State& state)>;

double lerp(double a, double b, double weight) { return (1 - weight) * a + weight * b; }

double rmsprop(double p, double g, double, State& s) {
  g = -g + 0.1 * p;
  s[0] = lerp(s[0], g * g, 0.5);
  s[1] = lerp(s[1], g, 0.5);
  s[2] = 0.9 * s[2] + g / (std::sqrt(std::max(0.0, s[0] - s[1] * s[1])) + 0.01);
  return p - 0.1 * s[2];
}

double adagrad(double p, double g, double t, State& s) {
  g += 0.1 * p;
  if (t == 1) s[0] = 0.25;
  s[0] += g * g;
  return p - 0.1 / (1 + (t - 1) * 0.5) * g / (std::sqrt(s[0]) + 1e-10);
}

double adadelta(double p, double g, double, State& s) {
  g += 0.1 * p;
  s[0] = lerp(s[0], g * g, 0.1);
  const double delta = std::sqrt(s[1] + 1e-3) / std::sqrt(s[0] + 1e-3) * g;
  s[1] = lerp(s[1], delta * delta, 0.1);
  return p - delta;
}

double adamax(double p, double g, double t, State& s) {
  g += 0.1 * p;
  s[0] = lerp(s[0], g, 0.1);
  s[1] = std::max(0.999 * s[1], std::abs(g) + 1e-3);
  return p - 0.1 / (1 - std::pow(0.9, t)) * s[0] / s[1];
}

double radam(double p, double g, double t, State& s) {
  g = -g;
  s[0] = lerp(s[0], g, 0.1);
  s[1] = lerp(s[1], g * g, 0.001);
  p -= 0.1 * 0.1 * p;
  const double corrected = s[0] / (1 - std::pow(0.9, t));
  const double correction2 = 1 - std::pow(0.999, t);
  const double most = 1999, rho = most - 2 * t * std::pow(0.999, t) / correction2;
  if (rho <= 5) return p - 0.1 * corrected;
  const double r = std::sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho));
  return p - 0.1 * corrected * r * std::sqrt(correction2) / (std::sqrt(s[1]) + 1e-8);
}

double nadam(double p, double g, double t, State& s) {
  const auto mu = [](double step) { return 0.9 * (1 - 0.5 * std::pow(0.96, step * 0.5)); };
  s[0] = lerp(s[0], g, 0.1);
  s[1] = lerp(s[1], g * g, 0.001);
  if (t == 1) s[2] = 1;
  s[2] = static_cast<float>(s[2]) * static_cast<float>(mu(t));  // mu_product is float32
  const double d = std::sqrt(s[1] / (1 - std::pow(0.999, t))) + 1e-8;
  const double direction = (1 - mu(t)) / (1 - s[2]) * g + mu(t + 1) / (1 - s[2] * mu(t + 1)) * s[0];
  return p - 0.1 * 0.1 * p - 0.1 * direction / d;
}

double lion(double p, double g, double, State& s) {
  const double c = 0.9 * s[0] + 0.1 * g;
  s[0] = 0.99 * s[0] + 0.01 * g;
  const double sign = c > 0 ? 1 : c < 0 ? -1 : 0;
  return p - 0.1 * (sign + 0.1 * p);
}

const struct {
  const char* name;  // the case of every_optimizer()
  Formula formula;
} kReferences[] = {{"rmsprop all", rmsprop},
                   {"adagrad", adagrad},
                   {"adadelta", adadelta},
                   {"adamax", adamax},
                   {"radam decoupled", radam},
                   {"nadam decoupled", nadam},
                   {"lion", lion}};

OptimizerCase named(const std::string& name) {
  const std::vector<OptimizerCase> all = every_optimizer();
  return *std::find_if(all.begin(), all.end(),
                       [&](const OptimizerCase& c) { return c.name == name; });
}

// Multiples of 1/32, which every dtype holds; one gradient in eight is 0.
Values waves(std::int64_t count, std::int64_t step) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t k = i * 7 + step * 13;
    values.push_back(k % 8 == 0 ? 0 : static_cast<double>(k % 61 - 30) / 32);
  }
  return values;
}

struct FormulaReference : OnDevice {
  // Nine steps of parameters with these shapes, the second one a transposed view.
  void expect_formula(const OptimizerCase& c, const Formula& formula, DType dtype) const {
    const std::int64_t sizes[] = {0, 24, 1, 5000};
    std::vector<Tensor> params;
    for (const std::int64_t size : sizes) {
      Array values = tensor_of(waves(size, 1), dtype).array().to(device());
      if (size == 24) values = values.reshape({6, 4}).transpose(0, 1);
      params.push_back(Tensor(values).requires_grad_());
    }
    params.push_back(tensor_of({1, 2}, dtype).to(device()).requires_grad_());  // no gradient
    const auto optimizer = c.make(params);
    std::vector<Values> expected(4);
    std::vector<std::vector<State>> moments(4);
    for (std::size_t k = 0; k < 4; ++k) {
      expected[k] = waves(sizes[k], 1);
      moments[k].resize(expected[k].size());
    }
    for (std::int64_t step = 1; step <= 9; ++step) {
      for (std::size_t k = 0; k < 4; ++k) {
        const Values gradient = waves(sizes[k], step + 1);
        Array elements = tensor_of(gradient, dtype).array().to(device());
        if (sizes[k] == 24) elements = elements.reshape({6, 4}).transpose(0, 1);
        params[k].set_grad(Tensor(elements));
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          expected[k][i] =
              formula(expected[k][i], gradient[i], static_cast<double>(step), moments[k][i]);
        }
      }
      optimizer->step();
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const Array& array = params[k].array();
      const Tensor rows(sizes[k] == 24 ? array.transpose(0, 1) : array);
      const Values got = rows.to_vector<double>();
      ASSERT_EQ(got.size(), expected[k].size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], expected[k][i],
                    64 * roundoff(dtype) * std::max(1.0, std::abs(expected[k][i])))
            << c.name << " " << dtype << ", parameter " << k << ", element " << i;
      }
    }
    EXPECT_EQ(params[4].to_vector<double>(), (Values{1, 2}));
    EXPECT_TRUE(optimizer->state(params[4]).empty());
  }
};
HALFGRAD_ON_DEVICES(FormulaReference);

TEST_P(FormulaReference, HoldsForNineSteps) {
  for (const auto& [name, formula] : kReferences) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      expect_formula(named(name), formula, dtype);
    }
  }
}

// Masters and moments have the bits of an optimizer of float32 parameters.
TEST_P(FormulaReference, HoldsForMasterWeights) {
  for (const OptimizerCase& c : every_optimizer()) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      Tensor low = tensor_of(waves(40, 1), dtype).to(device()).requires_grad_();
      Tensor high = tensor_of(waves(40, 1), DType::f32).to(device()).requires_grad_();
      const auto optimizer = c.make({low}), reference = c.make({high});
      const amp::MasterWeights masters(*optimizer);
      for (int step = 2; step < 6; ++step) {
        low.set_grad(tensor_of(waves(40, step), dtype).to(device()));
        high.set_grad(tensor_of(waves(40, step), DType::f32).to(device()));
        optimizer->step();
        reference->step();
      }
      EXPECT_EQ(bytes_of(masters.master(low)), bytes_of(high.array())) << c.name << " " << dtype;
      EXPECT_EQ(bytes_of(low.array()), bytes_of(high.array().to(dtype))) << c.name << " " << dtype;
      for (const auto& [name, array] : reference->state(high)) {
        EXPECT_EQ(bytes_of(optimizer->state(low).at(name)), bytes_of(array)) << c.name << name;
      }
    }
  }
}

// A gradient that is not finite reaches its own element only, and never goes unnoticed.
TEST_P(FormulaReference, PropagatesNaN) {
  for (const OptimizerCase& c : every_optimizer()) {
    Tensor param = tensor_of({1, 2, 3}, DType::f32).to(device()).requires_grad_();
    Tensor other = tensor_of({1, 2, 3}, DType::f32).to(device()).requires_grad_();
    const auto optimizer = c.make({param}), reference = c.make({other});
    param.set_grad(tensor_of({0.5, kNaN, -0.5}, DType::f32).to(device()));
    other.set_grad(tensor_of({0.5, 0, -0.5}, DType::f32).to(device()));
    optimizer->step();
    reference->step();
    const Values got = param.to_vector<double>(), expected = other.to_vector<double>();
    EXPECT_TRUE(std::isnan(got[1])) << c.name;
    EXPECT_FALSE(std::isnan(got[0]) || std::isnan(got[2])) << c.name;
    if (c.name == std::string("lamb")) continue;  // its rate depends on all elements
    EXPECT_EQ(got[0], expected[0]) << c.name;
    EXPECT_EQ(got[2], expected[2]) << c.name;
  }
}

TEST_P(FormulaReference, ContinuesFromAStateDict) {
  for (const OptimizerCase& c : every_optimizer()) {
    Tensor param = tensor_of(waves(40, 1)).to(device()).requires_grad_();
    const auto optimizer = c.make({param});
    for (int step = 2; step < 5; ++step) {
      param.set_grad(tensor_of(waves(40, step)).to(device()));
      optimizer->step();
    }
    Tensor copy = param.detach().clone().requires_grad_();
    const auto other = c.make({copy});
    other->load_state_dict(optimizer->state_dict());
    for (int step = 5; step < 7; ++step) {
      for (Tensor* const each : {&param, &copy}) {
        each->set_grad(tensor_of(waves(40, step)).to(device()));
      }
      optimizer->step();
      other->step();
    }
    EXPECT_EQ(bytes_of(copy.array()), bytes_of(param.array())) << c.name;
  }
}

}  // namespace
}  // namespace halfgrad::optim
