// Chapter 12: three runs in fp16 that collapse, each for another reason, and what the inspector
// says.
#include <cmath>
#include <cstdio>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/halfgrad.h>

#include "course.h"

namespace hg = halfgrad;

namespace {

constexpr std::int64_t kBatches = 8, kBatch = 16, kInputs = 8, kHidden = 16;

/// The data of all runs: 8 batches, used in turn. The fourth sample of batch 5 is all zeros.
struct Data {
  std::vector<hg::Tensor> x, y;

  Data() {
    hg::manual_seed(3);
    for (std::int64_t batch = 0; batch < kBatches; ++batch) {
      x.push_back(hg::rand({kBatch, kInputs}) * 2 - 1);
      y.push_back(x.back().sum(1, true));
    }
    x[5].select(0, 3).zero_();
  }
};

/// A model's op between its two layers.
enum class Middle : std::uint8_t { relu, square, unit_length, unit_length_repaired };

struct Net : hg::nn::Callable<Net> {
  explicit Net(Middle between)
      : first(kInputs, kHidden, {.bias = false}), last(kHidden, 1), middle(between) {
    register_module("first", first);
    register_module("last", last);
  }
  hg::Tensor forward(const hg::Tensor& x) const {
    const hg::Tensor h = first(x);
    switch (middle) {
      case Middle::relu:
        return last(hg::relu(h));
      case Middle::square:
        return last(h * h);
      case Middle::unit_length:  // each row of h divided by its length; 0.01 for rows of zeros
        return last(h / (hg::sqrt((h * h).sum(1, true)) + 0.01));
      case Middle::unit_length_repaired:
        return last(h / hg::sqrt((h * h).sum(1, true) + 1e-4));
    }
    return h;
  }

  hg::nn::Linear first, last;
  Middle middle;
};

struct Setting {
  std::string name;
  Middle middle;
  int steps;
  double lr, init_scale;
  bool fp16 = true;  ///< false: all in float32
};

/// The records of a run.
struct Diary {
  std::vector<hg::amp::StepReport> reports;
  std::string first_event;  // the first skip in words
  std::vector<double> losses;
  hg::amp::Overflow first;                 // the first skipped step's
  std::string log;                         // the ops of that step
  hg::amp::Recommendation recommendation;  // from the last step

