// Chapter 5, loss scaling by hand: multiply the loss, divide the gradients, and choose the factor.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/programs/command_line.h>

#include "course.h"
namespace hg = halfgrad;

namespace {

constexpr std::int64_t kBatch = 256, kPoints = 256;

/// A regression task with answers below 0.0005 (chapter 4), and a network that answers 0 at first.
struct Task {
  hg::Tensor x, target;
  hg::nn::Sequential model;

  hg::Tensor loss(bool autocasts) {
    const hg::amp::Autocast autocast(hg::kCPU, {.enabled = autocasts});
    return hg::mse_loss(model(x), target);
  }
};

Task make_task() {
  hg::manual_seed(1);
  const hg::Tensor teacher = hg::randn({4, kPoints});
  const hg::Tensor x = hg::rand({kBatch, 4}) * 2 - 1;
  const hg::nn::Linear last(64, kPoints);
  hg::nn::init::zeros_(last.weight);
  hg::nn::init::zeros_(last.bias);
  return {x, hg::tanh(hg::matmul(x, teacher)) * 5e-4,
          hg::nn::Sequential(hg::nn::Linear(4, 64), hg::nn::ReLU(), last)};
}

void multiply_and_backward(const hg::Tensor& loss, double scale) { (loss * scale).backward(); }

void unscale(const std::vector<hg::Tensor>& parameters, double scale) {
  for (const hg::Tensor& parameter : parameters) parameter.grad().mul_(1 / scale);
}

bool all_finite(const std::vector<hg::Tensor>& parameters) {
  for (const hg::Tensor& parameter : parameters) {
    if (hg::isfinite(parameter.grad()).logical_not().any().item() != 0) return false;
  }
  return true;
}

struct Training {
  double percent_learnt = 0;  ///< by how many percent the loss fell
  int skipped = 0;
  double percent_nan = 0;  ///< share of the weights that are NaN at the end
};

struct Method {
  double scale = 1;
  bool autocasts = true;
  bool checks = false;  ///< skips steps with an inf or a NaN
};

Training train(int steps, const Method& method) {
  Task task = make_task();
  const std::vector<hg::Tensor> parameters = task.model.parameters();
  hg::optim::Adam optimizer(parameters, {.lr = 1e-4, .eps = 1e-12});
  Training training;
  double first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const hg::Tensor loss = task.loss(method.autocasts);
    multiply_and_backward(loss, method.scale);
    unscale(parameters, method.scale);
    if (method.checks && !all_finite(parameters)) {
      ++training.skipped;
    } else {
      optimizer.step();
    }
    (step == 0 ? first : last) = loss.item();
  }
  training.percent_learnt = 100 * (1 - last / first);
  double broken = 0, all = 0;
  for (const hg::Tensor& parameter : parameters) {
    broken += (parameter != parameter).sum().item();
    all += static_cast<double>(parameter.numel());
  }
  training.percent_nan = 100 * broken / all;
  return training;
}

/// The unscaled gradients of the first step, as one vector.
hg::Tensor first_gradient(const Method& method) {
  Task task = make_task();
  multiply_and_backward(task.loss(method.autocasts), method.scale);
  unscale(task.model.parameters(), method.scale);
  std::vector<hg::Tensor> parts;
  for (const hg::Tensor& parameter : task.model.parameters()) {
    parts.push_back(parameter.grad().reshape({-1}));
  }
  return hg::cat(parts);
}

double size_of(const hg::Tensor& x) { return x.to(hg::kFloat64).norm().item(); }

void show_first_step(course::Chapter& chapter) {
  std::printf("The gradient of the first step, compared with fp32:\n");
  const hg::Tensor exact = first_gradient({.autocasts = false});
  for (const int exponent : {0, 8, 16, 24}) {
    const hg::Tensor gradient = first_gradient({.scale = std::ldexp(1.0, exponent)});
    chapter.fact("error_2_" + std::to_string(exponent),
                 100 * size_of(gradient - exact) / size_of(exact));
  }
  std::printf("\nfp32 gradients that change when they are scaled and unscaled:\n");
  const hg::Tensor gradients = hg::randn({100000});
  for (const int scale : {1000, 1024}) {
    const auto factor = static_cast<double>(scale);
    const hg::Tensor back = (gradients * factor) * (1 / factor);
    chapter.fact("changed_by_" + std::to_string(scale),
                 100 * (back != gradients).to(hg::kFloat32).mean().item());
  }
}

