#include <halfgrad/optim/reduce_lr_on_plateau.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/message_of.h>

#include "parameters.h"

namespace halfgrad::optim {
namespace {

using nlohmann::json;
using testing::expected_values;
using testing::number;
using testing::numbers;
using testing::parameter;

SGD two_rates() {
  return SGD({{.params = {parameter({0})}, .lr = 0.1}, {.params = {parameter({0})}, .lr = 0.02}});
}

ReduceLROnPlateauOptions plateau_options(const json& o) {
  ReduceLROnPlateauOptions options;
  options.factor = o.value("factor", options.factor);
  options.patience = o.value("patience", options.patience);
  options.threshold = o.value("threshold", options.threshold);
  options.cooldown = o.value("cooldown", options.cooldown);
  options.eps = o.value("eps", options.eps);
  if (o.value("mode", "min") == "max") options.mode = PlateauMode::max;
  if (o.value("threshold_mode", "rel") == "abs") options.threshold_mode = ThresholdMode::abs;
  if (!o.contains("min_lr")) return options;
  const json& least = o["min_lr"];
  options.min_lr = least.is_array() ? numbers(least) : std::vector{number(least)};
  return options;
}

// The state is saved and loaded once, in the middle.
TEST(ReduceLROnPlateau, SetsTheRatesOfPyTorch) {
  const json file = expected_values("plateau.json");
  const auto metrics = numbers(file["metrics"]);
  for (const json& run : file["runs"]) {
    SGD sgd = two_rates();
    ReduceLROnPlateau first(sgd, plateau_options(run["options"]));
    ReduceLROnPlateau second(sgd, plateau_options(run["options"]));
    for (std::size_t epoch = 0; epoch < metrics.size(); ++epoch) {
      if (epoch == 20) second.load_state_dict(first.state_dict());
      ReduceLROnPlateau& schedule = epoch < 20 ? first : second;
      schedule.step(metrics[epoch]);
      EXPECT_EQ(schedule.get_last_lr(), numbers(run["rates"][epoch]))
          << run["options"].dump() << ", epoch " << epoch;
    }
    EXPECT_EQ(second.last_epoch(), 60);
  }
}

TEST(ReduceLROnPlateau, NamesWhatDoesNotFit) {
  SGD sgd = two_rates();
  const auto message = [&sgd](const ReduceLROnPlateauOptions& options) {
    return message_of<std::invalid_argument>([&] { ReduceLROnPlateau(sgd, options); });
  };
  EXPECT_EQ(message({.factor = 1}), "ReduceLROnPlateau: expected factor < 1, got 1");
  EXPECT_EQ(message({.factor = testing::kNaN}), "ReduceLROnPlateau: expected factor < 1, got nan");
  EXPECT_EQ(message({.min_lr = {1, 2, 3}}),
            "ReduceLROnPlateau: expected 1 or 2 values of min_lr, got 3");
  ReduceLROnPlateau for_two(sgd, {.min_lr = {0.01, 0.02}});
  ReduceLROnPlateau for_all(sgd, {.patience = 0, .min_lr = {0.01}});
  sgd.add_param_group({.params = {parameter({0})}, .lr = 1});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { for_two.step(1); }),
            "ReduceLROnPlateau: expected 1 or 3 values of min_lr, got 2");
  for_all.step(1);
  for_all.step(1);
  EXPECT_EQ(for_all.get_last_lr(), (std::vector{0.1 * 0.1, 0.01, 0.1}));
}

}  // namespace
}  // namespace halfgrad::optim
