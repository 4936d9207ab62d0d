// Grades exercise 4 against the exact conversion to fp16.
#include "grade.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <halfgrad/core/numbers/number_format.h>

#include "exercise.h"

namespace {

using grade::Grader;

Counts expected_counts(const Grader::Vector& gradients, double scale) {
  Counts counts;
  for (const double gradient : gradients) {
    const double held = std::fabs(halfgrad::rounded_to(halfgrad::kFp16, gradient * scale));
    if (gradient == 0) {
      ++counts.zero;
    } else if (held == 0) {
      ++counts.lost;
    } else if (!std::isfinite(held)) {
      ++counts.overflow;
    } else {
      ++(held < 0x1p-14 ? counts.subnormal : counts.normal);
    }
  }
  return counts;
}

Grader::Vector as_vector(const Counts& c) {
  return {static_cast<double>(c.zero), static_cast<double>(c.lost),
          static_cast<double>(c.subnormal), static_cast<double>(c.normal),
          static_cast<double>(c.overflow)};
}

void check(Grader& grader, const std::string& name, const std::vector<Grader::Vector>& inputs,
           double scale) {
  grader.hint("elements 0 to 4 are zero, lost, subnormal, normal, overflow; the scale is " +
              grade::shown(scale));
  const auto in_float = [](const Grader::Vector& v) {
    return std::vector<float>(v.begin(), v.end());
  };
  grader.vectors(
      name, inputs, [&](const Grader::Vector& v) { return as_vector(count(in_float(v), scale)); },
      [&](const Grader::Vector& v) {
        const std::vector<float> floats = in_float(v);
        return as_vector(expected_counts({floats.begin(), floats.end()}, scale));
      },
      {.absolute = 0});
}

std::vector<float> random_gradients(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-45, 20);
  std::vector<float> gradients;
  for (int i = 0; i < 500; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    gradients.push_back(i % 50 == 0 ? 0 : static_cast<float>(sign * std::exp2(exponent(random))));
  }
  return gradients;
}

}  // namespace

int main(int argc, char** argv) {
  Grader grader(argc, argv);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  check(grader, "plain values", {{1}, {0}, {1e-9}, {1e-6}, {1e6}, {1, -1, 0, 1e-9, -1e-9, 1e-6}},
        1);
  check(grader, "the smallest value", {{0x1p-24}, {0x1p-25}, {0x1.000002p-25}, {-0x1p-25}}, 1);
  check(grader, "the smallest normal value",
        {{0x1p-14}, {1023 * 0x1p-24}, {1023.4 * 0x1p-24}, {1023.5 * 0x1p-24}}, 1);
  check(grader, "the largest value", {{65504}, {65519}, {65520}, {-65536}}, 1);
  check(grader, "inf and NaN", {{kInfinity}, {-kInfinity}, {std::nan("")}}, 1);
  check(grader, "a scale", {{0x1p-30}, {0x1p-35}, {0x1p-36}, {2}, {0}}, 1024);
  const std::vector<float> gradients = random_gradients(grader.seed());
  for (const double scale : {1.0, 256.0, 65536.0}) {
    check(grader, "500 random gradients, scale " + grade::shown(scale),
          {{gradients.begin(), gradients.end()}}, scale);
  }
  return grader.finish();
}
