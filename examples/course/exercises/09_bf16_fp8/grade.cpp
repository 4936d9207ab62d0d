// Grades exercise 9: the scales of lists of amax values against the formula.
#include "grade.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "exercise.h"

namespace {

using grade::Grader;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The formula alone, from the whole list of amax values: no state to forget.
double scale_after(const Grader::Vector& amaxes, std::size_t steps, const DelayedScale& start) {
  double scale = start.scale;
  for (std::size_t step = 1; step <= steps; ++step) {
    double largest = 0;
    for (std::size_t i = step - std::min(step, start.length); i < step; ++i) {
      if (std::isfinite(amaxes[i])) largest = std::max(largest, amaxes[i]);
    }
    if (largest > 0) scale = start.largest / largest / std::exp2(start.margin);
  }
  return scale;
}

void check(Grader& grader, const std::string& name, const std::vector<Grader::Vector>& inputs,
           const DelayedScale& start, const std::string& hint) {
  grader.hint(hint + " The input is the amax of each step, element i the scale after step i.");
  grader.vectors(
      name + ", history of " + std::to_string(start.length) + ", margin " +
          std::to_string(start.margin),
      inputs,
      [&](const Grader::Vector& amaxes) {
        DelayedScale tensor = start;
        Grader::Vector scales;
        for (const double amax : amaxes) {
          end_step(tensor, amax);
          scales.push_back(tensor.scale);
        }
        return scales;
      },
      [&](const Grader::Vector& amaxes) {
        Grader::Vector scales;
        for (std::size_t step = 1; step <= amaxes.size(); ++step) {
          scales.push_back(scale_after(amaxes, step, start));
        }
        return scales;
      },
      {.relative = 1e-12});
}

std::vector<Grader::Vector> random_runs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-20, 12);
  std::uniform_int_distribution<int> kind(0, 19);
  std::vector<Grader::Vector> runs;
  for (int run = 0; run < 20; ++run) {
    Grader::Vector amaxes;
    for (int step = 0; step < 60; ++step) {
      const int which = kind(random);
      amaxes.push_back(which == 0   ? 0
                       : which == 1 ? kInfinity
                       : which == 2 ? std::nan("")
                                    : std::exp2(exponent(random)));
    }
    runs.push_back(amaxes);
  }
  return runs;
}

}  // namespace

int main(int argc, char** argv) {
  Grader grader(argc, argv);
  check(grader, "one step", {{1}, {448}, {0.001}}, {.length = 1}, "scale = largest / amax.");
  check(grader, "an outlier", {{1, 64, 1, 1, 1, 1, 1, 1}}, {.length = 4},
        "The outlier counts for `length` steps, and then no more.");
  check(grader, "a falling amax", {{8, 4, 2, 1, 0.5, 0.25}}, {.length = 3},
        "The largest of the history counts, not the newest.");
  check(grader, "a margin", {{1}, {1, 2, 3}}, {.length = 2, .margin = 2},
        "A margin of 2 divides by 4.");
  check(grader, "tensors of zeros", {{0}, {0, 0, 1}, {1, 0, 0, 0, 0}}, {.length = 2},
        "With nothing but zeros the scale keeps its value.");
  check(grader, "inf and NaN", {{kInfinity}, {1, kInfinity, 2}, {std::nan("")}, {3, std::nan("")}},
        {.length = 3}, "inf and NaN count as 0.");
  for (const int margin : {0, 1}) {
    const auto length = static_cast<std::size_t>(4 + 4 * (grader.seed() % 4));
    check(grader, "20 random runs in e5m2", random_runs(grader.seed()),
          {.largest = 57344, .length = length, .margin = margin}, "");
  }
  DelayedScale tensor{.length = 3};
  for (int step = 0; step < 10; ++step) end_step(tensor, 1);
  grader.yes("the history's length", "at most 3 elements after 10 steps with length 3",
             tensor.history.size() <= 3, std::to_string(tensor.history.size()));
  return grader.finish();
}
