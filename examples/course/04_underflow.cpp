// Chapter 4, underflow: which gradients of a network are too small for fp16, and what that does.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <halfgrad/amp/inspector/exponent_histogram.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/halfgrad.h>

#include "course.h"
namespace hg = halfgrad;

namespace {

using Histogram = hg::amp::ExponentHistogram;

constexpr int kSmallest = hg::amp::kHalfSmallestExponent;  // -24: below it, fp16 has 0 only
constexpr int kNormal = hg::amp::kHalfNormalExponent;      // -14: below it, fp16 loses bits

double percent(std::int64_t part, std::int64_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Share of the gradients that are not zero but below 2^exponent, in percent.
double percent_below(const Histogram& gradients, int exponent) {
  return percent(gradients.between(Histogram::kFirst, exponent), gradients.nonzero());
}

/// Gradients of all activations, in the first and in the last steps of a training.
struct Windows {
  Histogram first, last;
  double loss = 0;
};

/// Trains on digits, in fp32 or with Autocast, without a loss scale.
Windows train_digits(int steps, bool autocasts) {
  constexpr std::int64_t kImages = 1024, kBatch = 128;
  constexpr int kWindow = 40;
  const auto digits = hg::data::synthetic_digits(kImages, 1);
  const hg::Tensor x = hg::tensor(digits.pixels, {kImages, 784}).to(hg::kFloat32) / 255;
  const hg::Tensor y = hg::tensor(digits.labels);
  hg::manual_seed(0);
  auto model = hg::nn::Sequential(hg::nn::Linear(784, 64), hg::nn::ReLU(), hg::nn::Linear(64, 32),
                                  hg::nn::ReLU(), hg::nn::Linear(32, 10));
  hg::optim::Adam optimizer(model.parameters(), {.lr = 3e-3});
  const hg::amp::NamedModel named(model);
  hg::amp::UnderflowLedger first{named}, last{named}, between{named};
  Windows windows;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t from = step * kBatch % kImages;
    const bool is_first = step < kWindow, is_last = step >= steps - kWindow;
    optimizer.zero_grad();
    const auto guard = (is_first ? first : is_last ? last : between).observe(1);
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(hg::kCPU, {.enabled = autocasts});
      loss = hg::cross_entropy(model(x.narrow(0, from, kBatch)), y.narrow(0, from, kBatch));
    }
    loss.backward();
    optimizer.step();
    windows.loss = loss.item();
  }
  const auto activations = [](const hg::amp::UnderflowLedger& ledger) {
    Histogram all;
    for (const hg::amp::GradientRange& range : ledger.ranges()) {
      const bool is_seed = range.name == "cross_entropy";  // dL/dL, which is 1
      if (!range.is_parameter && !is_seed) all.add(range.unscaled);
    }
    return all;
  };
  windows.first = activations(first);
  windows.last = activations(last);
  return windows;
}

/// Share of each exponent among all gradients, as curves over the magnitude. Rounded to 0.5 %, so
/// that the picture does not depend on how a compiler rounds a sum.
std::string draw(const Windows& windows) {
  course::Series first{.name = "first 40 steps", .x = {}, .y = {}};
  course::Series last{.name = "last 40 steps", .x = {}, .y = {}};
  for (int exponent = -50; exponent <= 16; ++exponent) {
    for (auto [series, gradients] :
         {std::pair(&first, &windows.first), std::pair(&last, &windows.last)}) {
      series->x.push_back(std::ldexp(1.0, exponent));
      const double share = percent(gradients->count(exponent), gradients->total());
      series->y.push_back(std::round(share * 2) / 2);
    }
  }
  const auto power = [](int exponent) { return std::ldexp(1.0, exponent); };
  return course::line_chart({.title = "Gradients of all activations, by magnitude",
                             .x = {.label = "magnitude of the gradient",
                                   .scale = course::Scale::log2,
                                   .low = power(-50),
                                   .high = power(16)},
                             .y = {.label = "% of all gradients"},
                             .bands = {{power(-50), power(kSmallest), "fp16: 0", "pale_four"},
                                       {power(kSmallest), power(kNormal), "subnormal", "pale_two"},
                                       {power(kNormal), power(16), "fp16: normal", "pale_three"}}},
                            {first, last});
}

void print_histogram(const Histogram& gradients) {
  std::printf("\nGradients of the last 40 steps; # is 0.25 %%:\n");
  for (int exponent = -44; exponent <= -6; exponent += 2) {
    const double share = percent(gradients.between(exponent, exponent + 2), gradients.total());
    const std::string bar(static_cast<std::size_t>(share * 4), '#');
    std::printf("2^%-4d %6.2f %% %s%s\n", exponent, share, bar.c_str(),
                exponent == kSmallest ? "  <- smallest fp16 value" : "");
  }
}

