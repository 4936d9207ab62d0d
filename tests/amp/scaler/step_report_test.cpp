#include <halfgrad/amp/step_report.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/loss_scalers/loss_scalers.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/amp/training/trained.h>

namespace halfgrad::amp {
namespace {

struct TwoParameters {
  Tensor a = vector_of({1, 1}).requires_grad_();
  Tensor idle = vector_of({1}).requires_grad_();
  Tensor b = vector_of({1, 1, 1}).requires_grad_();
  optim::SGD optimizer{{a, idle, b}, {.lr = 1}};

  void set(const Values& first, const Values& second) {
    a.set_grad(vector_of(first));
    b.set_grad(vector_of(second));
  }
};

TEST(StepReport, HasTheFieldsOfEachStep) {
  GradScaler scaler = started({.init_scale = 4, .growth_interval = 2, .history = 8});
  TwoParameters model;
  model.set({12, 16}, {0, 0, 0});
  scaler.step(model.optimizer);
  scaler.update();

  model.set({12, 16}, {0, 0, 48});
  scaler.unscale_(model.optimizer);
  nn::utils::clip_grad_norm_({model.a, model.b}, 6.5);
  scaler.step(model.optimizer);
  scaler.update();

  model.set({1, 2}, {kNaN, 3, -kInfinite});
  scaler.step(model.optimizer);
  scaler.update();

  scaler.update(32.0);

  model.set({32, 0}, {0, 0, 0});
  scaler.unscale_(model.optimizer);
  scaler.update();

  const std::vector<StepReport> reports = scaler.reports();
  ASSERT_EQ(reports.size(), 5);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].step, static_cast<std::int64_t>(i));
    EXPECT_EQ(reports[i].optimizer, i == 3 ? -1 : 0);
  }
  const StepReport& plain = reports[0];
  EXPECT_TRUE(plain.applied());
  EXPECT_EQ(plain.event, ScaleEvent::none);
  EXPECT_EQ(plain.scale, 4);
  EXPECT_EQ(plain.next_scale, 4);
  EXPECT_EQ(plain.good_steps, 1);
  EXPECT_EQ(plain.nonfinite, 0);
  EXPECT_EQ(plain.first_bad_parameter, -1);
  EXPECT_EQ(plain.grad_norm, 5);
  EXPECT_EQ(plain.clip_factor, 1);

  const StepReport& clipped = reports[1];
  EXPECT_TRUE(clipped.applied());
  EXPECT_EQ(clipped.event, ScaleEvent::growth);
  EXPECT_EQ(clipped.next_scale, 8);
  EXPECT_EQ(clipped.grad_norm, 13);
  EXPECT_NEAR(clipped.clip_factor, 0.5, 1e-6 + 4 * roundoff(kFloat));  // 6.5 / (13 + 1e-6)

  const StepReport& skipped = reports[2];
  EXPECT_TRUE(skipped.skipped());
  EXPECT_EQ(skipped.event, ScaleEvent::backoff);
  EXPECT_EQ(skipped.scale, 8);
  EXPECT_EQ(skipped.next_scale, 4);
  EXPECT_EQ(skipped.nonfinite, 2);
  EXPECT_EQ(skipped.first_bad_parameter, 2);

  EXPECT_EQ(reports[3].event, ScaleEvent::set);
  EXPECT_EQ(reports[3].next_scale, 32);

  const StepReport& inspected = reports[4];
  EXPECT_FALSE(inspected.applied() || inspected.skipped());
  EXPECT_EQ(inspected.grad_norm, 1);
}

TEST(StepReport, OneForEachOptimizer) {
  GradScaler scaler = started({.init_scale = 4, .history = 4});
  Trained good({4}), bad({kInfinite});
  scaler.step(good.optimizer);
  scaler.step(bad.optimizer);
  scaler.update();
  const std::vector<StepReport> reports = scaler.reports();
  ASSERT_EQ(reports.size(), 2);
  EXPECT_EQ(reports[0].step, reports[1].step);
  EXPECT_EQ(reports[1].optimizer, 1);
  EXPECT_TRUE(reports[0].applied());
  EXPECT_TRUE(reports[1].skipped());
  EXPECT_EQ(reports[0].event, ScaleEvent::backoff);
}

TEST(StepReport, TheLastOnesAreKept) {
  GradScaler scaler = started({.init_scale = 4, .history = 3});
  EXPECT_TRUE(scaler.reports().empty());
  for (int step = 0; step < 8; ++step) {
    Trained trained({4.0 * step});
    scaler.step(trained.optimizer);
    scaler.update();
  }
  const std::vector<StepReport> reports = scaler.reports();
  ASSERT_EQ(reports.size(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reports[i].step, static_cast<std::int64_t>(5 + i));
    EXPECT_EQ(reports[i].grad_norm, static_cast<double>(5 + i));
  }
}

TEST(StepReport, LoadedOnesAreReadableBeforeTheFirstLoss) {
  const GradScalerOptions options{.init_scale = 4, .history = 3};
  GradScaler scaler = started(options);
  Trained trained({4});
  scaler.step(trained.optimizer);
  scaler.update();
  GradScaler resumed(options);
  resumed.load_state_dict(scaler.state_dict());
  resumed.load_records(scaler.records());
  EXPECT_EQ(resumed.counts().steps, 1);
  ASSERT_EQ(resumed.reports().size(), 1);
  EXPECT_EQ(explain(resumed.reports()[0]), explain(scaler.reports()[0]));
  resumed.scale(filled({}, 1));
  EXPECT_EQ(resumed.reports().size(), 1);
}

