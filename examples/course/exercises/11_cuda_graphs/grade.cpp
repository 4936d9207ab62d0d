// Grades exercise 11: captures the student's step, replays it, and compares with the definition.
#include "grade.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exercise.h"

namespace {

using grade::Grader;

/// The gradients of all steps, unscaled. load_gradient() reads them.
std::vector<Grader::Vector> batches;

Grader::Vector random_vector(std::mt19937_64& random, std::size_t size, double largest) {
  std::uniform_real_distribution<double> value(-largest, largest);
  Grader::Vector v(size);
  for (double& x : v) x = value(random);
  return v;
}

// One step of the definition in exercise.h, on the host.
void step_by_definition(State& s) {
  load_gradient(s);
  double squares = 0;
  bool found_inf = false;
  for (const double g : s.scaled_gradient) {
    squares += std::pow(g / s.scale, 2);
    if (!std::isfinite(g)) found_inf = true;
  }
  const double norm = std::sqrt(squares);
  const double factor = norm > s.max_norm ? s.max_norm / norm : 1;
  for (std::size_t i = 0; i < s.w.size() && !found_inf; ++i) {
    s.w[i] -= s.rate * factor * s.scaled_gradient[i] / s.scale;
  }
  if (found_inf) s.scale *= 0.5;
  s.rate *= 0.9;
}

State first_state() { return {.w = {1, -2, 0.5}, .scaled_gradient = {0, 0, 0}}; }

// Compares weights, scale and rate after each step with the definition, for the steps in `batches`.
void compare(Grader& grader, const std::string& name, const std::string& hint) {
  grader.run(name, [&] {
    Device device(first_state());
    device.begin_capture();
    queue_step(device);
    const Device::Graph graph = device.end_capture();
    State expected = first_state();
    for (std::size_t step = 0; step < batches.size(); ++step) {
      device.launch(graph);
      const State got = device.read();
      step_by_definition(expected);
      if (!hint.empty()) grader.hint(hint);
      const auto values = [](const State& s) {
        return Grader::Vector{s.w.at(0), s.w.at(1), s.w.at(2), s.scale, s.rate};
      };
      const Grader::Vector right = values(expected), given = values(got);
      const bool last = step + 1 == batches.size();
      bool wrong = false;
      for (std::size_t i = 0; i < right.size(); ++i) {
        const double error = std::fabs(given[i] - right[i]);
        wrong = wrong || !(error <= 1e-12 * std::max(1.0, std::fabs(right[i])));
      }
      if (!wrong && !last) continue;
      grader.same(name,
                  "step " + std::to_string(step) + " with the gradient " +
                      grade::shown(batches[step]) + "; elements 0 to 2 are w, 3 scale, 4 rate",
                  right, given, {.absolute = 1e-12, .relative = 1e-12});
      return;
    }
  });
}

}  // namespace

void load_gradient(State& s) {
  const Grader::Vector& gradient = batches.at(static_cast<std::size_t>(s.step));
  for (std::size_t i = 0; i < gradient.size(); ++i) s.scaled_gradient[i] = gradient[i] * s.scale;
  ++s.step;
}

int main(int argc, char** argv) {
  Grader grader(argc, argv);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  batches = {{0.1, 0.2, -0.1}};
  grader.run("the step can be captured", [&] {
    Device device(first_state());
    device.begin_capture();
    queue_step(device);
    const std::size_t kernels = device.end_capture().size();
    grader.yes("the capture holds kernels", "at least load_gradient and an update", kernels >= 2,
               std::to_string(kernels) + " kernels");
  });
  batches = {{0.1, 0.2, -0.1}};
  compare(grader, "one step, not clipped", "");
  batches = {{3, 0, 4}};
  compare(grader, "one step, clipped", "The norm is 5, so the factor is 0.2.");
  batches = {{0, 0, 0}, {0, 0, 0}};
  compare(grader, "gradients of 0", "The norm is 0: max_norm / norm is inf, the factor 1.");
  batches = {{0.1, 0, 0}, {3, 0, 4}, {0.1, 0, 0}, {0, 8, 6}};
  compare(grader, "clipped in some steps only",
          "The clip factor differs from step to step: is it computed by a kernel?");
  batches = {{1, 0, 0}, {1, kInfinity, 0}, {1, 0, 0}, {std::nan(""), 0, 0}, {1, 0, 0}};
  compare(
      grader, "steps with inf and NaN",
      "Skipped in the steps with inf or NaN, and only there: is found_inf set again each step?");
  batches = std::vector<Grader::Vector>(8, {0.5, 0.5, 0.5});
  compare(grader, "the schedule of the learning rate",
          "Is the rate read from State by the kernel?");
  std::mt19937_64 random(grader.seed());
  batches.clear();
  for (int step = 0; step < 60; ++step) batches.push_back(random_vector(random, 3, step % 7));
  for (const std::size_t step : {5U, 17U, 18U}) batches[step][step % 3] = -kInfinity;
  compare(grader, "60 random steps", "");
  return grader.finish();
}
