// Grades exercise 8 against sums in double, and against halfgrad's own masters.
#include "grade.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <halfgrad/halfgrad.h>

#include "exercise.h"
namespace hg = halfgrad;
using hg::Half;

namespace {

struct Run {
  std::vector<float> weights;    ///< fp16 values
  std::vector<float> gradients;  ///< true gradients; powers of two times an fp16 value
  float scale = 1, lr = 0.1F;
  int steps = 1;

  std::string words() const {
    const std::string count = std::to_string(weights.size());
    std::string text = weights.size() == 1
                           ? "weight " + grade::shown(static_cast<double>(weights[0])) +
                                 ", gradient " + grade::shown(static_cast<double>(gradients[0]))
                           : count + " weights";
    return text + ", scale " + grade::shown(static_cast<double>(scale)) + ", lr " +
           grade::shown(static_cast<double>(lr)) + ", " + std::to_string(steps) + " steps";
  }
};

std::vector<Half> halves(const std::vector<float>& values, float factor = 1) {
  std::vector<Half> result;
  for (const float value : values) result.emplace_back(value * factor);
  return result;
}

std::vector<double> doubles(const std::vector<Half>& values) {
  std::vector<double> result;
  for (const Half value : values) result.push_back(static_cast<double>(static_cast<float>(value)));
  return result;
}

// Each step rounds the product with lr and the difference: 2^-24 each, of terms that are at most a
// few times the weight.
grade::Budget budget_of(const Run& run) {
  double largest = 0;
  for (std::size_t i = 0; i < run.weights.size(); ++i) {
    const double moved = static_cast<double>(run.lr * run.gradients[i]) * run.steps;
    largest = std::max(largest, std::fabs(static_cast<double>(run.weights[i])) + std::fabs(moved));
  }
  return {.absolute = 2 * 0x1p-24 * largest * run.steps};
}

void check(grade::Grader& grader, const std::string& name, const Run& run,
           const std::string& hint) {
  std::vector<float> master = run.weights;
  std::vector<Half> weight = halves(run.weights);
  const std::vector<Half> scaled = halves(run.gradients, run.scale);
  std::vector<double> expected(run.weights.begin(), run.weights.end());
  for (int step = 0; step < run.steps; ++step) {
    sgd_step(master, weight, scaled, 1 / run.scale, run.lr);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double gradient =
          static_cast<double>(static_cast<float>(scaled[i])) / static_cast<double>(run.scale);
      expected[i] -= static_cast<double>(run.lr) * gradient;
    }
  }
  grader.hint(hint);
  grader.same(name + ": masters", run.words(), expected, grade::widened(master), budget_of(run));
  grader.hint("the weight is the master, rounded to fp16");
  grader.same(name + ": weights", run.words(), doubles(halves(master)), doubles(weight),
              {.absolute = 0});
}

Run random_run(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  Run run{.weights = {}, .gradients = {}, .scale = 4096, .lr = 0.01F, .steps = 50};
  for (int i = 0; i < 100; ++i) {
    run.weights.push_back(static_cast<float>(Half(value(random))));
    run.gradients.push_back(static_cast<float>(Half(value(random))) * 0x1p-8F);
  }
  return run;
}

/// The same steps with halfgrad's SGD and MasterWeights.
void check_against_halfgrad(grade::Grader& grader, const Run& run) {
  const auto count = static_cast<std::int64_t>(run.weights.size());
  const hg::Tensor weight = hg::tensor(run.weights, {count}).to(hg::kHalf).requires_grad_();
  hg::optim::SGD optimizer({weight}, {.lr = static_cast<double>(run.lr)});
  const hg::amp::MasterWeights masters(optimizer);
  std::vector<float> master = run.weights;
  std::vector<Half> student = halves(run.weights);
  const hg::Tensor factor = hg::tensor(run.gradients, {count}).to(hg::kHalf);
  for (int step = 0; step < run.steps; ++step) {
    optimizer.zero_grad();
    (weight * factor).sum().backward();
    optimizer.step();
    sgd_step(master, student, halves(run.gradients), 1, run.lr);
  }
  const hg::Tensor right(masters.master(weight));
  std::vector<double> expected;
  for (std::int64_t i = 0; i < count; ++i) expected.push_back(right[i].item());
  grader.same("the masters of hg::amp::MasterWeights", run.words(), expected,
              grade::widened(master), budget_of(run));
}

}  // namespace

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  check(grader, "one large step", {{1}, {1}}, "weight - lr * gradient");
  check(grader, "a scale", {{1}, {0.5F}, 1024}, "multiply the gradient by inv_scale first");
  check(grader, "a small update", {{1}, {1}, 1, 1e-4F},
        "0.0001 is less than half a gap of fp16 at 1: where is it kept?");
  check(grader, "ten small updates", {{1}, {1}, 1, 1e-4F, 10},
        "is the master updated from itself, or from the rounded weight?");
  check(grader, "a tiny gradient", {{0.0009765625F}, {0x1p-30F}, 65536, 256},
        "2^-30 is 0 in fp16: unscale in float");
  check(grader, "two weights", {{1, 2}, {1, 2}, 1, 1e-4F, 3}, "each weight has its own master");
  check(grader, "100 random weights", random_run(grader.seed()), "");
  Run run = random_run(grader.seed() + 1);
  run.scale = 1;
  check_against_halfgrad(grader, run);
  return grader.finish();
}
