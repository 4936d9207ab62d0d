#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/training/trained.h>

/// Counters and logs that a checkpoint saves.
namespace halfgrad::amp {
namespace {

// A scaler after five iterations, the last of which skipped its step.
GradScaler after_five(std::int64_t history) {
  GradScaler scaler = started({.init_scale = 4, .history = history});
  for (const double gradient : {1.0, 2.0, 3.0, 4.0, kInfinite}) {
    Trained trained({gradient});
    scaler.step(trained.optimizer);
    scaler.update();
  }
  return scaler;
}

TEST(GradScaler, RecordsOfAnyHistoryFit) {
  const auto steps = [](const GradScaler& scaler) {
    Values steps;
    for (const StepReport& report : scaler.reports()) {
      EXPECT_EQ(report.found_inf, report.step == 4) << "a row of another step";
      steps.push_back(static_cast<double>(report.step));
    }
    return steps;
  };
  for (const std::int64_t saved : {2, 3, 5, 8}) {
    const GradScaler scaler = after_five(saved);
    for (const std::int64_t history : {0, 1, 2, 3, 4, 9}) {
      for (const bool live : {false, true}) {
        GradScaler resumed({.init_scale = 4, .history = history});
        if (live) resumed.scale(filled({}, 1));
        resumed.load_records(scaler.records());
        EXPECT_EQ(resumed.counts().skipped_steps, 1);
        Values expected;
        for (std::int64_t step = 5 - std::min({history, saved, std::int64_t{5}}); step < 5;
             ++step) {
          expected.push_back(static_cast<double>(step));
        }
        EXPECT_EQ(steps(resumed), expected) << saved << " reports into " << history;
        if (history == 0) continue;
        if (!live) resumed.scale(filled({}, 1));
        Trained trained({1});
        resumed.step(trained.optimizer);
        resumed.update();
        expected.push_back(5);
        if (std::ssize(expected) > history) expected.erase(expected.begin());
        EXPECT_EQ(steps(resumed), expected) << saved << " reports into " << history;
      }
    }
  }
}

TEST(GradScaler, BadRecordsChangeNothing) {
  const GradScaler scaler = after_five(3);
  const std::map<std::string, Array> good = scaler.records();
  GradScaler resumed = after_five(3);
  const auto load = [&](const std::string& name, const Array& array) {
    std::map<std::string, Array> records = good;
    records[name] = array;
    const std::string message =
        message_of<std::invalid_argument>([&] { resumed.load_records(records); });
    EXPECT_EQ(message_of([&] { resumed.check_records(records); }), message);
    return message;
  };
  const auto changed_log = [&](std::int64_t row, std::int64_t column, double value) {
    const Array log = good.at("log").clone();
    log.select(0, row).select(0, column).fill_(value);
    return load("log", log);
  };
  const std::string expected = "load_records: expected ";
  for (const double bad : {-3.0, 0.5, 1e300, kNaN, kInfinite}) {
    for (const std::int64_t column : {0, 1, 4, 5, 6, 7, 8, 9, 10, 14, 15}) {
      const std::string message = changed_log(0, column, bad);
      if (column == 7 && bad == -3) continue;  // the good steps of some rules start below 0
      EXPECT_TRUE(message.starts_with(expected)) << column << " " << bad << ": " << message;
    }
    for (const std::int64_t column : {0, 1, 3}) {
      const std::string message = changed_log(3, column, bad);
      EXPECT_TRUE(message.starts_with(expected)) << column << " " << bad << ": " << message;
    }
  }
  EXPECT_EQ(changed_log(0, 6, 6), expected + "event of the log to be an integer in [0, 5], got 6");
  EXPECT_EQ(load("log", Array::full({4, 12}, 0, kDouble)),
            expected + "a \"log\" of float64 [history + 1, 16], got float64 [4, 12]");
  EXPECT_EQ(load("log", Array::full({1, 16}, 0, kDouble)),
            expected + "a \"log\" of float64 [history + 1, 16], got float64 [1, 16]");
  EXPECT_EQ(load("counters", Array::full({4}, 1, kDouble)),
            expected + "\"counters\" of int64 [4], got float64 [4]");
  EXPECT_EQ(load("counters", Array::full({4}, -1, kInt64)), expected + "counters >= 0, got -1");
  EXPECT_EQ(load("loss", Array::full({}, 1, kDouble)),
            expected + "\"counters\" and \"log\", got \"loss\"");
  EXPECT_EQ(resumed.reports().size(), 3);
  EXPECT_EQ(resumed.reports().back().step, 4);
  EXPECT_EQ(resumed.counts().steps, 4);
}

}  // namespace
}  // namespace halfgrad::amp
