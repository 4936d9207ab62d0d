#include <halfgrad/report/run_report.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/optim.h>
#include <halfgrad/tests/folder.h>

namespace halfgrad::tests {
namespace {

using nlohmann::json;

/// A small network in mixed precision, whose scale begins far too high.
struct Training {
  explicit Training(std::int64_t history = 0, Device on = kCPU) : device(on) {
    manual_seed(3);
    model = nn::Sequential(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 2));
    model.to(device);
    optimizer.emplace(model.parameters(), optim::SGDArguments{.lr = 0.1});
    scaler.emplace(
        amp::GradScalerOptions{.init_scale = 0x1p24, .growth_interval = 5, .history = history});
  }

  Tensor step(std::int64_t index) {
    const Tensor x = (arange(64).view({8, 8}).to(kFloat) + static_cast<double>(index)) / 32.0;
    optimizer->zero_grad();
    Tensor loss;
    {
      const amp::Autocast autocast(device.type());
      loss = model(x.to(device)).to(kFloat).square().mean();
    }
    scaler->scale(loss).backward();
    scaler->step(*optimizer);
    scaler->update();
    return loss;
  }

  RunOptions options(std::int64_t every) const {
    return {.name = "net",
            .model = amp::NamedModel(model),
            .optimizers = {&*optimizer},
            .scaler = &*scaler,
            .every = every};
  }

