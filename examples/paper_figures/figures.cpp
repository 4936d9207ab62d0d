#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <halfgrad/amp/inspector/exponent_histogram.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>

#include "task.h"

namespace hg = halfgrad;

namespace paper {
namespace {

Task shortened(Task task, int steps) {
  task.steps = std::min(task.steps, steps);
  return task;
}

struct Statistics {
  double mean = 0;
  double deviation = 0;  ///< between the samples, with n - 1
};

Statistics statistics(const std::vector<double>& samples) {
  Statistics result;
  const auto count = static_cast<double>(samples.size());
  for (const double sample : samples) result.mean += sample / count;
  for (const double sample : samples) {
    result.deviation += (sample - result.mean) * (sample - result.mean);
  }
  result.deviation = samples.size() < 2 ? 0 : std::sqrt(result.deviation / (count - 1));
  return result;
}

std::vector<double> scores(const Task& task, const Method& method, int seeds) {
  std::vector<double> result;
  for (int seed = 0; seed < seeds; ++seed) {
    result.push_back(train(task, method, static_cast<std::uint64_t>(seed)));
  }
  return result;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void fact(const std::string& name, double value) {
  std::printf("%s = %.6g\n", name.c_str(), value);
}

// Figures 2b and 3: exponents of the gradients of a training in fp32.
void show_gradient_share(int steps) {
  const Task task = shortened(digits(), steps);
  hg::manual_seed(0);
  hg::nn::Sequential model = task.make_model();
  hg::optim::Adam optimizer(model.parameters(), {.lr = task.lr});
  hg::amp::UnderflowLedger ledger{hg::amp::NamedModel(model)};
  for (int step = 0; step < task.steps; ++step) {
    const std::int64_t from = step * 128 % (task.x.size(0) - 128);
    optimizer.zero_grad();
    const auto guard = ledger.observe(1);
    task.loss(model(task.x.narrow(0, from, 128)), task.y.narrow(0, from, 128)).backward();
    optimizer.step();
  }
  hg::amp::ExponentHistogram activations, weights;
  for (const hg::amp::GradientRange& range : ledger.ranges()) {
    if (range.name != "cross_entropy") {
      (range.is_parameter ? weights : activations).add(range.unscaled);
    }
  }
  std::printf("\nGradients of %d steps in fp32 (figures 2b and 3), in percent:\n", task.steps);
  const auto below = [](const hg::amp::ExponentHistogram& gradients, int exponent) {
    return percent(gradients.between(gradients.kFirst, exponent), gradients.total());
  };
  fact("activations_zero", percent(activations.zeros(), activations.total()));
  fact("activations_below_24", below(activations, -24));
  fact("activations_below_27", below(activations, -27));
  fact("activations_used_top", std::ilogb(activations.largest()));
  fact("weights_below_24", below(weights, -24));
}

// Table 1: accuracy in fp32 and in mixed precision.
void show_accuracy(int steps, int seeds) {
  std::printf("\nTest score in percent, %d seeds (table 1):\n", seeds);
  for (const Task& original : {digits(), deep_digits(), membrane()}) {
    const Task task = shortened(original, steps);
    const Statistics fp32 = statistics(scores(task, {}, seeds));
    const Statistics mixed =
        statistics(scores(task, {.autocasts = true, .has_scaler = true}, seeds));
    fact(task.name + "_fp32", fp32.mean);
    fact(task.name + "_fp32_deviation", fp32.deviation);
    fact(task.name + "_mixed", mixed.mean);
    fact(task.name + "_mixed_deviation", mixed.deviation);
    // The standard error of a difference of two means.
    const double noise =
        std::sqrt((fp32.deviation * fp32.deviation + mixed.deviation * mixed.deviation) / seeds);
    const double difference = std::fabs(fp32.mean - mixed.mean);
    std::printf("%s: difference %.3f, twice its standard error %.3f\n", task.name.c_str(),
                difference, 2 * noise);
    fact(task.name + "_within_noise", difference <= 2 * noise ? 1 : 0);
  }
}

// Table 2: a network that does not train without a loss scale, and the constants of section 3.2.
void show_divergence(int steps) {
  std::printf("\nR^2 in percent with constant loss scales (table 2 and section 3.2):\n");
  const Task task = shortened(membrane(), steps);
  fact("membrane_r2_fp32", train(task, {}, 0));
  for (const int scale : {1, 8, 128, 32768}) {
    const Method method{.autocasts = true, .constant_scale = static_cast<double>(scale)};
    fact("membrane_r2_scale_" + std::to_string(scale), train(task, method, 0));
  }
}

// Figure 2a: weights of 16 bits with and without float32 masters.
void show_masters(int steps, int seeds) {
  seeds = std::min(seeds, 3);  // the differences are large
  std::printf("\nR^2 in percent by the format of the weights, %d seeds (figure 2a):\n", seeds);
  const Task task = shortened(sine(), steps);
  const double fp32 = statistics(scores(task, {.sgd = true}, seeds)).mean;
  fact("sine_fp32", fp32);
  for (const hg::DType dtype : {hg::kHalf, hg::kBFloat16}) {
    const std::string name = dtype == hg::kHalf ? "fp16" : "bf16";
    const Method alone{.weights = dtype, .sgd = true};
    const Method with_masters{.weights = dtype, .masters = true, .sgd = true};
    const double score = statistics(scores(task, alone, seeds)).mean;
    fact("sine_" + name, score);
    fact("sine_" + name + "_relative_loss", 100 * (fp32 - score) / fp32);
    fact("sine_" + name + "_masters", statistics(scores(task, with_masters, seeds)).mean);
  }
}

}  // namespace paper