  int first_skipped() const {
    for (const auto& report : reports) {
      if (report.skipped()) return static_cast<int>(report.step);
    }
    return -1;
  }
  int skipped() const {
    int count = 0;
    for (const auto& report : reports) count += report.skipped() ? 1 : 0;
    return count;
  }
  /// The mean of the last epoch's losses.
  double last_loss() const {
    return std::accumulate(losses.end() - kBatches, losses.end(), 0.0) / kBatches;
  }
};

Diary train(const Setting& setting) {
  const Data data;
  hg::manual_seed(4);
  Net model(setting.middle);
  const hg::amp::NamedModel named(model);
  hg::optim::SGD optimizer(model.parameters(), {.lr = setting.lr});
  hg::amp::GradScaler scaler({.init_scale = setting.init_scale, .history = setting.steps});
  Diary diary;
  for (int step = 0; step < setting.steps; ++step) {
    const auto batch = static_cast<std::size_t>(step % kBatches);
    const auto compute_loss = [&] {
      const hg::amp::Autocast autocast(hg::kCPU, {.enabled = setting.fp16});
      return hg::mse_loss(model(data.x[batch]), data.y[batch]);
    };
    const double scale = step == 0 ? setting.init_scale : scaler.get_scale();
    hg::amp::UnderflowLedger ledger(named);
    optimizer.zero_grad();
    {
      const hg::OpObserverGuard guard = ledger.observe(scale);
      const hg::Tensor loss = compute_loss();
      diary.losses.push_back(loss.item());
      scaler.scale(loss).backward();
    }
    if (scaler.step(optimizer).skipped() && !diary.first) {
      diary.first = hg::amp::find_overflow(named, compute_loss, {.scale = scale});
      hg::amp::OpLog log(named);
      const hg::OpObserverGuard guard(log);
      static_cast<void>(compute_loss());
      std::ostringstream text;
      text << log;
      diary.log = text.str();
    }
    scaler.update();
    if (step + 1 == setting.steps) diary.recommendation = ledger.recommend();
  }
  diary.reports = scaler.reports();
  const hg::amp::ScaleTimeline timeline(diary.reports,
                                        hg::amp::ParameterNames(named, {&optimizer}));
  for (const hg::amp::ScalePoint& point : timeline.events()) {
    if (point.skipped && diary.first_event.empty()) diary.first_event = point.text;
  }
  return diary;
}

std::string word(hg::amp::OverflowCause cause) {
  switch (cause) {
    case hg::amp::OverflowCause::scale_too_high:
      return "scale_too_high";
    case hg::amp::OverflowCause::forward:
      return "forward";
    case hg::amp::OverflowCause::backward:
      return "backward";
    case hg::amp::OverflowCause::none:
      break;
  }
  return "none";
}

course::Series investigate(course::Chapter& chapter, const Setting& setting) {
  const Diary diary = train(setting);
  std::printf("Run %s:\n", setting.name.c_str());
  std::printf("step %d: %s\n", diary.first_skipped(), diary.first_event.c_str());
  std::printf("%s\n", explain(diary.first).c_str());
  chapter.fact(setting.name + "_first_skipped", diary.first_skipped());
  chapter.fact(setting.name + "_skipped", diary.skipped());
  chapter.fact(setting.name + "_last_scale", diary.reports.back().next_scale);
  chapter.fact(setting.name + "_cause", word(diary.first.cause));
  chapter.fact(setting.name + "_op", diary.first.op);
  chapter.fact(setting.name + "_what", diary.first.what);
  if (diary.first.safe_scale) chapter.fact(setting.name + "_safe_scale", *diary.first.safe_scale);
  chapter.fact(setting.name + "_recommended", diary.recommendation.scale);
  chapter.fact(setting.name + "_last_loss", diary.last_loss());
  std::printf("%s\n", diary.log.c_str());
  course::Series series{.name = setting.name};
  for (const auto& report : diary.reports) {
    series.x.push_back(static_cast<double>(report.step));
    series.y.push_back(report.scale);
  }
  return series;
}

// Prints how a run goes whose cause was removed.
void repaired(course::Chapter& chapter, const Setting& setting) {
  const Diary diary = train(setting);
  chapter.fact(setting.name + "_repaired_skipped", diary.skipped());
  chapter.fact(setting.name + "_repaired_loss", diary.last_loss());
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(
      argc, argv, {.slug = "12_debugging", .does = "Finds out why three runs in fp16 collapse."});
  return chapter.run([&] {
    const Setting one{"one", Middle::relu, 160, 0.05, 0x1p40};
    const Setting two{"two", Middle::square, 100, 0.9, 16};
    const Setting three{"three", Middle::unit_length, 160, 0.05, 1024};
    std::vector<course::Series> scales;
    for (const Setting& setting : {one, two, three}) {
      scales.push_back(investigate(chapter, setting));
    }
    std::printf("The three runs without their causes:\n");
    repaired(chapter, {"one", one.middle, one.steps, one.lr, 65536});
    repaired(chapter, {"two", two.middle, two.steps, 0.1, two.init_scale});
    repaired(chapter,
             {"three", Middle::unit_length_repaired, three.steps, three.lr, three.init_scale});
    const Diary in_fp32 = train({"two", two.middle, 40, two.lr, 1, false});
    chapter.fact("two_fp32_last_loss", in_fp32.losses.back());
    chapter.picture("scales",
                    course::line_chart({.title = "The loss scale of three runs",
                                        .x = {.label = "step"},
                                        .y = {.label = "scale", .scale = course::Scale::log2}},
                                       scales));
  });
}
