// Compares the compensated sum with the exact one, in roundoffs of fp16.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "exercise.h"
#include "grade.h"

static_assert(sizeof(Sum) == 2 * sizeof(Fp16), "Sum must stay as exercise.h declares it");

namespace {

using Vector = std::vector<double>;

Vector student(const Vector& x) {
  Sum sum;
  for (const double value : x) add(sum, Fp16(value));
  return {sum.total.value()};
}

// Sums of fp16 values of this size are exact in double.
Vector exact(const Vector& x) {
  double total = 0;
  for (const double value : x) total += Fp16(value).value();
  return {total};
}

Vector random_values(std::uint64_t seed, std::size_t count, double high) {
  std::mt19937_64 random(seed + 7);
  Vector values(count);
  for (double& value : values) {
    value = Fp16(high * std::ldexp(static_cast<double>(random() >> 11), -53)).value();
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  const grade::Budget budget = {.relative = 3 * 0x1p-11};
  Vector after_big(1025, 1.0);
  after_big[0] = 2048;
  grader.vectors("a few elements", {{}, {1}, {1, 2, 3}, {0.5, 0.25, 100}}, student, exact, budget);
  grader.hint("2048 + 1 rounds to 2048: the 1 must come back with the next element");
  grader.vectors("2048 and 1024 ones", {after_big}, student, exact, budget);
  grader.vectors("4096 ones", {Vector(4096, 1.0)}, student, exact, budget);
  grader.vectors("4000 tenths", {Vector(4000, 0.1)}, student, exact, budget);
  grader.vectors("4096 negative values", {Vector(4096, -0.75)}, student, exact, budget);
  grader.vectors("random values in [0, 1)",
                 {random_values(grader.seed(), 100, 1), random_values(grader.seed(), 4096, 1)},
                 student, exact, budget);
  grader.vectors("random values in [0, 10)", {random_values(grader.seed() + 1, 4096, 10)}, student,
                 exact, budget);
  grader.hint("below 2^-14 the spacing of fp16 is constant, so no addition rounds there");
  grader.vectors("1000 subnormal values", {Vector(1000, 0x1p-22)}, student, exact, budget);
  return grader.finish();
}