TEST(StepReport, AreKeptIfTheFirstLossFailed) {
  const Tensor loss = filled({}, 1);
  std::int64_t failures = 0;
  for (;; ++failures) {
    GradScaler scaler({.init_scale = 4, .history = 3});
    allocator::fail_allocation(loss.device(), failures + 1);
    const std::string failure = message_of([&] { scaler.scale(loss); });
    allocator::fail_allocation(loss.device(), 0);
    if (failure == "no error") break;
    Trained trained({4});
    scaler.scale(loss);
    scaler.step(trained.optimizer);
    scaler.update();
    EXPECT_EQ(scaler.reports().size(), 1) << "allocation " << failures + 1;
  }
  EXPECT_GT(failures, 0);
}

TEST(StepReport, NoHistoryByDefault) {
  GradScaler scaler = started();
  Trained trained({4});
  scaler.step(trained.optimizer);
  scaler.update();
  EXPECT_TRUE(scaler.reports().empty());
  EXPECT_TRUE(GradScaler({.enabled = false, .history = 4}).reports().empty());
  EXPECT_THROW(GradScaler({.history = -1}), std::invalid_argument);
}

std::optional<double> loss_after(GradScaler& scaler, const std::vector<Tensor>& losses) {
  scaler.scale(losses);
  Trained trained({4});
  scaler.step(trained.optimizer);
  scaler.update();
  return scaler.reports().back().loss;
}

TEST(StepReport, HasTheLossBeforeTheScale) {
  GradScaler scaler({.init_scale = 4, .history = 8});
  for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble}) {
    EXPECT_EQ(loss_after(scaler, {filled({}, 0.75, dtype)}), 0.75) << name(dtype);
  }
  EXPECT_EQ(loss_after(scaler, {filled({1}, 0.5), filled({}, 0.125, kDouble)}), 0.625)
      << "micro-batches add up";
  EXPECT_EQ(loss_after(scaler, {filled({}, 2), filled({3}, 1)}), 2) << "a vector is no loss";
  EXPECT_EQ(loss_after(scaler, {}), std::nullopt);
  EXPECT_TRUE(std::isnan(loss_after(scaler, {filled({}, kNaN)}).value()));
  EXPECT_EQ(loss_after(scaler, {filled({}, kInfinite)}), kInfinite);
  EXPECT_EQ(loss_after(scaler, {filled({}, 1)}), 1) << "the NaN before is forgotten";
}

TEST(StepReport, AbandonedIterationsLeaveNoLoss) {
  GradScaler scaler({.init_scale = 4, .history = 8});
  scaler.scale(filled({}, 100));
  scaler.abandon();
  EXPECT_EQ(loss_after(scaler, {filled({}, 1)}), 1);
}

TEST(StepReport, CountsParametersWithNonFiniteElements) {
  GradScaler scaler = started({.init_scale = 4, .history = 8});
  TwoParameters model;
  model.set({kNaN, kInfinite}, {0, 0, kInfinite});
  scaler.step(model.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.reports()[0].nonfinite, 3);
  EXPECT_EQ(scaler.reports()[0].nonfinite_parameters, 2);
}

TEST(StepReport, LoadsALogWithoutLosses) {
  const GradScalerOptions options{.init_scale = 4, .history = 3};
  GradScaler scaler(options);
  EXPECT_EQ(loss_after(scaler, {filled({}, 1)}), 1);
  auto records = scaler.records();
  records["log"] = records["log"].slice(1, 0, 13).contiguous();  // the columns of older releases
  for (const bool before_the_first_loss : {true, false}) {
    GradScaler resumed(options);
    if (!before_the_first_loss) resumed.scale(filled({}, 1));
    resumed.load_state_dict(scaler.state_dict());
    resumed.load_records(records);
    ASSERT_EQ(resumed.reports().size(), 1);
    StepReport expected = scaler.reports()[0];
    expected.loss = std::nullopt;
    EXPECT_EQ(explain(resumed.reports()[0]), explain(expected));
    EXPECT_EQ(loss_after(resumed, {filled({}, 2)}), 2);
    EXPECT_EQ(resumed.reports().back().step, 1);
  }
  records["log"] = records["log"].slice(1, 0, 12).contiguous();
  EXPECT_THROW(GradScaler(options).load_records(records), std::invalid_argument);
}

// The state machine, applied to the log of a run, reproduces every scale in it.
TEST(StepReport, ReplayReproducesEveryScale) {
  std::mt19937_64 random(5);
  for (const LossScaler& system : loss_scalers()) {
    SCOPED_TRACE(system.name);
    GradScalerOptions options = system.options;
    options.growth_interval = 3;
    options.history = 300;
    GradScaler scaler = started(options);
    for (int step = 0; step < 300; ++step) {
      const double value = random() % 4 == 0 ? kInfinite : 1;
      Trained trained({value});
      scaler.step(trained.optimizer);
      if (random() % 32 == 0) {
        scaler.update(16.0);
      } else {
        scaler.update();
      }
    }
    const std::vector<StepReport> reports = scaler.reports();
    ASSERT_EQ(reports.size(), 300);
    LossScale state = initial_scale(options);
    for (const StepReport& report : reports) {
      ASSERT_EQ(report.scale, state.scale) << explain(report);
      if (report.event == ScaleEvent::set) {
        state.scale = state.next_scale = report.next_scale;
      } else {
        const ScaleUpdate update = next(state, report.found_inf, options);
        ASSERT_EQ(report.event, update.event) << explain(report);
        state = update.state;
      }
      ASSERT_EQ(report.next_scale, state.scale) << explain(report);
      ASSERT_EQ(report.good_steps, state.good_steps);
      ASSERT_EQ(report.bad_steps, state.bad_steps);
    }
  }
}

}  // namespace
}  // namespace halfgrad::amp
