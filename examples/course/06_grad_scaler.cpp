// Chapter 6, the GradScaler's state machine: a trace of twenty steps to follow by hand, a training
// that looks for its scale, and the machines of other systems.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/amp/loss_scalers/loss_scalers.h>
#include <halfgrad/amp/loss_scalers/replay.h>
#include <halfgrad/amp/scale_update.h>
#include <halfgrad/halfgrad.h>

#include "06_grad_scaler/diagram.h"
#include "course.h"
namespace hg = halfgrad;

namespace {

/// Scales in tables: 65536 and not 2^16, since the reader divides and compares them.
std::string text_of(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return std::isnan(x) ? "nan" : text;
}

/// The gradients of one weight in twenty steps. 65504 is fp16's largest value, so a step overflows
/// if gradient * scale is more.
const std::vector<double> kGradients = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
                                        0.5, 0.5, 3,   3,   3,   0.1, 0.1, 0.1, NAN, 0.1};

/// Runs a GradScaler on one weight, whose gradient in step i is kGradients[i], prints each step,
/// and compares the reports with the pure function amp::next().
void show_trace(course::Chapter& chapter) {
  const hg::amp::GradScalerOptions options{
      .init_scale = 32768, .growth_interval = 4, .history = 20};
  hg::amp::GradScaler scaler(options);
  const hg::Tensor weight = hg::ones({1}).requires_grad_();
  hg::optim::SGD optimizer({weight}, {.lr = 0.01});
  hg::amp::LossScale state = hg::amp::initial_scale(options);

  std::printf("step  gradient   scale  in fp16  found_inf  weight  good  event    next scale\n");
  for (std::size_t step = 0; step < kGradients.size(); ++step) {
    optimizer.zero_grad();
    const hg::Tensor copy = weight.to(hg::kHalf);  // as autocast makes it
    const hg::Tensor loss = copy.to(hg::kFloat32) * kGradients[step];
    scaler.scale(loss).backward();
    const double in_fp16 = weight.grad().item();
    scaler.step(optimizer);
    scaler.update();

    const hg::amp::StepReport report = scaler.reports().back();
    const hg::amp::ScaleUpdate expected = hg::amp::next(state, report.found_inf, options);
    state = expected.state;
    if (report.next_scale != state.scale || report.good_steps != state.good_steps) {
      throw std::logic_error("trace: the scaler and amp::next() differ");
    }
    std::printf("%4zu  %8s  %6s  %7s  %9d  %6.3f  %4d  %-7s  %10s\n", step + 1,
                text_of(kGradients[step]).c_str(), text_of(report.scale).c_str(),
                text_of(in_fp16).c_str(), report.found_inf ? 1 : 0, weight.item(),
                report.good_steps, std::string(hg::amp::name(report.event)).c_str(),
                text_of(report.next_scale).c_str());
  }
  std::printf("\n");
  int first_growth = 0, first_skip = 0;
  for (const hg::amp::StepReport& report : scaler.reports()) {
    const int number = static_cast<int>(report.step) + 1;
    if (report.event == hg::amp::ScaleEvent::growth && first_growth == 0) first_growth = number;
    if (report.skipped() && first_skip == 0) first_skip = number;
  }
  const hg::amp::GradScalerCounts counts = scaler.counts();
  chapter.fact("first_growth", first_growth);
  chapter.fact("first_skip", first_skip);
  chapter.fact("skipped", static_cast<double>(counts.skipped_steps));
  chapter.fact("growths", static_cast<double>(counts.growths));
  chapter.fact("backoffs", static_cast<double>(counts.backoffs));
  chapter.fact("last_scale", scaler.get_scale());
}

struct Timeline {
  std::vector<double> steps, scales;
  int skipped = 0, skipped_at_start = 0;
  double learnt = 0;
};

/// Trains on the small answers of chapter 4 with a scale that is far too large at first.
Timeline find_scale(int steps) {
  hg::manual_seed(1);
  const hg::Tensor teacher = hg::randn({4, 256});
  const hg::Tensor x = hg::rand({256, 4}) * 2 - 1;
  const hg::Tensor target = hg::tanh(hg::matmul(x, teacher)) * 5e-4;
  const hg::nn::Linear last(64, 256);
  hg::nn::init::zeros_(last.weight);
  hg::nn::init::zeros_(last.bias);
  auto model = hg::nn::Sequential(hg::nn::Linear(4, 64), hg::nn::ReLU(), last);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-4, .eps = 1e-12});
  hg::amp::GradScaler scaler({.init_scale = 0x1p44, .growth_interval = 8, .history = 1});
  Timeline timeline;
  double first_loss = 0, last_loss = 0;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(hg::kCPU);
      loss = hg::mse_loss(model(x), target);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    const hg::amp::StepReport report = scaler.reports().back();
    timeline.steps.push_back(step + 1);
    timeline.scales.push_back(std::log2(report.scale));
    if (report.skipped() && timeline.skipped == step) ++timeline.skipped_at_start;
    timeline.skipped += report.skipped() ? 1 : 0;
    (step == 0 ? first_loss : last_loss) = loss.item();
  }
  timeline.learnt = 100 * (1 - last_loss / first_loss);
  return timeline;
}

void show_timeline(course::Chapter& chapter) {
  const Timeline timeline = find_scale(chapter.steps());
  std::printf("\nSmall answers, first scale 2^44, growth interval 8:\n");
  chapter.fact("skipped_at_start", timeline.skipped_at_start);
  chapter.fact("skipped_later", timeline.skipped - timeline.skipped_at_start);
  const auto first_good = static_cast<std::size_t>(timeline.skipped_at_start);
  chapter.fact("scale_after_start", std::exp2(timeline.scales[first_good]));
  chapter.fact("wasted_percent", 100.0 / (hg::amp::GradScalerOptions().growth_interval + 1));
  chapter.fact("learnt", std::round(timeline.learnt));
  chapter.picture(
      "timeline",
      course::line_chart(
          {.title = "The scale of each step",
           .x = {.label = "step", .low = 0, .high = static_cast<double>(chapter.steps())},
           .y = {.label = "k, for the scale 2^k"}},
          {{.name = "scale", .x = timeline.steps, .y = timeline.scales}}));
}

/// Steps that different systems waste on the same trace of overflows.
void show_other_systems(course::Chapter& chapter) {
  std::printf("\n10,000 steps in which 2^10 is the largest scale without overflow: wasted steps\n");
  const hg::amp::OverflowTrace too_high(10000, 0x1p10);
  hg::amp::OverflowTrace rare(20000, 0x1p16);  // every 1000th step has a NaN
  for (std::size_t step = 999; step < rare.size(); step += 1000) rare[step] = NAN;
  chapter.fact("systems", static_cast<double>(hg::amp::loss_scalers().size()));
  const struct {
    const char *name, *fact;
  } systems[] = {{"PyTorch", "pytorch"}, {"Megatron-LM", "megatron"}, {"flax", "flax"}};
  for (const auto& [name, fact] : systems) {
    const hg::amp::GradScalerOptions options = hg::amp::loss_scaler(name).options;
    chapter.fact(std::string("wasted_") + fact,
                 static_cast<double>(replay(options, too_high).wasted));
    chapter.fact(std::string("rare_") + fact, replay(options, rare).final_scale);
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(argc, argv,
                          {.slug = "06_grad_scaler",
                           .does = "Follows the state machine of a GradScaler, step by step.",
                           .steps = 160});
  return chapter.run([&] {
    chapter.picture("states", state_diagram());
    show_trace(chapter);
    show_timeline(chapter);
    show_other_systems(chapter);
  });
}
