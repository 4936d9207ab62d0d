#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/async/async_training.h>

namespace halfgrad::amp {
namespace {

using optim::Optimizer;
using Point = optim::UpdateThread::Point;

TEST(AsyncGradScaler, UpdateInAStepFunctionThrows) {
  AsyncTraining training;
  training.backward();
  training.optimizer.step([&](Optimizer&) { training.scaler.update(); });
  EXPECT_NE(message_of<std::runtime_error>([&] {
              training.optimizer.synchronize();
            }).find("update: expected a call after the optimizer's step()"),
            std::string::npos);
  EXPECT_EQ(training.scaler.get_scale(), 4);
  training.backward();
  EXPECT_FALSE(training.step(false));  // works afterwards
}

TEST(AsyncGradScaler, UpdateWithoutACheckThrows) {
  AsyncTraining training;
  EXPECT_THROW(training.scaler.update(), std::runtime_error);  // nothing was scaled
  training.backward();
  training.scaler.update();
  EXPECT_THROW(training.optimizer.synchronize(), std::runtime_error);
  EXPECT_EQ(training.scaler.get_scale(), 4);
}

TEST(AsyncGradScaler, GetScaleInAStepFunctionIsThatOfItsGradients) {
  AsyncTraining training({.init_scale = 4, .growth_interval = 1});
  Values outside, inside, products;
  for (int k = 0; k < 4; ++k) {
    outside.push_back(training.scaler.get_scale());
    training.backward();
    training.optimizer.step([&](Optimizer& o) {
      inside.push_back(training.scaler.get_scale());
      training.scaler.step(o);
      products.push_back(training.scaler.scale(filled({}, 1)).item());
    });
    training.scaler.update();
  }
  training.optimizer.synchronize();
  EXPECT_EQ(outside, (Values{4, 4, 8, 16}));
  EXPECT_EQ(inside, outside);
  EXPECT_EQ(products, outside);
}

// scale() does not change the loss; a scaled loss is divided by get_scale() before update().
TEST(AsyncGradScaler, ReportedLossDoesNotDependOnTheScale) {
  AsyncTraining training({.init_scale = 0x1p16, .growth_interval = 2});
  for (int k = 0; k < 12; ++k) {
    const Tensor loss = sum(training.param * 3);
    const Tensor scaled = training.scaler.scale(loss);
    training.param.set_grad(vector_of({k % 3 == 0 ? kInfinite : 0}));
    EXPECT_EQ(loss.item(), 3);
    EXPECT_EQ(scaled.item() / training.scaler.get_scale(), 3);
    training.step(true);
  }
  EXPECT_NE(training.scaler.get_scale(), 0x1p16);
}

TEST(AsyncGradScaler, UpdateSetsANewScale) {
  for (const bool is_async : {false, true}) {
    AsyncTraining training({.init_scale = 4});
    Values scales;
    for (int k = 0; k < 4; ++k) {
      training.backward();
      training.optimizer.step([&](Optimizer& o) { training.scaler.step(o); }, is_async);
      k == 0 ? training.scaler.update(32, is_async) : training.scaler.update(is_async);
      scales.push_back(training.scaler.get_scale());
    }
    EXPECT_EQ(scales, is_async ? (Values{4, 32, 32, 32}) : (Values{32, 32, 32, 32}));
    EXPECT_THROW(training.scaler.update(0.0, is_async), std::invalid_argument);
  }
}

TEST(AsyncGradScaler, GradientsCarryTheirScale) {
  AsyncTraining training({.init_scale = 4});
  training.backward(0.5);
  training.scaler.update(64.0, /*is_async=*/false);  // before the step
  training.optimizer.step([&](Optimizer& o) { training.scaler.step(o); }, false);
  EXPECT_EQ(training.value(), 0.5);

  training.scaler.update(false);
  training.backward();
  training.scaler.update(8.0, false);
  EXPECT_THROW(training.scaler.scale(filled({}, 1)),
               std::runtime_error);  // the model holds gradients
  training.optimizer.step([&](Optimizer& o) { training.scaler.step(o); }, false);
  EXPECT_EQ(training.value(), -0.5);
}

TEST(AsyncGradScaler, GradientsOfTwoScalesDoNotMix) {
  AsyncTraining training({.init_scale = 4});
  training.backward();
  training.scaler.unscale_(training.sgd);
  training.backward();
  training.optimizer.accumulate();
  EXPECT_NE(message_of<std::runtime_error>([&] {
              training.optimizer.synchronize();
            }).find("expected gradients of scale 1, as those accumulated before, got scale 4"),
            std::string::npos);
}

TEST(AsyncGradScaler, PlainAndScaledGradientsDoNotMix) {
  AsyncTraining training({.init_scale = 4});
  const auto backward = [&](bool is_scaled) {
    const Tensor loss = sum(training.param);
    (is_scaled ? training.scaler.scale(loss) : loss).backward();
  };
  for (const bool scaled_first : {true, false}) {
    backward(true);
    training.step(/*is_async=*/false);  // from now on losses are expected to be scaled
    backward(scaled_first);
    backward(!scaled_first);
    const double before = training.value();
    const auto step = [&] { training.step(false); };
    EXPECT_NE(message_of<std::runtime_error>(step).find("scale() every loss"), std::string::npos);
    EXPECT_NE(message_of<std::runtime_error>([&] {
                training.optimizer.accumulate();
              }).find("scale() every loss"),
              std::string::npos);
    EXPECT_EQ(training.value(), before);
    training.param.set_grad({});
  }
}

TEST(AsyncGradScaler, ScaledGradientsDoNotReachThePlainStep) {
  AsyncTraining training;
  training.backward();
  training.optimizer.step();
  EXPECT_NE(message_of<std::runtime_error>([&] {
              training.optimizer.synchronize();
            }).find("expected gradients without a scale, got gradients 4 times too large"),
            std::string::npos);
  EXPECT_EQ(training.value(), 1);
}

// A plain GradScaler would find no gradients outside the step function.
TEST(AsyncGradScaler, ErrorOfAPlainScalerNamesTheStepToCall) {
  for (const bool enabled : {false, true}) {
    AsyncTraining training;
    GradScaler scaler({.init_scale = 4, .enabled = enabled});
    scaler.scale(sum(training.param)).backward();
    const std::string fix = "call AsyncOptimizer::step";
    EXPECT_TRUE(message_of([&] { scaler.step(training.sgd); }).ends_with(fix));
    if (enabled) {
      EXPECT_TRUE(message_of([&] { scaler.unscale_(training.sgd); }).ends_with(fix));
    }
    EXPECT_EQ(training.value(), 1);
  }
}

TEST(AsyncGradScaler, ClippingOnEitherThread) {
  for (const bool in_step_function : {false, true}) {
    AsyncTraining training({.init_scale = 4});
    training.backward(8);
    const auto clip = [&](Optimizer& sgd) {
      training.scaler.unscale_(sgd);
      nn::utils::clip_grad_value_(sgd.param_groups()[0].params, 0.25);
    };
    if (in_step_function) {
      training.optimizer.step(
          [&](Optimizer& sgd) {
            clip(sgd);
            training.scaler.step(sgd);
          },
          false);
    } else {
      clip(training.sgd);
      EXPECT_FALSE(training.scaler.step(training.sgd).skipped());
    }
    EXPECT_EQ(training.value(), 0.75);
    training.scaler.update();
    training.backward(kInfinite);
    EXPECT_TRUE(training.scaler.step(training.sgd).skipped());
    EXPECT_EQ(training.value(), 0.75);
  }
}

TEST(AsyncGradScaler, ClippingBeforeUnscaleThrows) {
  AsyncTraining training({.init_scale = 4});
  for (const bool micro_batches : {false, true}) {
    if (micro_batches) {
      training.backward(8);
      training.optimizer.accumulate();
    }
    training.backward(8);
    training.optimizer.step(
        [](Optimizer& sgd) { nn::utils::clip_grad_value_(sgd.param_groups()[0].params, 1); });
    EXPECT_NE(message_of<std::runtime_error>([&] {
                training.optimizer.synchronize();
              }).find("expected unscaled gradients"),
              std::string::npos);
  }
}

TEST(AsyncGradScaler, FailureInAStepFunctionLeavesItUsable) {
  AsyncTraining training({.init_scale = 4, .growth_interval = 1});
  for (const bool stepped : {false, true}) {
    training.backward();
    training.optimizer.step([&](Optimizer& o) {
      if (stepped) training.scaler.step(o);
      throw std::runtime_error("the disk is full");
    });
    training.scaler.update();
    training.backward();
    EXPECT_EQ(message_of<std::runtime_error>([&] { training.optimizer.step(); }),
              "the disk is full");
    EXPECT_FALSE(training.step(true));
  }
  training.optimizer.synchronize();
  EXPECT_EQ(training.value(), 1 - 3);
}

TEST(AsyncGradScaler, AbandonEndsAnIterationWithoutUpdate) {
  for (const bool in_step_function : {false, true}) {
    AsyncTraining training({.init_scale = 4, .growth_interval = 2});
    for (const bool stepped : {false, true}) {
      training.backward();
      EXPECT_THROW(training.optimizer.step(
                       [&](Optimizer& o) {
                         stepped ? void(training.scaler.step(o)) : training.scaler.unscale_(o);
                         if (in_step_function) training.scaler.abandon();
                         throw std::runtime_error("the disk is full");
                       },
                       /*is_async=*/false),
                   std::runtime_error);
      if (!in_step_function) training.scaler.abandon();
    }
    EXPECT_EQ(training.scaler.get_growth_tracker(), 0);
    training.backward();
    EXPECT_FALSE(training.step(false));
    EXPECT_EQ(training.scaler.get_scale(), 4);
    EXPECT_EQ(training.scaler.get_growth_tracker(), 1);
    EXPECT_EQ(training.value(), 1 - 2);
  }
  AsyncTraining disabled({.enabled = false});
  EXPECT_NO_THROW(disabled.scaler.abandon());
}

TEST(AsyncGradScaler, DisabledOnlyRunsTheOptimizersSteps) {
  int launches = 0;
  const auto thread = std::make_shared<optim::UpdateThread>([&](Point point, auto) {
    if (point == Point::launched) ++launches;
  });
  AsyncTraining training({.growth_factor = 0, .enabled = false}, thread);
  for (int k = 1; k <= 3; ++k) {
    const Tensor loss = sum(training.param);
    EXPECT_TRUE(training.scaler.scale(loss).is_same(loss));
    loss.backward();
    training.scaler.unscale_(training.sgd);
    training.optimizer.step([&](Optimizer& o) {
      training.scaler.unscale_(o);
      training.scaler.step(o);
    });
    training.scaler.update();
    training.scaler.update(8.0, false);
    training.scaler.set_growth_interval(5);
    EXPECT_EQ(training.scaler.get_growth_interval(true), 5);
    EXPECT_EQ(training.scaler.get_scale(), 1);
    EXPECT_TRUE(training.scaler.state_dict().empty());
    training.scaler.load_state_dict({});
    EXPECT_EQ(launches, k);  // only the optimizer's
  }
  training.optimizer.synchronize();
  EXPECT_EQ(training.value(), -2);
}

}  // namespace
}  // namespace halfgrad::amp
