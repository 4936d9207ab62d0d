#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/amp/loss_scalers/loss_scalers.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/amp/training/trained.h>

namespace halfgrad::amp {
namespace {

struct TwoLayers {
  nn::Sequential model{nn::Linear(1, 2, {.bias = false}), nn::Linear(2, 1, {.bias = false})};
  optim::SGD optimizer{model.parameters(), {.lr = 0}};
  GradScaler scaler;

  explicit TwoLayers(const GradScalerOptions& options) : scaler(options) {}

  // One iteration with a gradient of the first layer whose elements are `gradient`.
  void step(const Values& gradient, double loss = 1) {
    scaler.scale(filled({}, loss));
    const std::vector<Tensor> parameters = model.parameters();
    parameters[0].set_grad(vector_of(gradient).reshape({2, 1}));
    parameters[1].set_grad(filled({1, 2}, gradient[0] == kNaN ? kNaN : 1));
    scaler.step(optimizer);
    scaler.update();
  }
};

std::vector<std::string> texts(const ScaleTimeline& timeline) {
  std::vector<std::string> texts;
  for (const ScalePoint& point : timeline.points()) texts.push_back(point.text);
  return texts;
}

TEST(ScaleTimeline, GivesACauseForEachEvent) {
  TwoLayers run({.init_scale = 65536, .growth_interval = 2, .max_scale = 65536, .history = 16});
  run.step({kInfinite, kNaN});
  run.step({1, 1});
  run.step({1, 1}, 0.5);
  run.step({1, 1});
  run.step({1, 1});
  run.step({kInfinite, 1}, kNaN);
  run.scaler.update(8.0);
  run.step({1, 1});
  const ScaleTimeline timeline(run.scaler.reports(), NamedModel(run.model));
  EXPECT_EQ(texts(timeline),
            (std::vector<std::string>{
                "skipped: 2 elements of 0.weight are inf or NaN; 65536 -> 32768", "",
                "grew after 2 good steps: 32768 -> 65536", "",
                "held at 65536 by its upper limit after 2 good steps",
                "skipped: the loss itself is nan, 1 element of 0.weight is inf or NaN; 65536 -> "
                "32768",
                "set by update(new_scale): 32768 -> 8", ""}));
  using enum ScaleCause;
  std::vector<ScaleCause> causes;
  for (const ScalePoint& point : timeline.points()) causes.push_back(point.cause);
  EXPECT_EQ(causes, (std::vector{gradient_not_finite, none, good_steps, none, good_steps,
                                 loss_not_finite, user, none}));
  EXPECT_EQ(timeline.points()[2].loss, 0.5);
  EXPECT_EQ(timeline.points()[6].loss, std::nullopt);
  EXPECT_EQ(timeline.events().size(), 5U);
  std::ostringstream text;
  text << timeline;
  EXPECT_EQ(text.str().substr(0, text.str().find('\n')),
            "steps 0 to 7: 2 skipped; the scale grew 1 time and backed off 2 times, from 65536 to "
            "8");
  EXPECT_NE(text.str().find("\nstep 2: grew after 2 good steps: 32768 -> 65536\n"),
            std::string::npos);
}

TEST(ScaleTimeline, SaysWhyABadStepDoesNotLowerTheScale) {
  TwoLayers run({.init_scale = 4, .min_scale = 2, .hysteresis = 2, .history = 16});
  for (int i = 0; i < 3; ++i) run.step({1, kInfinite});
  const std::string reason = "skipped: 1 element of 0.weight is inf or NaN; ";
  EXPECT_EQ(texts(ScaleTimeline(run.scaler.reports(), NamedModel(run.model))),
            (std::vector<std::string>{reason + "held at 4: hysteresis forgives bad step 1 in a row",
                                      reason + "4 -> 2", reason + "held at 2 by min_scale"}));
}

TEST(ScaleTimeline, NamesTheParametersOfEachOptimizer) {
  const auto model = nn::Sequential{nn::Linear(1, 1, {.bias = false}), nn::Linear(1, 1)};
  const std::vector<Tensor> parameters = model.parameters();
  optim::SGD first({parameters[0]}, {.lr = 0}), second({parameters[2], parameters[1]}, {.lr = 0});
  GradScaler scaler = started({.init_scale = 4, .history = 4});
  for (const Tensor& parameter : parameters) parameter.set_grad(filled(parameter.sizes(), 1));
  parameters[1].set_grad(filled({1, 1}, kNaN));
  scaler.step(first);
  scaler.step(second);
  scaler.update();
  const ParameterNames names(NamedModel(model), {&first, &second});
  const ScaleTimeline timeline(scaler.reports(), names);
  ASSERT_EQ(timeline.points().size(), 1U);
  EXPECT_EQ(timeline.points()[0].text,
            "skipped for optimizer 1: 1 element of 1.weight is inf or NaN; 4 -> 2");
  EXPECT_TRUE(timeline.points()[0].skipped);
  EXPECT_NE(explain(scaler.reports()[1], names).find("the first in 1.weight"), std::string::npos);
}

TEST(ScaleTimeline, CountsGoodStepsOnlyIfTheLogHasThem) {
  TwoLayers run({.init_scale = 4, .growth_interval = 3, .history = 1});
  for (int i = 0; i < 3; ++i) run.step({1, 1});
  EXPECT_EQ(texts(ScaleTimeline(run.scaler.reports())), std::vector<std::string>{"grew: 4 -> 8"});
}

// Each step that is skipped or changes the scale has a text, under the rules of all projects.
TEST(ScaleTimeline, ExplainsTheScalersOfOtherProjects) {
  for (const LossScaler& system : loss_scalers()) {
    SCOPED_TRACE(system.name);
    GradScalerOptions options = system.options;
    options.growth_interval = 3;
    options.history = 64;
    TwoLayers run(options);
    for (int i = 0; i < 40; ++i) run.step({i % 7 == 3 ? kInfinite : 1, 1});
    for (const ScalePoint& point : ScaleTimeline(run.scaler.reports()).points()) {
      const bool changed = point.scale != point.next_scale;
      EXPECT_EQ(point.is_event(), changed || point.skipped || point.event != ScaleEvent::none)
          << point.step;
      EXPECT_EQ(point.skipped, point.step % 7 == 3);
      EXPECT_EQ(point.cause == ScaleCause::gradient_not_finite, point.skipped);
    }
  }
}

TEST(ScaleTimeline, IsEmptyWithoutHistory) {
  TwoLayers run({.init_scale = 4});
  run.step({1, 1});
  const ScaleTimeline timeline(run.scaler.reports());
  EXPECT_TRUE(timeline.points().empty());
  EXPECT_NE(timeline.summary().find("GradScalerOptions::history"), std::string::npos);
}

}  // namespace
}  // namespace halfgrad::amp
