// Chapter 9: one small network trained in float32, in bfloat16, and in fp8 with and without scales;
// then one scale alone, when an outlier or growing gradients meet its history.
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <halfgrad/halfgrad.h>

#include "09_bf16_fp8/linear.h"
#include "course.h"

namespace hg = halfgrad;

namespace {

constexpr std::int64_t kInputs = 8, kHidden = 64, kOutputs = 64, kBatch = 128;
constexpr std::size_t kHistory = 16;

struct Run {
  std::string name;
  const hg::NumberFormat& forward;
  const hg::NumberFormat& backward;
  fp8::Recipe recipe;
};

struct Result {
  std::vector<double> losses;          // mean squared error / mean squared target
  std::int64_t gradients_flushed = 0;  // nonzero values of the last layer that became 0
  double final_loss() const {          // mean of the last 20 steps
    const std::ptrdiff_t count = std::min<std::ptrdiff_t>(20, std::ssize(losses));
    return std::accumulate(losses.end() - count, losses.end(), 0.0) / static_cast<double>(count);
  }
};

// Uniform on [-size, size]. Drawn in float32, whose uniform values are exact on every machine.
hg::Tensor uniform(const hg::Shape& sizes, double size) {
  return (hg::rand(sizes).to(hg::kFloat64) * 2 - 1) * size;
}

struct Layer {
  Layer(std::int64_t in, std::int64_t out, double size, const Run& run)
      : weight(uniform({out, in}, size).detach().requires_grad_()),
        bias(hg::zeros({out}, {.dtype = hg::kFloat64}).requires_grad_()),
        scales(run.forward, run.backward, run.recipe, kHistory) {}

  hg::Tensor operator()(const hg::Tensor& x) {
    return fp8::Linear::apply(x, weight, &scales) + bias;
  }

