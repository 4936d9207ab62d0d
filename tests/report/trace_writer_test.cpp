#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/async/async_optimizer.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/report/trace/trace_writer.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/folder.h>
#include <nlohmann/json.hpp>

#include "timeline.h"

namespace halfgrad::report {
namespace {

using nlohmann::json;

nn::Sequential make_model() {
  return nn::Sequential(nn::Linear(4, 4), nn::Sequential(nn::ReLU(), nn::Linear(4, 2)));
}

class Trace : public testing::Test {
 protected:
  tests::Folder folder_;
  std::filesystem::path file_ = folder_ / "trace.json";
};

TEST_F(Trace, HasSlicesThatOtherThreadsTimed) {
  using namespace std::chrono_literals;
  TraceWriter trace(file_);
  const auto start = std::chrono::steady_clock::now();
  std::jthread([&] { trace.slice("communication", "all_reduce", start, start + 3ms); }).join();
  trace.instant("later", "now");
  trace.write();
  const Timeline timeline(events_of(file_));
  ASSERT_EQ(timeline.names("communication"), std::vector<std::string>{"all_reduce"});
  const Slice& slice = timeline.slices.at("communication")[0];
  EXPECT_NEAR(slice.end - slice.start, 3000, 0.01) << "microseconds";
  EXPECT_GE(slice.start, 0);
  EXPECT_LT(slice.start, 60e6) << "since the trace was made";
}

TEST_F(Trace, HasForwardOpsInModulesAndBackwardOps) {
  const nn::Sequential model = make_model();
  {
    TraceWriter trace(file_, amp::NamedModel(model));
    const OpObserverGuard guard(trace);
    model(ones({3, 4})).sum().backward();
  }
  const Timeline line(events_of(file_));
  std::map<std::string, std::string> parents;
  for (const Slice& slice : line.slices.at("forward")) parents[slice.name] = slice.parent;
  EXPECT_EQ(line.names("forward"),
            (std::vector<std::string>{"linear", "0", "relu", "1.0", "linear", "1.1", "1", "sum"}));
  EXPECT_EQ(parents.at("1.0"), "1");
  EXPECT_EQ(parents.at("relu"), "1.0");
  EXPECT_EQ(parents.at("sum"), "");
  std::vector<std::string> backward;
  for (const Slice& slice : line.slices.at("backward")) {
    if (slice.parent.empty()) backward.push_back(slice.name);
  }
  EXPECT_EQ(backward, (std::vector<std::string>{"sum", "linear", "relu", "linear"}));
}

TEST_F(Trace, DrawsAnArrowFromEachOpToItsGradient) {
  {
    TraceWriter trace(file_);
    const OpObserverGuard guard(trace);
    ones({3}).requires_grad_().exp().sum().backward();
  }
  const json events = events_of(file_);
  const Timeline line(events);
  ASSERT_EQ(line.arrows.size(), 2U);
  std::set<std::string> names;
  for (const auto& [id, ends] : line.arrows) {
    const auto slice_at = [&](const json& end) -> std::string {
      for (const json& event : events) {
        if (event.at("ph") == "B" && event.at("tid") == end.at("tid") &&
            event.at("ts") == end.at("ts")) {
          return event.at("name");
        }
      }
      return "no slice";
    };
    const json &start = ends.at("s"), &finish = ends.at("f");
    EXPECT_EQ(line.tracks.at({start.at("pid"), start.at("tid")}), "forward");
    EXPECT_EQ(line.tracks.at({finish.at("pid"), finish.at("tid")}), "backward");
    EXPECT_EQ(slice_at(start), slice_at(finish));
    EXPECT_EQ(finish.at("bp"), "e");
    EXPECT_LT(start.at("ts"), finish.at("ts"));
    names.insert(slice_at(start));
  }
  EXPECT_EQ(names, (std::set<std::string>{"exp", "sum"}));
}

TEST_F(Trace, HasCountersStepsAndDecisionsOfTheScaler) {
  const nn::Linear model(4, 1);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  amp::GradScaler scaler({.init_scale = 1e38, .growth_interval = 1, .history = 8});
  {
    TraceWriter trace(file_, amp::NamedModel(model));
    const OpObserverGuard guard(trace);
    const auto watch = trace.watch(optimizer);
    for (int step = 0; step < 3; ++step) {
      optimizer.zero_grad();
      const Tensor loss = model(full({2, 4}, 100.0)).sum();
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
      trace.counter("loss", step == 2 ? std::numeric_limits<double>::quiet_NaN() : step);
      trace.end_step();
    }
    for (const amp::StepReport& report : scaler.reports()) trace.add(report);
    trace.scaler_update(2, 4, false);
  }
  const Timeline line(events_of(file_));
  EXPECT_EQ(line.names("optimizer"), (std::vector<std::string>(3, "SGD")));
  EXPECT_EQ(line.counters.at("loss"), (std::vector<double>{0, 1}));
  EXPECT_EQ(line.instants.at("counters"), (std::vector<std::string>{"loss is nan"}));
  EXPECT_GT(line.counters.at("memory").back(), 0);
  EXPECT_EQ(line.counters.at("scale").back(), 4);
  EXPECT_EQ(line.instants.at("scaler").front(), "skip");
  EXPECT_EQ(line.instants.at("scaler").at(1), "back-off");
  EXPECT_EQ(line.instants.at("scaler").back(), "growth");
}

TEST_F(Trace, AnotherThreadsStepsHaveATrackOfTheirOwn) {
  const nn::Linear model(4, 1);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  {
    TraceWriter trace(file_);
    const auto watch = trace.watch(optimizer);
    optim::AsyncOptimizer async(optimizer);
    model(ones({2, 4})).sum().backward();
    async.step();
    async.synchronize();
  }
  EXPECT_EQ(Timeline(events_of(file_)).names("optimizer, another thread"),
            (std::vector<std::string>{"SGD"}));
}

TEST_F(Trace, GroupsHaveTracksOfTheirOwn) {
  {
    TraceWriter trace(file_);
    const OpObserverGuard guard(trace);
    for (const char* name : {"fp32", "say \"fp16\"\n"}) {
      trace.begin_group(name, {});
      static_cast<void>(exp(ones({2})));
    }
  }
  const Timeline line(events_of(file_));
  ASSERT_EQ(line.processes.size(), 2U);
  EXPECT_EQ(line.processes.begin()->second, "fp32");
  EXPECT_EQ(line.processes.rbegin()->second, "say \"fp16\"\n");
  EXPECT_EQ(line.tracks.size(), 2U);
}

TEST_F(Trace, StepsEndTheSlicesOfModules) {
  const nn::Sequential model(nn::Linear(2, 2));
  {
    TraceWriter trace(file_, amp::NamedModel(model));
    const OpObserverGuard guard(trace);
    for (int step = 0; step < 2; ++step) {
      model(ones({1, 2}));
      trace.end_step();
    }
  }
  EXPECT_EQ(Timeline(events_of(file_)).names("forward"),
            (std::vector<std::string>{"linear", "0", "linear", "0"}));
}

TEST_F(Trace, LeavesOutOpsAboveTheLimit) {
  {
    TraceWriter trace(file_, {}, {.max_calls = 3});
    const OpObserverGuard guard(trace);
    for (int i = 0; i < 5; ++i) static_cast<void>(exp(ones({2})));
    trace.counter("loss", 1);
  }
  const Timeline line(events_of(file_));
  EXPECT_EQ(line.names("forward"), (std::vector<std::string>(3, "exp")));
  EXPECT_EQ(line.instants.at("forward").size(), 1U);
  EXPECT_EQ(line.counters.at("loss").size(), 1U);
}

TEST_F(Trace, ARunThatIsKilledLeavesTheLastWrite) {
  TraceWriter trace(file_, {}, {.write_every = std::chrono::milliseconds(0)});
  EXPECT_EQ(events_of(file_).size(), 0U);  // before any op
  const OpObserverGuard guard(trace);
  static_cast<void>(exp(ones({2})));
  trace.end_step();
  EXPECT_EQ(Timeline(events_of(file_)).names("forward"), (std::vector<std::string>{"exp"}));
}

TEST_F(Trace, RefusesAFileThatCannotBeWritten) {
  const std::filesystem::path missing = folder_ / "missing" / "trace.json";
  EXPECT_THROW(TraceWriter{missing}, files::WriteError);
  EXPECT_THROW(TraceWriter{folder_ / std::string()}, files::WriteError);
}

}  // namespace
}  // namespace halfgrad::report
