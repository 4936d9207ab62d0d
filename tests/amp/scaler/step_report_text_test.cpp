#include <halfgrad/amp/step_report.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/inspector/parameter_names.h>
#include <halfgrad/tests/amp/training/trained.h>
#include <nlohmann/json.hpp>

// Reports as sentences, CSV and JSON.
namespace halfgrad::amp {
namespace {

const StepReport kApplied{
    .step = 3, .scale = 4, .next_scale = 4, .stepped = true, .good_steps = 2, .grad_norm = 0.1};

StepReport with(ScaleEvent event, double next_scale) {
  StepReport report = kApplied;
  report.event = event;
  report.next_scale = next_scale;
  return report;
}

StepReport bad(std::int64_t nonfinite, std::int64_t parameter) {
  StepReport report = with(ScaleEvent::backoff, 2);
  report.found_inf = true;
  report.nonfinite = nonfinite;
  report.first_bad_parameter = parameter;
  report.grad_norm = kInfinite;
  return report;
}

TEST(StepReport, Explanations) {
  StepReport inspected = bad(1, 0);
  inspected.stepped = false;
  StepReport second = kApplied;
  second.optimizer = 1;
  second.clip_factor = 0.5;
  StepReport held = bad(2, 7);
  held.event = ScaleEvent::tolerated;
  held.next_scale = 4;
  held.bad_steps = 1;
  StepReport nothing = with(ScaleEvent::set, 8);
  nothing.optimizer = -1;
  const std::pair<StepReport, const char*> cases[] = {
      {kApplied, "step 3: applied, gradient norm 0.1; the scale stays 4, good steps in a row: 2"},
      {second,
       "step 3: applied for optimizer 1, gradient norm 0.1 times 0.5 by clipping; the scale stays "
       "4, good steps in a row: 2"},
      {with(ScaleEvent::growth, 8),
       "step 3: applied, gradient norm 0.1; the scale grows from 4 to 8"},
      {with(ScaleEvent::limited, 4),
       "step 3: applied, gradient norm 0.1; the scale is held at 4 by its limit"},
      {bad(1, 0),
       "step 3: skipped, 1 element inf or NaN, the first in parameter 0; the scale backs off from "
       "4 to 2"},
      {bad(0, -1),
       "step 3: skipped, unscaling would overflow, or another rank found an inf or NaN; the scale "
       "backs off from 4 to 2"},
      {inspected,
       "step 3: checked, not stepped, 1 element inf or NaN, the first in parameter 0; the scale "
       "backs off from 4 to 2"},
      {held,
       "step 3: skipped, 2 elements inf or NaN, the first in parameter 7; the scale is held at 4 "
       "after 1 bad step in a row"},
      {nothing, "step 3: no gradients were checked; the scale is set from 4 to 8"},
  };
  for (const auto& [report, expected] : cases) EXPECT_EQ(explain(report), expected);
}

std::string last_sentence(const GradScaler& scaler) {
  const std::string text = explain(scaler.reports().back());
  return text.substr(text.find("; ") + 2);
}

// Every optimizer's report says it, after its own result.
TEST(StepReport, ExplainsWhyTheScaleIsHeld) {
  GradScaler tolerant = started({.init_scale = 4, .hysteresis = 2, .history = 4});
  Trained bad({kInfinite}), good({4});
  tolerant.step(bad.optimizer);
  tolerant.step(good.optimizer);
  tolerant.update();
  EXPECT_EQ(last_sentence(tolerant), "the scale is held at 4 after 1 bad step in a row");
  GradScaler lowest = started({.init_scale = 4, .min_scale = 4, .history = 4});
  lowest.step(bad.optimizer);
  lowest.update();
  EXPECT_EQ(last_sentence(lowest), "the scale is held at 4 by its limit");
}

TEST(StepReport, Csv) {
  const std::vector<StepReport> reports{kApplied, bad(1, 0)};
  std::ostringstream text;
  write_csv(text, reports);
  EXPECT_EQ(text.str(),
            "step,optimizer,scale,next_scale,found_inf,stepped,event,good_steps,bad_steps,"
            "nonfinite,first_bad_parameter,grad_norm,clip_factor,loss,nonfinite_parameters\n"
            "3,0,4,4,0,1,none,2,0,0,-1,0.10000000000000001,1,,0\n"
            "3,0,4,2,1,1,backoff,2,0,1,0,inf,1,,0\n");
}

TEST(StepReport, WritesLossesThatReadBackExactly) {
  StepReport report = kApplied;
  for (const double loss : {0.1, 1.0 / 3, 5e-324, 1e300, -0.0}) {
    report.loss = loss;
    std::ostringstream csv, json;
    write_csv(csv, {&report, 1});
    const std::string cells = csv.str().substr(0, csv.str().rfind(','));
    EXPECT_EQ(std::strtod(cells.c_str() + cells.rfind(',') + 1, nullptr), loss);
    write_json(json, {&report, 1});
    EXPECT_EQ(nlohmann::json::parse(json.str())[0]["loss"].get<double>(), loss);
  }
  report.loss = kNaN;
  std::ostringstream csv;
  write_csv(csv, {&report, 1});
  EXPECT_NE(csv.str().find(",nan,0"), std::string::npos) << "not as if there were none";
}

TEST(StepReport, SaysTheLossAndNamesParameters) {
  StepReport report = bad(3, 1);
  report.loss = 0.25;
  report.nonfinite_parameters = 2;
  EXPECT_EQ(
      explain(report, ParameterNames(std::vector<std::string>{"a.weight", "a.bias"})),
      "step 3: skipped, loss 0.25, 3 elements of 2 parameters inf or NaN, the first in a.bias; "
      "the scale backs off from 4 to 2");
  EXPECT_NE(explain(report, ParameterNames(std::vector<std::string>{"a.weight"}))
                .find("the first in parameter 1;"),
            std::string::npos);
}

TEST(StepReport, Json) {
  const std::vector<StepReport> reports{kApplied, bad(1, 0)};
  std::ostringstream text;
  write_json(text, reports);
  const auto json = nlohmann::json::parse(text.str());
  ASSERT_EQ(json.size(), 2);
  EXPECT_EQ(json[0]["grad_norm"], 0.1);
  EXPECT_EQ(json[0]["found_inf"], false);
  EXPECT_EQ(json[0].size(), 15);
  EXPECT_TRUE(json[0]["loss"].is_null());
  EXPECT_EQ(json[1]["event"], "backoff");
  EXPECT_TRUE(json[1]["grad_norm"].is_null());
  std::ostringstream none;
  write_json(none, {});
  EXPECT_EQ(none.str(), "[]\n");
}

}  // namespace
}  // namespace halfgrad::amp