  hg::Tensor weight, bias;
  fp8::LayerScales scales;
};

// Learns a random network whose answers are small, about 0.002, as lengths in metres may be. The
// gradient of the loss with respect to an answer is 2 (answer - target) / (128 x 64).
Result train(const Run& run, int steps) {
  hg::manual_seed(1);
  const hg::Tensor teacher1 = uniform({kInputs, 32}, 2);
  const hg::Tensor teacher2 = uniform({32, kOutputs}, 2e-3);
  Layer first(kInputs, kHidden, 0.35, run);
  Layer second(kHidden, kHidden, 0.125, run);
  Layer last(kHidden, kOutputs, 0.002, run);
  hg::optim::Adam optimizer(
      {first.weight, first.bias, second.weight, second.bias, last.weight, last.bias}, {.lr = 1e-3});

  Result result;
  for (int step = 0; step < steps; ++step) {
    const hg::Tensor x = uniform({kBatch, kInputs}, 2);
    const hg::Tensor target = hg::matmul(hg::tanh(hg::matmul(x, teacher1) / 3), teacher2);
    const hg::Tensor answer = last(hg::relu(second(hg::relu(first(x)))));
    const hg::Tensor loss = hg::mse_loss(answer, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    result.losses.push_back(loss.item() / (target * target).mean().item());
  }
  result.gradients_flushed = last.scales.gradient.flushed();
  return result;
}

// 20 steps of a tensor whose amax is 1, one step with an outlier of 64, and steps of amax 1 again.
struct Outlier {
  static constexpr int kStep = 20, kSteps = 60;
  std::vector<double> scales;  // the scale that each step used
  std::int64_t clipped = 0;    // in the outlier's step
  int recovered = 0;           // first later step with the scale from before

  Outlier() {
    fp8::TensorScale tensor(hg::kFp8E4M3Fn, fp8::Recipe::delayed, kHistory);
    for (int step = 0; step < kSteps; ++step) {
      scales.push_back(tensor.scale());
      const std::int64_t before = tensor.clipped();
      const double largest = step == kStep ? 64 : 1;
      tensor.quantized(hg::tensor({largest, 0.5, 0.25, 1e-4}, {.dtype = hg::kFloat64}).array());
      if (step == kStep) clipped = tensor.clipped() - before;
      if (step > kStep + 1 && recovered == 0 && scales.back() == scales[kStep]) recovered = step;
    }
  }
};

// Number of steps that clip a value, of 40 in which the amax grows by a quarter each.
int steps_clipped(int margin) {
  fp8::TensorScale tensor(hg::kFp8E5M2, fp8::Recipe::delayed, kHistory, margin);
  int steps = 0;
  double amax = 1;
  for (int step = 0; step < 40; ++step, amax *= 1.25) {
    const std::int64_t before = tensor.clipped();
    tensor.quantized(hg::tensor({amax}, {.dtype = hg::kFloat64}).array());
    steps += tensor.clipped() > before ? 1 : 0;
  }
  return steps;
}

void print_formats(course::Chapter& chapter) {
  const auto range = [&](const std::string& name, const hg::NumberFormat& format) {
    const double largest = decode(format.max_finite(), format), smallest = decode(1, format);
    chapter.fact(name + "_largest", largest);
    chapter.fact(name + "_smallest", smallest);
    chapter.fact(name + "_doublings", std::log2(largest / smallest));
  };
  std::printf("What the formats hold:\n");
  range("fp16", hg::kFp16);
  range("e4m3", hg::kFp8E4M3Fn);
  range("e5m2", hg::kFp8E5M2);
  chapter.fact("bf16_after_one", decode(encode(1, hg::kBf16) + 1, hg::kBf16));
  chapter.fact("e4m3_after_one", decode(encode(1, hg::kFp8E4M3Fn) + 1, hg::kFp8E4M3Fn));
  chapter.fact("e5m2_after_one", decode(encode(1, hg::kFp8E5M2) + 1, hg::kFp8E5M2));
}

void train_all(course::Chapter& chapter) {
  std::vector<course::Series> curves;
  std::vector<double> at;
  for (int step = 0; step < chapter.steps(); ++step) at.push_back(step);
  const auto gradients = static_cast<double>(chapter.steps()) * kBatch * kOutputs;
  const Run runs[] = {{"fp32", hg::kFp32, hg::kFp32, fp8::Recipe::unscaled},
                      {"bf16", hg::kBf16, hg::kBf16, fp8::Recipe::unscaled},
                      {"fp8_delayed", hg::kFp8E4M3Fn, hg::kFp8E5M2, fp8::Recipe::delayed},
                      {"fp8_unscaled", hg::kFp8E4M3Fn, hg::kFp8E5M2, fp8::Recipe::unscaled}};
  for (const Run& run : runs) {
    const Result result = train(run, chapter.steps());
    std::printf("Trained in %s:\n", run.name.c_str());
    chapter.fact(run.name + "_loss", result.final_loss());
    chapter.fact(run.name + "_flushed_percent",
                 100 * static_cast<double>(result.gradients_flushed) / gradients);
    curves.push_back({run.name, at, result.losses, run.name == "bf16"});
  }
  chapter.picture(
      "loss", course::line_chart({.title = "Loss / loss of the answer 0",
                                  .x = {.label = "step"},
                                  .y = {.label = "relative loss", .scale = course::Scale::log10}},
                                 curves));
}

void watch_one_scale(course::Chapter& chapter) {
  const Outlier outlier;
  std::printf("One outlier of 64 in step %d, history of %zu steps:\n", Outlier::kStep, kHistory);
  chapter.fact("history", kHistory);
  chapter.fact("scale_before", outlier.scales[Outlier::kStep]);
  chapter.fact("scale_after", outlier.scales[Outlier::kStep + 1]);
  chapter.fact("outlier_clipped", static_cast<double>(outlier.clipped));
  chapter.fact("recovered_step", outlier.recovered);
  std::printf("Gradients that grow by a quarter each step, for 40 steps:\n");
  chapter.fact("clipped_steps_margin_0", steps_clipped(0));
  chapter.fact("clipped_steps_margin_1", steps_clipped(1));

  std::vector<double> at(outlier.scales.size());
  std::iota(at.begin(), at.end(), 0);
  chapter.picture("outlier",
                  course::line_chart({.title = "The scale of a tensor with one outlier",
                                      .x = {.label = "step"},
                                      .y = {.label = "scale", .scale = course::Scale::log2},
                                      .limits = {{Outlier::kStep, "outlier", true}}},
                                     {{"history of 16 steps", at, outlier.scales}}));
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(argc, argv,
                          {.slug = "09_bf16_fp8",
                           .does = "Trains a network in fp32, bf16 and emulated fp8.",
                           .steps = 200});
  return chapter.run([&] {
    print_formats(chapter);
    train_all(chapter);
    watch_one_scale(chapter);
  });
}