  Device device;
  nn::Sequential model;
  std::optional<optim::SGD> optimizer;
  std::optional<amp::GradScaler> scaler;
};

json data_of(const RunReport& report) { return json::parse(report.json()); }

TEST(RunReport, TwoLinesRecordATraining) {
  const Folder folder;
  Training training(64);
  std::vector<float> losses;
  {
    RunReport report(folder / "run.html", training.options(4));
    for (std::int64_t i = 0; i < 20; ++i) {
      const Tensor loss = training.step(i);
      losses.push_back(static_cast<float>(loss.item()));
      report.step(loss);
    }
  }
  const json run = json::parse(contents(folder / "run.data.json")).at("runs").at(0);
  EXPECT_EQ(run["name"], "net");
  EXPECT_EQ(run["steps"]["loss"].get<std::vector<float>>(), losses);
  EXPECT_EQ(run["steps"]["total"], 20);

  // The changes of the scale are those of the scaler's own log.
  std::vector<std::string> causes, expected;
  for (const json& change : run["scale_changes"]) causes.push_back(change["cause"]);
  const amp::ParameterNames names(amp::NamedModel(training.model), {&*training.optimizer});
  for (const amp::ScalePoint& point :
       amp::ScaleTimeline(training.scaler->reports(), names).events())
    expected.push_back(point.text);
  EXPECT_EQ(causes, expected);
  EXPECT_GT(causes.size(), 5U);
  EXPECT_EQ(run["skipped"], training.scaler->counts().skipped_steps);

  // Steps 0, 4, 8, 12 and 16 are observed: every gradient entry is in one row of a histogram.
  ASSERT_EQ(run["exponents"].size(), 5U);
  EXPECT_EQ(run["exponents"][3]["step"], 12);
  EXPECT_EQ(run["exponents"][0]["scale"], 0x1p24);
  for (const json& sample : run["exponents"]) {
    std::int64_t total = 0;
    std::vector<std::string> names;
    for (const json& place : sample["places"]) {
      if (!place["parameter"]) continue;
      names.push_back(place["name"]);
      total += place["zeros"].get<std::int64_t>() + place["infinities"].get<std::int64_t>() +
               place["nans"].get<std::int64_t>();
      for (const json& count : place["unscaled"]["counts"]) total += count.get<std::int64_t>();
    }
    EXPECT_EQ(names, (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
    EXPECT_EQ(total, 8 * 16 + 16 + 16 * 2 + 2);
  }

  // Step 17 is the last that was timed: the one after an observed step.
  EXPECT_EQ(run["ops"]["step"], 16);
  EXPECT_EQ(run["costs"]["steps"], 5);
  std::int64_t linear_calls = 0, backward_calls = 0;
  for (const json& row : run["costs"]["rows"]) {
    if (row["op"] != "linear") continue;
    (row["backward"] ? backward_calls : linear_calls) += row["calls"].get<std::int64_t>();
  }
  EXPECT_EQ(linear_calls, 2 * 5);
  EXPECT_EQ(backward_calls, 2 * 5);
}

/// The causes of a run in which the gradient of 2.bias alone is inf.
std::vector<std::string> causes_of_a_bad_bias(bool is_told_the_optimizer) {
  const Folder folder;
  const nn::Sequential model(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 2));
  const std::vector<Tensor> all = model.parameters();
  // The optimizer counts the biases first: 2.bias is its parameter 1, the model's parameter 3.
  const std::vector<optim::ParamGroup> groups{{.params = {all[1], all[3]}},
                                              {.params = {all[0], all[2]}}};
  optim::SGD optimizer(groups, {.lr = 0.1});
  amp::GradScaler scaler({.init_scale = 4, .growth_interval = 2, .history = 8});
  RunOptions run{.model = amp::NamedModel(model), .scaler = &scaler, .every = 0};
  if (is_told_the_optimizer) run.optimizers = {&optimizer};
  RunReport report(folder / "run.html", run);
  for (int step = 0; step < 4; ++step) {
    for (const Tensor& parameter : all) parameter.set_grad(zeros(parameter.sizes()));
    if (step == 0) all[3].grad().select(0, 1).fill_(HUGE_VAL);
    scaler.scale(ones({1}).sum());
    scaler.step(optimizer);
    scaler.update();
    report.step(1.0);
  }
  std::vector<std::string> causes;
  const json data = data_of(report);
  for (const json& change : data["runs"][0]["scale_changes"]) causes.push_back(change["cause"]);
  return causes;
}

TEST(RunReport, NamesParametersInTheOrderOfTheOptimizer) {
  EXPECT_EQ(causes_of_a_bad_bias(true),
            (std::vector<std::string>{"skipped: 1 element of 2.bias is inf or NaN; 4 -> 2",
                                      "grew after 2 good steps: 2 -> 4"}));
  EXPECT_EQ(causes_of_a_bad_bias(false).front(),
            "skipped: 1 element of parameter 1 is inf or NaN; 4 -> 2");
}

TEST(RunReport, ChangesNoBitOfTheTraining) {
  const Folder folder;
  const auto weights = [&](bool is_reported) {
    Training training(is_reported ? 64 : 0);
    std::optional<RunReport> report;
    if (is_reported) report.emplace(folder / "run.html", training.options(3));
    for (std::int64_t i = 0; i < 30; ++i) {
      const Tensor loss = training.step(i);
      if (report) report->step(loss, 0.5);
    }
    std::vector<std::vector<float>> values;
    for (const Tensor& each : training.model.parameters()) {
      values.push_back(each.to_vector<float>());
    }
    return values;
  };
  EXPECT_EQ(weights(true), weights(false));
}

TEST(RunReport, WithoutAHistoryTheCountsTellTheChanges) {
  const Folder folder;
  const auto changes = [&](std::int64_t history) {
    Training training(history);
    RunReport report(folder / "run.html", training.options(100));
    for (std::int64_t i = 0; i < 40; ++i) report.step(training.step(i));
    std::vector<json> result;
    const json data = data_of(report);
    for (json change : data["runs"][0]["scale_changes"]) {
      change.erase("cause");
      result.push_back(change);
    }
    return result;
  };
  EXPECT_EQ(changes(0), changes(64));
}

/// Losses on another device are read together; none may be lost or change its place.
TEST(RunReport, LossesOfAnotherDeviceKeepTheirSteps) {
  const Folder folder;
  Training training(64, Device(kCPU, 1)), same(64);
  RunReport report(folder / "run.html", training.options(0));
  std::vector<float> losses;
  for (std::int64_t i = 0; i < 77; ++i) {
    report.step(training.step(i));
    losses.push_back(static_cast<float>(same.step(i).item()));
    if (i != 40) continue;
    EXPECT_EQ(data_of(report)["runs"][0]["steps"]["loss"].size(), 41U);
  }
  EXPECT_EQ(data_of(report)["runs"][0]["steps"]["loss"].get<std::vector<float>>(), losses);
  EXPECT_EQ(data_of(report)["runs"][0]["skipped"], same.scaler->counts().skipped_steps);
}

TEST(RunReport, SeveralRunsShareAPage) {
  const Folder folder;
  RunReport report(folder / "run.html");
  report.describe("Title & <b>", "command");
  for (const char* name : {"first", "second"}) {
    Training training;
    RunOptions options = training.options(1);
    options.name = name;
    options.score = "accuracy (%)";
    const RunScope scope(&report, options);
    for (std::int64_t i = 0; i < 3; ++i) report.step(training.step(i), 50);
    report.result("test accuracy (%)", 97.5);
  }
  const json data = data_of(report);
  ASSERT_EQ(data["runs"].size(), 2U);
  EXPECT_EQ(data["runs"][1]["name"], "second");
  EXPECT_EQ(data["runs"][1]["results"]["test accuracy (%)"], 97.5);
  EXPECT_NE(report.html().find("<title>Title &amp; &lt;b></title>"), std::string::npos);
}

/// Ops without a graph, such as an accuracy's, are not the step's.
TEST(RunReport, LeavesOutEvaluation) {
  const Folder folder;
  Training training;
  RunReport report(folder / "run.html", training.options(2));
  for (std::int64_t i = 0; i < 4; ++i) {
    const Tensor loss = training.step(i);
    const NoGradGuard no_grad;
    training.model(halfgrad::zeros({4, 8})).argmax(1);
    report.step(loss);
  }
  const json run = data_of(report)["runs"][0];
  for (const json& row : run["ops"]["rows"]) EXPECT_NE(row["op"], "argmax");
  for (const json& row : run["costs"]["rows"]) EXPECT_NE(row["op"], "argmax");
  EXPECT_FALSE(run["ops"]["rows"].empty());
  EXPECT_FALSE(run["costs"]["rows"].empty());
}

TEST(RunReport, AReplayTellsItsScale) {
  const Folder folder;
  RunReport report(folder / "run.html", {.name = "replay", .every = 0, .is_training = false});
  report.step(FinishedStep{.scale = 8, .next_scale = 4, .skipped = true});
  report.step(FinishedStep{.scale = 4, .next_scale = 4});
  report.step(FinishedStep{.loss = 2, .scale = 4, .next_scale = 8});
  const json run = data_of(report)["runs"][0];
  ASSERT_EQ(run["scale_changes"].size(), 2U);
  EXPECT_EQ(run["scale_changes"][0]["event"], "backoff");
  EXPECT_EQ(run["scale_changes"][1]["event"], "growth");
  EXPECT_EQ(run["steps"]["loss"], json({nullptr, nullptr, 2}));
  EXPECT_EQ(run["steps"]["nonfinite"], json({0, 0, 0}));
  EXPECT_EQ(run["device"], "");
}

TEST(RunReport, ALossThatIsNotFiniteIsCounted) {
  const Folder folder;
  RunReport report(folder / "run.html", RunOptions{});
  for (const double loss : {1.0, std::nan(""), HUGE_VAL}) report.step(loss);
  const json steps = data_of(report)["runs"][0]["steps"];
  EXPECT_EQ(steps["loss"], json({1, nullptr, nullptr}));
  EXPECT_EQ(steps["nonfinite"], json({0, 1, 1}));
}

}  // namespace
}  // namespace halfgrad::tests
