#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/json.h>

/// The same 50 training steps as PyTorch's, from the same weights and batches.
namespace halfgrad {
namespace {

using tests::Json;

Tensor tensor(const Json& json, DType dtype) {
  Shape sizes;
  for (const Json* level = &json; level->size() > 0; level = &(*level)[0]) {
    sizes.push_back(static_cast<std::int64_t>(level->size()));
  }
  return halfgrad::tensor(json.numbers(), sizes, {.dtype = dtype});
}

/// Linear layers with ReLU between them.
struct Network {
  std::vector<Tensor> parameters;  // weight and bias of each layer

  Network(const Json& data, DType dtype) {
    for (const Json& values : data["parameters"].items) {
      parameters.push_back(tensor(values, dtype));
      parameters.back().requires_grad_();
    }
  }
  Tensor operator()(Tensor x) const {
    for (std::size_t i = 0; i < parameters.size(); i += 2) {
      if (i > 0) x = relu(x);
      x = linear(x, parameters[i], parameters[i + 1]);
    }
    return x;
  }
  double sum_of_squares() const {
    double total = 0;
    for (const Tensor& parameter : parameters) {
      for (const double value : parameter.to_vector<double>()) total += value * value;
    }
    return total;
  }
};

std::unique_ptr<optim::Optimizer> make_optimizer(const Json& run, std::vector<Tensor> parameters) {
  const std::string& name = run["optimizer"].text;
  const Json& options = run["options"];
  const double lr = options["lr"].number;
  if (name == "adam")
    return std::make_unique<optim::Adam>(parameters, optim::AdamArguments{.lr = lr});
  if (name == "adamw") {
    return std::make_unique<optim::AdamW>(
        parameters,
        optim::AdamWArguments{.lr = lr, .weight_decay = options["weight_decay"].number});
  }
  return std::make_unique<optim::SGD>(
      parameters, optim::SGDArguments{.lr = lr,
                                      .momentum = options["momentum"].number,
                                      .weight_decay = options.get("weight_decay", 0),
                                      .nesterov = options.get("nesterov", 0) != 0});
}

void expect_relative(double got, double expected, double tolerance, const std::string& what) {
  EXPECT_LE(std::abs(got - expected), tolerance * std::abs(expected))
      << what << ": " << got << ", PyTorch " << expected;
}

void expect_trajectory(const std::string& file, DType dtype, double tolerance) {
  const Json data = tests::expected("trajectory_data.json");
  const Json expected = tests::expected(file);
  for (const Json& run : expected["runs"].items) {
    SCOPED_TRACE(run["optimizer"].text);
    const Network network(data, dtype);
    const auto optimizer = make_optimizer(run, network.parameters);
    const std::vector<double> losses = run["losses"].numbers();
    ASSERT_EQ(losses.size(), 50);
    for (std::size_t step = 0; step < losses.size(); ++step) {
      optimizer->zero_grad();
      const Tensor loss = cross_entropy(network(tensor(data["inputs"][step], dtype)),
                                        tensor(data["labels"][step], kLong));
      loss.backward();
      optimizer->step();
      expect_relative(loss.item(), losses[step], tolerance, "step " + std::to_string(step));
    }
    expect_relative(network.sum_of_squares(), run["sum_of_squares"].number, tolerance,
                    "sum of squares");
  }
}

TEST(Trajectory, Float32) { expect_trajectory("trajectory_f32.json", kFloat, 1e-5); }
TEST(Trajectory, Float64) { expect_trajectory("trajectory_f64.json", kDouble, 1e-10); }

// Losses agree within 2e-2: both libraries round activations to float16, but sum in different
// orders.
TEST(Trajectory, Float16WithGradScaler) {
  const Json data = tests::expected("trajectory_data.json");
  const Json expected = tests::expected("trajectory_amp.json");
  const Json& options = expected["scaler"];
  for (const Json& run : expected["runs"].items) {
    SCOPED_TRACE(run["optimizer"].text);
    const Network network(data, kFloat);
    const auto optimizer = make_optimizer(run, network.parameters);
    amp::GradScaler scaler(
        {.init_scale = options["init_scale"].number,
         .growth_factor = options["growth_factor"].number,
         .backoff_factor = options["backoff_factor"].number,
         .growth_interval = static_cast<std::int32_t>(options["growth_interval"].number)});
    const std::vector<double> losses = run["losses"].numbers();
    std::int64_t skipped_steps = 0;
    for (std::size_t step = 0; step < losses.size(); ++step) {
      optimizer->zero_grad();
      Tensor loss;
      {
        const amp::Autocast autocast(default_device_type());
        loss = cross_entropy(network(tensor(data["inputs"][step], kFloat)),
                             tensor(data["labels"][step], kLong));
      }
      scaler.scale(loss).backward();
      const bool skipped = scaler.step(*optimizer).skipped();
      scaler.update();
      skipped_steps += skipped ? 1 : 0;
      expect_relative(loss.item(), losses[step], 2e-2, "step " + std::to_string(step));
      EXPECT_EQ(skipped, run["skipped"][step].number != 0) << "step " << step;
      EXPECT_EQ(scaler.get_scale(), run["scales"][step].number) << "step " << step;
    }
    expect_relative(network.sum_of_squares(), run["sum_of_squares"].number, 2e-2, "sum of squares");
    EXPECT_EQ(scaler.counts().skipped_steps, skipped_steps);
    EXPECT_EQ(scaler.counts().steps, 50 - skipped_steps);
    EXPECT_GT(skipped_steps, 0);
  }
}

}  // namespace
}  // namespace halfgrad
