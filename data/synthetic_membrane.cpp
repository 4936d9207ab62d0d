#include <halfgrad/data/synthetic.h>

#include <cmath>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/philox.h>

namespace halfgrad::data {
namespace {

constexpr int kGrid = static_cast<int>(MembraneLoads::kSide);
constexpr int kModes = 12;
constexpr double kPi = 3.14159265358979323846;
constexpr double kTension = 1000;  // N/m

/// Averages sin(m pi x) over centre - half_width <= x <= centre + half_width.
double mean_sine(int m, double centre, double half_width) {
  const double angle = m * kPi * half_width;
  return std::sin(m * kPi * centre) * std::sin(angle) / angle;
}

struct Load {
  double x, y, half_width, force;  // m, m, m, N
};

/// Solves the membrane equation
///     -T laplace(w) = q on the unit square, w = 0 on its edges
/// by an expansion in eigenfunctions:
///     w(x, y) = sum over m, n of 4 q_mn / (T pi^2 (m^2 + n^2)) sin(m pi x) sin(n pi y)
/// q_mn is the force times the average of sin(m pi x) sin(n pi y) over the patch.
void solve(const Load& load, const double (&sines)[kModes][kGrid], float* deflection) {
  double along_x[kModes][kGrid] = {};  // the sum over m, for each n
  for (int n = 0; n < kModes; ++n)
    for (int m = 0; m < kModes; ++m) {
      const double q = load.force * mean_sine(m + 1, load.x, load.half_width) *
                       mean_sine(n + 1, load.y, load.half_width);
      const double squares = (m + 1) * (m + 1) + (n + 1) * (n + 1);
      for (int column = 0; column < kGrid; ++column)
        along_x[n][column] += 4 * q / (kTension * kPi * kPi * squares) * sines[m][column];
    }
  for (int row = 0; row < kGrid; ++row)
    for (int column = 0; column < kGrid; ++column) {
      double w = 0;
      for (int n = 0; n < kModes; ++n) w += along_x[n][column] * sines[n][row];
      *deflection++ = static_cast<float>(w);
    }
}

}  // namespace

MembraneLoads membrane_loads(std::int64_t count, std::uint64_t seed) {
  if (count < 0) halfgrad::detail::fail("membrane_loads", "expected count >= 0, got {}", count);
  double sines[kModes][kGrid];
  for (int m = 0; m < kModes; ++m)
    for (int i = 0; i < kGrid; ++i) sines[m][i] = std::sin((m + 1) * kPi * (i + 0.5) / kGrid);
  MembraneLoads samples;
  samples.loads.resize(count * MembraneLoads::kInputs);
  samples.deflections.resize(count * kGrid * kGrid);
  for (std::int64_t i = 0; i < count; ++i) {
    float* input = &samples.loads[i * MembraneLoads::kInputs];
    float unit[4];
    uniform(random_block({.seed = seed, .stream = 0}, static_cast<std::uint64_t>(i)), unit);
    for (int k = 0; k < MembraneLoads::kInputs; ++k) input[k] = 2 * unit[k] - 1;
    const Load load{.x = 0.5 + 0.3 * input[0],
                    .y = 0.5 + 0.3 * input[1],
                    .half_width = 0.1 + 0.05 * input[2],
                    .force = 1 + 0.5 * input[3]};
    solve(load, sines, &samples.deflections[i * kGrid * kGrid]);
  }
  return samples;
}

}  // namespace halfgrad::data