/// The largest power of two without an inf or a NaN in the first step's gradients.
int safe_exponent() {
  int exponent = 0;
  while (hg::isfinite(first_gradient({.scale = std::ldexp(1.0, exponent + 1)})).all().item() != 0) {
    ++exponent;
  }
  return exponent;
}

/// Returns the scale that the ledger recommends.
double show_largest_gradient(course::Chapter& chapter) {
  Task task = make_task();
  hg::amp::UnderflowLedger ledger{hg::amp::NamedModel(task.model)};
  const auto guard = ledger.observe(65536);
  multiply_and_backward(task.loss(true), 65536);
  double largest = 0;
  for (const hg::amp::GradientRange& range : ledger.ranges()) {
    if (range.dtype == hg::kHalf) largest = std::max(largest, range.unscaled.largest());
  }
  std::printf("\nThe largest fp16 gradient of the first step, divided by its scale:\n");
  chapter.fact("largest_gradient", largest);
  std::printf("65504 divided by it is 2^%.2f\n", std::log2(65504 / largest));
  return ledger.recommend().scale;
}

void show_choice(course::Chapter& chapter, int steps) {
  const double recommended = show_largest_gradient(chapter);
  const int safe = safe_exponent();
  chapter.fact("safe_scale", std::ldexp(1.0, safe));
  chapter.fact("overflow_exponent", safe + 1);
  std::printf("UnderflowLedger::recommend() says 2^%g\n", std::log2(recommended));

  std::printf("\nLoss learnt in %d steps:\n", steps);
  const double fp32 = train(steps, {.autocasts = false}).percent_learnt;
  chapter.fact("learnt_fp32", fp32);
  course::Series curve{.name = "fp16", .x = {}, .y = {}};
  const course::Series fp32_line{.name = "fp32", .x = {0, 40}, .y = {fp32, fp32}, .dashed = true};
  int broken = -1;
  for (int exponent = 0; exponent <= 40; exponent += 2) {
    const Training training = train(steps, {.scale = std::ldexp(1.0, exponent)});
    curve.x.push_back(exponent);
    curve.y.push_back(training.percent_learnt);
    std::printf("scale 2^%-2d  learnt %6.2f %%  NaN in %3.0f %% of the weights\n", exponent,
                programs::printed(training.percent_learnt), training.percent_nan);
    if (broken < 0 && training.percent_nan > 0) broken = exponent;
    for (const int quoted : {0, 2, 4, 8, 24}) {
      if (exponent != quoted) continue;
      chapter.fact("learnt_2_" + std::to_string(exponent), training.percent_learnt);
    }
  }
  chapter.fact("broken_scale", std::ldexp(1.0, broken));
  chapter.picture("plateau", course::line_chart(
                                 {.title = "What a network learns with each loss scale",
                                  .x = {.label = "k, for the scale 2^k", .low = 0, .high = 40},
                                  .y = {.label = "loss learnt, %",
                                        .low = 0,
                                        .high = 115},  // leaves space for the word NaN
                                  .bands = {{static_cast<double>(broken), 40, "NaN", "pale_four"}},
                                  .points = true},
                                 {curve, fp32_line}));
}

void show_overflow(course::Chapter& chapter) {
  std::printf("\nTen steps with scale 2^40:\n");
  const double scale = std::ldexp(1.0, 40);
  chapter.fact("nan_unchecked", train(10, {.scale = scale}).percent_nan);
  const Training checked = train(10, {.scale = scale, .checks = true});
  chapter.fact("nan_checked", checked.percent_nan);
  chapter.fact("skipped_checked", checked.skipped);

  std::printf("\nClipping to norm 1e-4, before and after unscaling:\n");
  constexpr double kLimit = 1e-4;
  const double true_norm = size_of(first_gradient({.scale = 65536}));
  const double scaled_norm = true_norm * 65536;
  chapter.fact("true_norm", true_norm);
  chapter.fact("scaled_norm", scaled_norm);
  chapter.fact("clip_damage", scaled_norm / kLimit);
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(argc, argv,
                          {.slug = "05_loss_scaling",
                           .does = "Scales a loss by hand, with every power of two up to 2^40.",
                           .steps = 100});
  return chapter.run([&] {
    show_first_step(chapter);
    show_choice(chapter, chapter.steps());
    show_overflow(chapter);
  });
}
