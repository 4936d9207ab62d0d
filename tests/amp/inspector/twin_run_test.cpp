#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/inspector/twin_run.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::amp {
namespace {

struct TwinCase {
  DType dtype = kHalf;
  double loss_factor = 1;  // makes the gradients small or large
  double init_scale = 1;
  bool low_too = true;  // false: both sides run in float32
  double dropout = 0.5;
};

// A regression with a new random batch in each step.
struct TwinTraining {
  TwinTraining(const TwinCase& options, bool low_precision)
      : model(nn::Linear(8, 16), nn::ReLU(), nn::Dropout(options.dropout), nn::Linear(16, 1)),
        optimizer(model.parameters(), {.lr = 0.1 / options.loss_factor}),
        scaler({.init_scale = options.init_scale, .enabled = low_precision}),
        options(options),
        is_low(low_precision && options.low_too) {}

  Tensor step() {
    const Tensor x = randn({32, 8}), y = randn({32, 1});
    optimizer.zero_grad();
    Tensor loss;
    {
      const Autocast autocast(default_device_type(), {.dtype = options.dtype, .enabled = is_low});
      loss = mul(nn::functional::mse_loss(model(x), y), options.loss_factor);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    return loss;
  }

  nn::Sequential model;
  optim::SGD optimizer;
  GradScaler scaler;
  TwinCase options;
  bool is_low;
};

TwinRun twins(const TwinCase& options, const TwinOptions& twin_options = {.steps = 4}) {
  return TwinRun(
      [&](bool low_precision) {
        const auto run = std::make_shared<TwinTraining>(options, low_precision);
        return TwinSide{NamedModel(run->model), [run](std::int64_t) { return run->step(); }};
      },
      twin_options);
}

TEST(TwinRun, IsExactForTwoFloat32Runs) {
  const TwinRun twin = twins({.low_too = false});
  EXPECT_EQ(twin.layers(), (std::vector<std::string>{"0", "1", "2", "3", ""}));
  ASSERT_EQ(twin.steps().size(), 4U);
  for (const TwinStep& step : twin.steps()) {
    EXPECT_EQ(step.loss.value(), step.low_loss.value());
    for (const TwinErrors& errors : step.layers) {
      for (const auto& error : {errors.activation, errors.gradient, errors.weight}) {
        EXPECT_EQ(error.value_or(0), 0) << "data, weights and dropout are the same";
      }
    }
    EXPECT_TRUE(step.layers[0].gradient && step.layers[0].weight && step.layers[2].activation);
    EXPECT_FALSE(step.layers[2].gradient || step.layers[2].weight) << "dropout has no parameters";
  }
  EXPECT_NE(twin.steps()[0].loss, twin.steps()[1].loss) << "each step draws new data";
  EXPECT_FALSE(twin.first_beyond(0));
}

TEST(TwinRun, ErrorsHaveTheSizeOfTheRoundoff) {
  double before = 0;
  for (const DType dtype : {kHalf, kBFloat16}) {
    const TwinRun twin = twins({.dtype = dtype, .init_scale = 1024, .dropout = 0});
    const TwinErrors& errors = twin.steps().front().layers.front();
    for (const double error : {errors.activation.value(), errors.gradient.value()}) {
      EXPECT_GT(error, roundoff(dtype) / 8);
      EXPECT_LT(error, roundoff(dtype) * 8);
      EXPECT_GT(error, before) << "bfloat16 has fewer bits";
    }
    EXPECT_LT(errors.weight.value(), errors.gradient.value()) << "the update is small";
    before = errors.activation.value();
  }
}

// float16 holds 1 and not 1 + 2^-11, which it rounds to the even neighbour 1.
TEST(TwinRun, MeasuresAKnownError) {
  const TwinRun twin(
      [](bool low_precision) {
        const nn::Linear model(1, 1, {.bias = false});
        model.weight.array().fill_(1 + 0x1p-11);
        const auto step = [=](std::int64_t) {
          const Autocast autocast(default_device_type(), {.enabled = low_precision});
          return model(ones({1, 1}));
        };
        return TwinSide{NamedModel(model), step};
      },
      {.steps = 1});
  EXPECT_EQ(twin.steps()[0].layers[0].activation, 0x1p-11 / (1 + 0x1p-11));
  EXPECT_EQ(twin.steps()[0].layers[0].weight, 0);
  EXPECT_FALSE(twin.steps()[0].layers[0].gradient) << "there was no backward pass";
}

TEST(TwinRun, FindsTheFirstLayerAndStepBeyondABound) {
  // Gradients of 1e-8 are flushed to zero without a scale; the forward pass is as exact as before.
  const TwinRun lost = twins({.loss_factor = 1e-8});
  const std::optional<TwinDeviation> first = lost.first_beyond(0.5);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step, 0);
  EXPECT_EQ(first->layer, "3") << "the backward pass begins with the last layer";
  EXPECT_EQ(first->quantity, TwinQuantity::gradient);
  EXPECT_EQ(lost.steps()[0].layers[0].gradient, 1) << "nothing is left of the gradient";
  EXPECT_EQ(explain(*first), "step 0: gradient of 3, relative error " +
                                 explain(*first).substr(explain(*first).rfind(' ') + 1));
  const TwinRun saved = twins({.loss_factor = 1e-8, .init_scale = 0x1p30});
  std::ostringstream text;
  text << saved;
  EXPECT_FALSE(saved.first_beyond()) << text.str();
  EXPECT_NE(text.str().find("No error is beyond 0.1."), std::string::npos);
}

TEST(TwinRun, AnOverflowIsAnInfiniteError) {
  const TwinRun twin = twins({.init_scale = 0x1p30});
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(twin.steps()[0].layers[0].gradient, infinite);
  EXPECT_EQ(twin.first_beyond(1e300)->error, infinite);
}

TEST(TwinRun, IsDeterministicAndLeavesTheGeneratorAsItWas) {
  const auto text = [] {
    std::ostringstream out;
    out << twins({}, {.steps = 3, .seed = 7, .bound = 1e-5});
    return out.str();
  };
  manual_seed(5);
  const RandomKey before = default_generator().get_state();
  const std::string first = text();
  EXPECT_EQ(default_generator().get_state().stream, before.stream);
  static_cast<void>(randn({3}));
  EXPECT_EQ(text(), first);
  EXPECT_NE(first.find("The first error beyond 1e-05 is in step 0: activation of 0,"),
            std::string::npos)
      << first;
}

TEST(TwinRun, RefusesSidesThatCannotBeCompared) {
  const auto linear = [](std::int64_t out) {
    const nn::Linear model(2, out);
    return TwinSide{NamedModel(model), [=](std::int64_t) { return model(ones({1, 2})).sum(); }};
  };
  EXPECT_THROW(TwinRun([&](bool low) { return linear(low ? 3 : 2); }), std::invalid_argument);
  EXPECT_THROW(TwinRun([&](bool) { return linear(2); }, {.steps = 0}), std::invalid_argument);
  EXPECT_THROW(TwinRun([](bool) { return TwinSide{}; }), std::invalid_argument);
  const auto batch = [&](bool low) {
    const nn::Linear model(2, 2);
    const Tensor x = ones({low ? 3 : 1, 2});
    const auto step = [=](std::int64_t) {
      static_cast<void>(model(x));
      return Tensor();
    };
    return TwinSide{NamedModel(model), step};
  };
  const auto other_op = [&](bool low) {
    const nn::Linear model(2, 2);
    const auto step = [=](std::int64_t) {
      const Tensor y = model(ones({1, 2}));
      return low ? y.mean() : y.sum();
    };
    return TwinSide{NamedModel(model), step};
  };
  EXPECT_NE(message_of([&] { TwinRun{other_op}; }).find("got 2 in (top level) with sum last"),
            std::string::npos)
      << message_of([&] { TwinRun{other_op}; });
  EXPECT_NE(message_of([&] { TwinRun{batch}; }).find("the activation of (top level)"),
            std::string::npos);
}

}  // namespace
}  // namespace halfgrad::amp
