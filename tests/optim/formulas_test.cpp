#include <cmath>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/optim/make_optimizer.h>

#include "named_optimizer.h"
#include "parameters.h"

namespace halfgrad::optim {
namespace {

using nlohmann::json;
using testing::expected_values;
using testing::give_grad;
using testing::named_optimizer;
using testing::numbers;
using testing::options_from;
using testing::parameter;
using Values = std::vector<double>;

constexpr double kRoundoff = 0x1p-53;

void expect_near(const Tensor& actual, const Values& expected, double tolerance,
                 const std::string& what) {
  const Values values = actual.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", element " << i;
  }
}

// Every step loses a few roundoffs of the largest intermediate value.
TEST(Formulas, MatchPyTorchOverAGridOfOptions) {
  const json file = expected_values("optimizers.json");
  for (const json& run : file["runs"]) {
    ParamGroup group = options_from(run["options"]);
    Tensor param = parameter(numbers(file["start"]));
    group.params = {param};
    const auto optimizer = named_optimizer(run["optimizer"], group);
    const bool late = run.contains("late_gradient");
    for (std::size_t step = 0; step < run["params"].size(); ++step) {
      if (!late || step >= 2) give_grad(param, numbers(file["gradients"][step]));
      optimizer->step();
      expect_near(param, numbers(run["params"][step]), 32 * kRoundoff,
                  run["optimizer"].get<std::string>() + run["options"].dump() + " step " +
                      std::to_string(step));
    }
    EXPECT_GT(run["params"].size(), 0u);
  }
}

struct Golden {
  const char* name;
  MakeOptimizer make;
  Values steps[3];
};

std::vector<Golden> goldens() {
  const auto sgd = [](const SGDArguments& options) { return make<SGD>(options); };
  const auto adam = [](const AdamArguments& options) { return make<Adam>(options); };
  const auto adamw = [](const AdamWArguments& options) { return make<AdamW>(options); };
  return {
      {"sgd", sgd({.lr = .1}), {{.99, -1.98, .47}, {.95, -2.03, .53}, {1.02, -2.11, .44}}},
      {"sgd momentum",
       sgd({.lr = .1, .momentum = .9}),
       {{.99, -1.98, .47}, {.941, -2.012, .503}, {.9669, -2.1208, .4427}}},
      {"sgd dampening",
       sgd({.lr = .1, .momentum = .9, .dampening = .5}),
       {{.99, -1.98, .47}, {.961, -1.987, .473}, {.9699, -2.0333, .4307}}},
      {"sgd nesterov",
       sgd({.lr = .1, .momentum = .9, .nesterov = true}),
       {{.981, -1.962, .443}, {.8969, -2.0408, .5327}, {.99021, -2.21872, .38843}}},
      {"sgd weight decay",
       sgd({.lr = .1, .weight_decay = .1}),
       {{.98, -1.96, .465}, {.9302, -1.9904, .52035}, {.990898, -2.050496, .4251465}}},
      {"sgd weight decay maximize",
       sgd({.lr = .1, .weight_decay = .1, .maximize = true}),
       {{1.0, -2.0, .525}, {1.03, -1.93, .45975}, {.9497, -1.8307, .5451525}}},
      {"sgd all",
       sgd({.lr = .1, .momentum = .9, .weight_decay = .1, .nesterov = true, .maximize = true}),
       {{1.0, -2.0, .5475}, {1.057, -1.867, .4433475}, {.928217, -1.622827, .5711141475}}},
      {"adam",
       adam({.lr = .1}),
       {{.90000001, -1.900000005, .400000003333},
        {.811562363975, -1.94422153022, .436610355265},
        {.83193096338, -2.01630548788, .402286247766}}},
      {"adam weight decay",
       adam({.lr = .1, .weight_decay = .1}),
       {{.900000005, -1.9000000025, .400000002857},
        {.805788911442, -1.89264549309, .427611301447},
        {.807076770799, -1.93822525747, .387518294439}}},
      {"adam weight decay maximize",
       adam({.lr = .1, .weight_decay = .1, .maximize = true}),
       {{1.0, -2.0, .599999996},
        {1.07441367885, -1.92558631915, .554131867346},
        {1.03455335029, -1.84023204715, .580434999349}}},
      {"adam betas eps",
       adam({.lr = .1, .betas = {.5, .75}, .eps = 1e-2}),
       {{.909090909091, -1.90476190476, .403225806452},
        {.815158108429, -1.96980255517, .462719788404},
        {.866764280756, -2.06252576381, .408334650367}}},
      {"adamw",
       adamw({.lr = .1}),
       {{.89900001, -1.898000005, .399500003333},
        {.809663363965, -1.94032353021, .435710855262},
        {.829222300006, -2.01046716434, .400951036907}}},
      {"adamw amsgrad",
       adamw({.lr = .1, .weight_decay = .5, .amsgrad = true}),
       {{.85000001, -1.800000005, .375000003333},
        {.719062363475, -1.75422152997, .392860355099},
        {.703477844706, -1.73859441113, .338893229844}}},
      {"adamw maximize",
       adamw({.lr = .1, .maximize = true}),
       {{1.09899999, -2.097999995, .599499996667},
        {1.18633863603, -2.05168046979, .562290144738},
        {1.16478369799, -1.97754483166, .596051962093}}},
  };
}

// The goldens are given with 12 digits.
TEST(Formulas, MatchTheGoldens) {
  const Values gradients[] = {{.1, -.2, .3}, {.4, .5, -.6}, {-.7, .8, .9}};
  for (const Golden& golden : goldens()) {
    Tensor param = parameter({1, -2, .5});
    const auto optimizer = golden.make({param});
    for (std::size_t step = 0; step < 3; ++step) {
      give_grad(param, gradients[step]);
      optimizer->step();
      expect_near(param, golden.steps[step], 5e-12, golden.name);
    }
  }
}

TEST(Formulas, AmsgradKeepsTheLargestRawV) {
  const Values gradients[] = {{1, -2}, {.1, .2}, {.01, -.02}};
  const Golden cases[] = {
      {"adam",
       make<Adam>(AdamArguments{.lr = .1, .betas = {.5, .5}}),
       {{.900000001, -1.9000000005},
        {.831400568119, -1.85426704485},
        {.785003832151, -1.8228369975}}},
      {"adam amsgrad",
       make<Adam>(AdamArguments{.lr = .1, .betas = {.5, .5}, .amsgrad = true}),
       {{.900000001, -1.9000000005},
        {.851010206744, -1.86734013746},
        {.827576409728, -1.8514656297}}},
      {"adamw amsgrad",
       make<AdamW>(
           AdamWArguments{.lr = .1, .betas = {.5, .5}, .weight_decay = .1, .amsgrad = true}),
       {{.890000001, -1.8800000005},
        {.832110206734, -1.82854013746},
        {.80035530765, -1.79438022832}}},
  };
  for (const Golden& golden : cases) {
    Tensor param = parameter({1, -2});
    const auto optimizer = golden.make({param});
    for (std::size_t step = 0; step < 3; ++step) {
      give_grad(param, gradients[step]);
      optimizer->step();
      expect_near(param, golden.steps[step], 5e-12, golden.name);
    }
    const ParamState& state = optimizer->state(param);
    expect_near(Tensor(state.at("exp_avg_sq")), {.12755, .5102}, 4 * kRoundoff, golden.name);
    if (state.contains("max_exp_avg_sq")) {
      expect_near(Tensor(state.at("max_exp_avg_sq")), {.5, 2}, 0, golden.name);
    }
  }
}

TEST(Formulas, LeaveTheGradientAlone) {
  for (const Golden& golden : goldens()) {
    Tensor param = parameter({1, -2, .5});
    give_grad(param, {.1, -.2, .3});
    const auto optimizer = golden.make({param});
    optimizer->step();
    optimizer->step();
    expect_near(param.grad(), {.1, -.2, .3}, 0, golden.name);
  }
}

}  // namespace
}  // namespace halfgrad::optim
