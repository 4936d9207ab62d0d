#include <halfgrad/optim/lbfgs.h>

#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/optim/line_search.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

#include "parameters.h"

/// The problems are those of tests/expected/lbfgs.py.
namespace halfgrad::optim {
namespace {

using nlohmann::json;
using testing::expected_values;
using testing::numbers;
using testing::tensor_of;
using Values = std::vector<double>;

struct Problem {
  std::vector<Tensor> params;
  std::function<Tensor()> loss;

  // Sets the gradients of sign * loss.
  std::function<Tensor()> closure(double sign = 1) const {
    return [*this, sign] {
      for (Tensor param : params) param.set_grad(Tensor());
      const Tensor value = sign * loss();
      value.backward();
      return value;
    };
  }
  Values values() const {
    Values all;
    for (const Tensor& param : params) {
      for (const double value : param.to_vector<double>()) all.push_back(value);
    }
    return all;
  }
};

Problem rosenbrock(Device device, DType dtype = DType::f64) {
  const Tensor x = tensor_of({-1.2, 1, -1.2, 1}, dtype).to(device).requires_grad_();
  return {{x}, [x] {
            const Tensor low = narrow(x, 0, 0, 3), high = narrow(x, 0, 1, 3);
            return sum(100 * square(high - square(low)) + square(1 - low));
          }};
}

Problem logistic(Device device) {
  Values points, classes;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 3; ++j) points.push_back((i * 5 + j * 3) % 7 - 3);
    classes.push_back(i * i % 5 % 2);
  }
  const Tensor x = tensor_of(points).reshape({12, 3}).to(device);
  const Tensor y = tensor_of(classes, DType::i64).to(device);
  const Tensor weight = zeros({2, 3}, {.dtype = DType::f64, .device = device}).requires_grad_();
  const Tensor bias = zeros({2}, {.dtype = DType::f64, .device = device}).requires_grad_();
  return {{weight, bias},
          [=] { return cross_entropy(linear(x, weight, bias), y) + 0.01 * sum(square(weight)); }};
}

Problem problem_named(const json& name, Device device) {
  return name == "rosenbrock" ? rosenbrock(device) : logistic(device);
}

LBFGSArguments lbfgs_options(const json& o) {
  LBFGSArguments options;
  options.lr = o.value("lr", options.lr);
  options.max_iter = o.value("max_iter", options.max_iter);
  if (o.contains("max_eval")) options.max_eval = o["max_eval"].get<std::int64_t>();
  options.history_size = o.value("history_size", options.history_size);
  if (o.contains("line_search_fn")) options.line_search_fn = LineSearch::strong_wolfe;
  options.maximize = o.value("maximize", false);
  return options;
}

using LBFGSOn = OnDevice;
HALFGRAD_ON_DEVICES(LBFGSOn);

// A line search divides differences of losses, so it loses half of the digits near a minimum.
TEST_P(LBFGSOn, TakesTheStepsOfPyTorch) {
  const json file = expected_values("lbfgs.json");
  EXPECT_EQ(file["runs"].size(), 7u);
  for (const json& run : file["runs"]) {
    const Problem problem = problem_named(run["problem"], device());
    const LBFGSArguments options = lbfgs_options(run["options"]);
    LBFGS optimizer(problem.params, options);
    for (std::size_t step = 0; step < run["losses"].size(); ++step) {
      const auto loss = optimizer.step(problem.closure(options.maximize ? -1 : 1));
      const double expected = run["losses"][step].get<double>();
      EXPECT_NEAR(loss.item(), expected, 0x1p-30 * std::max(1.0, std::abs(expected)))
          << run["problem"] << run["options"] << step;
      const Values values = problem.values(), row = numbers(run["params"][step]);
      for (std::size_t i = 0; i < row.size(); ++i) {
        EXPECT_NEAR(values[i], row[i], 0x1p-26) << run["problem"] << run["options"] << step;
      }
    }
    const ParamState& state = optimizer.state(problem.params[0]);
    EXPECT_EQ(state.at("n_iter").item(), run["n_iter"].get<double>()) << run["options"];
    EXPECT_EQ(state.at("func_evals").item(), run["func_evals"].get<double>()) << run["options"];
  }
}

TEST_P(LBFGSOn, FindsTheMinimumInFloat32) {
  const Problem problem = rosenbrock(device(), DType::f32);
  LBFGS optimizer(problem.params, {.line_search_fn = LineSearch::strong_wolfe});
  for (int step = 0; step < 8; ++step) optimizer.step(problem.closure());
  // Near its minimum the function is quadratic: a change of one roundoff moves it by the root.
  const double bound = 4 * std::sqrt(roundoff(kFloat));
  for (const double value : problem.values()) EXPECT_NEAR(value, 1, bound);
  EXPECT_EQ(optimizer.steps(), 8);
}

