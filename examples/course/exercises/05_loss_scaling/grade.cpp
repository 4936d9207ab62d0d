// Grades exercise 5: compares the weights with those of a step in fp32, which needs no scale.
#include "grade.h"

#include <cmath>
#include <vector>

#include <halfgrad/halfgrad.h>

#include "exercise.h"
namespace hg = halfgrad;

namespace {

/// A network of 8 weights whose gradients are as small as `size`, and SGD with momentum.
struct Run {
  explicit Run(std::uint64_t seed, double size)
      : input((hg::manual_seed(seed), hg::randn({4, 2}))),
        factor(hg::randn({4, 3}) * size),
        layer(2, 3),
        optimizer(layer.parameters(), {.lr = 0.5 / size, .momentum = 0.5}) {}

  /// The gradient for the layer's output is `factor`, in fp16 or in fp32.
  hg::Tensor loss(bool autocasts) {
    const hg::amp::Autocast autocast(hg::kCPU, {.enabled = autocasts});
    return (layer(input) * factor).sum();
  }

  std::vector<double> weights() const {
    std::vector<double> all;
    for (const hg::Tensor& parameter : layer.parameters()) {
      for (std::int64_t i = 0; i < parameter.numel(); ++i) {
        all.push_back(parameter.detach().reshape({-1})[i].item());
      }
    }
    return all;
  }

  hg::Tensor input, factor;
  hg::nn::Linear layer;
  hg::optim::SGD optimizer;
};

/// The step that the student's must equal, in fp32 and without a scale.
void step_in_fp32(Run& run, double max_norm) {
  run.optimizer.zero_grad();
  run.loss(false).backward();
  hg::nn::utils::clip_grad_norm_(run.layer.parameters(), max_norm);
  run.optimizer.step();
}

bool student_step(Run& run, double scale, double max_norm) {
  return scaled_step(run.loss(true), run.optimizer, run.layer.parameters(), scale, max_norm);
}

struct Case {
  const char* name;
  const char* hint;
  double size, scale, max_norm;
  int steps;
};

// fp16 rounds the input and the gradients: a few of its roundoffs, 2^-11, relative to weights of 1.
constexpr grade::Budget kBudget{.absolute = 8 * 0x1p-11};

void check_good_steps(grade::Grader& grader) {
  const Case cases[] = {
      {"scale 1", "the easiest case: nothing has to be scaled", 1, 1, 1e9, 1},
      {"small gradients", "is the loss multiplied before backward()?", 1e-9, 65536, 1e9, 1},
      {"another scale", "are the gradients divided by the scale?", 1e-3, 256, 1e9, 1},
      {"three steps", "is each step's gradient its own?", 1e-6, 4096, 1e9, 3},
      {"no clipping", "the true norm is below max_norm: is it compared too early?", 1e-3, 1024, 0.1,
       1},
      {"clipping", "the true norm is above max_norm", 1, 64, 0.5, 1},
  };
  for (const Case& c : cases) {
    Run expected(grader.seed(), c.size), got(grader.seed(), c.size);
    bool all_made = true;
    grader.hint(c.hint);
    grader.run(c.name, [&] {
      for (int step = 0; step < c.steps; ++step) {
        step_in_fp32(expected, c.max_norm);
        all_made = student_step(got, c.scale, c.max_norm) && all_made;
      }
    });
    grader.hint(c.hint);
    grader.same(std::string(c.name) + ": weights",
                "gradients of size " + grade::shown(c.size) + ", scale " + grade::shown(c.scale) +
                    ", max_norm " + grade::shown(c.max_norm) + ", " + std::to_string(c.steps) +
                    (c.steps == 1 ? " step" : " steps"),
                expected.weights(), got.weights(), kBudget);
    grader.yes(std::string(c.name) + ": result", "scaled_step returns true", all_made, "false");
  }
}

void check_bad_steps(grade::Grader& grader) {
  Run run(grader.seed(), 1);
  const std::vector<double> before = run.weights();
  const bool made = student_step(run, 0x1p30, 1e9);
  grader.hint("a gradient above 65504 is inf in fp16: look before the step");
  grader.same("overflow: weights stay", "gradients of size 1, scale 2^30", before, run.weights(),
              {.absolute = 0});
  grader.yes("overflow: result", "scaled_step returns false", !made, "true");

  // The optimizer's momentum must not have seen the bad gradients.
  Run expected(grader.seed(), 1);
  step_in_fp32(expected, 1e9);
  student_step(run, 16, 1e9);
  grader.hint("did the bad step reach the optimizer's momentum?");
  grader.same("a good step after a bad one", "scale 2^30, then scale 16", expected.weights(),
              run.weights(), kBudget);

  Run broken(grader.seed(), 1);
  const std::vector<double> unbroken = broken.weights();
  broken.factor.select(0, 0).fill_(std::nan(""));
  const bool made_with_nan = student_step(broken, 4, 1e9);
  grader.same("NaN: weights stay", "a NaN in the gradients, scale 4", unbroken, broken.weights(),
              {.absolute = 0});
  grader.yes("NaN: result", "scaled_step returns false", !made_with_nan, "true");
}

}  // namespace

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  check_good_steps(grader);
  check_bad_steps(grader);
  return grader.finish();
}