// --- Small answers: a regression task whose whole gradient underflows ---------------------------

constexpr std::int64_t kPoints = 256;

struct SmallAnswers {
  hg::Tensor x, target;  // [batch, 4] and [batch, 256]; |target| < 0.0005
};

SmallAnswers small_answers(std::int64_t batch) {
  hg::manual_seed(1);
  const hg::Tensor teacher = hg::randn({4, kPoints});
  const hg::Tensor x = hg::rand({batch, 4}) * 2 - 1;
  return {x, hg::tanh(hg::matmul(x, teacher)) * 5e-4};
}

/// A network that answers 0 before its first update.
hg::nn::Sequential make_model() {
  const hg::nn::Linear last(64, kPoints);
  hg::nn::init::zeros_(last.weight);
  hg::nn::init::zeros_(last.bias);
  return hg::nn::Sequential(hg::nn::Linear(4, 64), hg::nn::ReLU(), last);
}

/// dL/dy of the first step, with the loss multiplied by `scale`.
hg::Tensor first_gradient(std::int64_t batch, double scale, bool autocasts) {
  const SmallAnswers task = small_answers(batch);
  auto model = make_model();
  const hg::amp::Autocast autocast(hg::kCPU, {.enabled = autocasts});
  hg::Tensor y = model(task.x);
  hg::Tensor kept;
  y.register_hook([&](const hg::Tensor& gradient) {
    kept = gradient;
    return hg::Tensor();
  });
  (hg::mse_loss(y, task.target) * scale).backward();
  return kept;
}

double percent_flushed(std::int64_t batch, double scale) {
  return 100 * (first_gradient(batch, scale, true) == 0).to(hg::kFloat32).mean().item();
}

/// Trains 100 steps and returns by how many percent the loss fell.
double percent_learnt(bool autocasts) {
  const SmallAnswers task = small_answers(256);
  auto model = make_model();
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-4, .eps = 1e-12});
  double first = 0, last = 0;
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(hg::kCPU, {.enabled = autocasts});
      loss = hg::mse_loss(model(task.x), task.target);
    }
    loss.backward();
    optimizer.step();
    (step == 0 ? first : last) = loss.item();
  }
  return 100 * (1 - last / first);
}

void show_digits(course::Chapter& chapter) {
  const Windows fp32 = train_digits(chapter.steps(), false);
  print_histogram(fp32.last);
  chapter.picture("histogram", draw(fp32));
  chapter.fact("zero", percent(fp32.last.zeros(), fp32.last.total()));
  chapter.fact("below_first", percent_below(fp32.first, kSmallest));
  chapter.fact("below_last", percent_below(fp32.last, kSmallest));
  chapter.fact("subnormal_last",
               percent(fp32.last.between(kSmallest, kNormal), fp32.last.nonzero()));
  const int top = std::ilogb(fp32.last.largest());
  chapter.fact("top_exponent", top);
  chapter.fact("unused_exponents", 15 - top);
  int shift = 0;
  while (percent_below(fp32.last, kSmallest - shift) > 1) ++shift;
  chapter.fact("shift", shift);
  const auto rounded = [](double loss) { return std::round(loss * 1e4) / 1e4; };
  chapter.fact("digits_loss_fp32", rounded(fp32.loss));
  chapter.fact("digits_loss_fp16", rounded(train_digits(chapter.steps(), true).loss));
}

void show_small_answers(course::Chapter& chapter) {
  std::printf("\nSmall answers: dL/dy of the first step, batch 256\n");
  chapter.fact("largest_gradient", first_gradient(256, 1, false).abs().max().item());
  chapter.fact("half_of_smallest", std::ldexp(1.0, kSmallest - 1));
  std::printf("Percent of it that is 0 in fp16, with the loss multiplied by 2^0, 2^4, ...:\n");
  for (const int exponent : {0, 4, 8, 12, 16}) {
    chapter.fact("flushed_2_" + std::to_string(exponent),
                 percent_flushed(256, std::ldexp(1.0, exponent)));
  }
  std::printf("\nWithout a scale, for larger and larger batches:\n");
  int first_lost = 0;
  for (int batch = 4; batch <= 512; batch *= 2) {
    const double flushed = percent_flushed(batch, 1);
    std::printf("batch %3d: %6.2f %% of dL/dy is 0\n", batch, flushed);
    if (flushed == 100 && first_lost == 0) first_lost = batch;
  }
  chapter.fact("batch_all_lost", first_lost);
  chapter.fact("learnt_fp32", percent_learnt(false));
  chapter.fact("learnt_fp16", percent_learnt(true));
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(argc, argv,
                          {.slug = "04_underflow",
                           .does = "Counts which gradients of two networks are too small for fp16.",
                           .steps = 400});
  return chapter.run([&] {
    show_digits(chapter);
    show_small_answers(chapter);
  });
}
