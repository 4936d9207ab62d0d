// A schedule that is saved between two steps of its optimizer keeps the count of skipped steps.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/io/checkpoint.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/optim/parameters.h>

namespace halfgrad::io {
namespace {

using testing::give_grad;
using testing::parameter;

struct ScheduledTraining {
  Tensor param = parameter({1});
  optim::SGD sgd{{param}, {.lr = 1}};
  optim::ConstantLR hold{sgd, {.factor = 0.5, .total_iters = 2}};
  optim::SequentialLR schedule{
      sgd,
      {std::make_shared<optim::ConstantLR>(sgd, optim::ConstantLROptions{.factor = 0.5}),
       std::make_shared<optim::ExponentialLR>(sgd, optim::ExponentialLROptions{.gamma = 0.5})},
      {.milestones = {1}}};

  void step(const std::vector<double>& found_infs) {
    for (const double value : found_infs) {
      give_grad(param, {1});
      const Array found_inf = Array::full({}, value, kFloat);
      sgd.step(optim::StepControl{nullptr, &found_inf});
    }
  }
  Checkpoint checkpoint() const {
    Checkpoint all;
    all.write("optimizer", sgd);
    all.write("hold", hold);
    all.write("schedule", schedule);
    return all;
  }
  void restore(const Checkpoint& all) {
    all.read("optimizer", sgd);
    all.read("hold", hold);
    all.read("schedule", schedule);
  }
  void expect_epoch(std::int64_t epoch) {
    hold.step();
    schedule.step();
    EXPECT_EQ(hold.last_epoch(), epoch);
    EXPECT_EQ(schedule.last_epoch(), epoch);
  }
};

TEST(ResumedSchedule, CountsTheStepsBeforeTheCheckpoint) {
  const struct {
    const char* name;
    std::vector<double> before, after;  // found_inf of the steps before and after the checkpoint
    std::int64_t epoch;                 // expected epoch at the end
  } cases[] = {
      {"skipped |", {1}, {}, 0},           {"made |", {0}, {}, 1},
      {"skipped | skipped", {1}, {1}, 0},  {"skipped | made", {1}, {0}, 1},
      {"made | skipped", {0}, {1}, 1},     {"| skipped", {}, {1}, 0},
      {"skipped, made |", {1, 0}, {1}, 1}, {"none", {}, {}, 1},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    ScheduledTraining straight;
    straight.step(test.before);
    const Checkpoint saved = straight.checkpoint();
    straight.step(test.after);
    straight.expect_epoch(test.epoch);

    ScheduledTraining fresh, rolled_back;
    rolled_back.step({1, 0});
    for (ScheduledTraining* const resumed : {&fresh, &rolled_back}) {
      resumed->restore(saved);
      resumed->step(test.after);
      resumed->expect_epoch(test.epoch);
      EXPECT_EQ(resumed->schedule.get_last_lr(), straight.schedule.get_last_lr());
    }
  }
}

}  // namespace
}  // namespace halfgrad::io