TEST_P(LBFGSOn, ContinuesFromACheckpoint) {
  const LBFGSArguments options{.max_iter = 4, .line_search_fn = LineSearch::strong_wolfe};
  const Problem problem = logistic(device()), copy = logistic(device());
  LBFGS optimizer(problem.params, options), other(copy.params, options);
  optimizer.step(problem.closure());
  io::Checkpoint checkpoint;
  checkpoint.write("optimizer", optimizer);
  for (std::size_t i = 0; i < copy.params.size(); ++i) {
    copy.params[i].array().copy_(problem.params[i].array());
  }
  checkpoint.read("optimizer", other);
  optimizer.step(problem.closure());
  other.step(copy.closure());
  EXPECT_EQ(copy.values(), problem.values());
}

// Parameters without a gradient stay; a loss without any gradient ends the step.
TEST_P(LBFGSOn, MovesOnlyWhatTheLossDependsOn) {
  Problem problem = rosenbrock(device());
  const Tensor unused = tensor_of({5}).to(device()).requires_grad_();
  problem.params.insert(problem.params.begin(), unused);
  LBFGS optimizer(problem.params, {.line_search_fn = LineSearch::strong_wolfe});
  for (int step = 0; step < 4; ++step) optimizer.step(problem.closure());
  EXPECT_EQ(unused.item(), 5);
  EXPECT_NEAR(problem.values()[1], 1, 1e-4);
  LBFGS idle({unused});
  EXPECT_EQ(idle.step([] { return tensor_of({3}); }).item(), 3);
  EXPECT_EQ(unused.item(), 5);
}

// Without pairs the direction is -g, scaled by the curvature of the last step.
TEST(LBFGS, KeepsAtMostHistorySizePairs) {
  const Problem problem = rosenbrock(Device());
  LBFGS optimizer(problem.params, {.line_search_fn = LineSearch::strong_wolfe});
  const double first = optimizer.step(problem.closure()).item();
  EXPECT_GT(optimizer.state(problem.params[0]).at("ro").numel(), 3);
  for (const std::int64_t size : {3, 0}) {  // shorter than the history that it loads
    LBFGS other(problem.params, {.history_size = size, .line_search_fn = LineSearch::strong_wolfe});
    other.load_state_dict(optimizer.state_dict());
    EXPECT_LE(other.step(problem.closure()).item(), first);
    EXPECT_EQ(other.state(problem.params[0]).at("ro").numel(), size);
  }
  LBFGS none(problem.params, {.history_size = 0});
  none.step(problem.closure());
  EXPECT_EQ(none.state(problem.params[0]).at("old_dirs").sizes(), (Shape{0, 4}));
}

TEST(LBFGS, NamesWhatItCannotDo) {
  const auto message = [](const auto& call) { return message_of<std::invalid_argument>(call); };
  const Tensor a = testing::parameter({1}), b = testing::parameter({1});
  const Tensor half = testing::parameter({1}, DType::f16);
  LBFGS optimizer({a});
  EXPECT_EQ(message([&] { optimizer.step(); }),
            "LBFGS: expected a closure that computes loss and gradients, got none");
  EXPECT_EQ(message([&] { optimizer.add_param_group({.params = {b}}); }),
            "LBFGS: expected one group of parameters, got a second one");
  EXPECT_EQ(message([&] { LBFGS({half}); }),
            "LBFGS: expected float32 or float64 parameters, got float16");
  EXPECT_EQ(message([&] { LBFGS({a}, {.max_iter = -1}); }),
            "LBFGS: expected max_iter >= 0, got -1");
  EXPECT_EQ(message([&] {
              optimizer.step([&] {
                a.set_grad(tensor_of({1}));
                a.set_data(tensor_of({1, 2}));
                return tensor_of({3});
              });
            }),
            "step: expected gradients of their parameters' shapes, got one of [1] for a parameter "
            "of [2]; call zero_grad() when the shape of a parameter changes");
  a.set_data(tensor_of({1}));
  a.set_grad(tensor_of({1}));
  EXPECT_EQ(message([&] { optimizer.step(StepControl{}); }),
            "LBFGS: expected step(closure) with an unscaled loss, got a GradScaler's step");
}

// Minimizes (t - 3)^2 and a function whose first trial is beyond its minimum.
TEST(StrongWolfe, EndsAtAPointThatSatisfiesBothConditions) {
  const auto search = [](const std::function<double(double)>& f, double first, int limit) {
    const auto evaluate = [&f](double t) -> detail::TrialPoint {
      return {t, f(t), Tensor(), (f(t + 1e-6) - f(t - 1e-6)) / 2e-6};
    };
    const detail::TrialPoint start = evaluate(0);
    const auto found = detail::strong_wolfe(evaluate, start, first, 1, 1e-9, limit);
    EXPECT_LE(found.point.loss, start.loss + 1e-4 * found.point.t * start.slope);
    EXPECT_LE(std::abs(found.point.slope), 0.9 * std::abs(start.slope));
    EXPECT_LE(found.evaluations, limit + 1);
    return found.point.t;
  };
  const auto parabola = [](double t) { return (t - 3) * (t - 3); };
  EXPECT_GT(search(parabola, 1e-3, 25), 0);
  EXPECT_NEAR(search(parabola, 100, 25), 3, 1e-6) << "a cubic finds the minimum of a parabola";
  search([](double t) { return std::exp(t) - 5 * t; }, 30, 25);
  search([](double t) { return -std::sin(t); }, 4, 25);
}

}  // namespace
}  // namespace halfgrad::optim
