#pragma once
// Two training tasks computed in code, so that examples and tests need no download. Sample i of a
// set depends on (seed, i) alone: a longer set begins with the shorter one.

#include <cstdint>
#include <vector>

#include <halfgrad/data/digit_images.h>

namespace halfgrad::data {

/// Pen strokes of 21 glyphs, each bent, sheared, stretched, turned and moved at random, drawn with
/// a random pen, with a stray mark on every second image and noise on every pixel. The random
/// positions are what a linear model cannot follow. Test accuracy measured with 8,000 images to
/// train on (seed 1) and 2,000 to test (seed 2), Adam 1e-3, batch 128, 10 epochs:
///   pixels                     784-10    784-256-128-10    784-512-512-10
///   to mean 0, deviation 1     84.0 %    98.7 %            99.1 %
///   to [0, 1]                  80.6 %    97.4 %            98.6 %
/// Throws invalid_argument for count < 0.
DigitImages synthetic_digits(int64_t count, uint64_t seed);

/// Loads on a square membrane, and the deflection each of them causes.
struct MembraneLoads {
  static constexpr int64_t kInputs = 4;
  static constexpr int64_t kSide = 28;
  std::vector<float> loads;        // [count, 4]: centre x, y, half width, force, each in [-1, 1]
  std::vector<float> deflections;  // [count, 28, 28]: metres
};

/// The task that fp16 cannot learn without loss scaling: a network stands in for a solver. A
/// membrane of 1 m x 1 m with fixed edges, under a tension of 1 kN/m, carries a force of 0.5 to 1.5
/// N spread evenly over a square patch. It sags by about 0.1 mm, 0.64 mm at most, and the targets
/// are in metres. The gradient of the mean squared error over a batch of B samples of P = 784
/// points is
///   dL/dy = 2 (y - t) / (B P),
/// and fp16 rounds magnitudes up to 2^-25 to zero. All of dL/dy is therefore zero where
///   |y - t| <= B P 2^-26, which is 1.5 mm for B = 128,
/// more than twice the largest deflection: a network that begins by answering zero stays there.
/// Scaled by 2^16, the mean |dL/dy| is 7e-5, above fp16's smallest normal number 6.1e-5.
/// Measured with a 4-128-128-784 ReLU network whose last layer begins at zero, 4,096 samples to
/// train on, 1,024 to test, Adam 1e-4, B = 128, 20 epochs; R^2 compares with answering the mean
/// field:
///                            R^2      dL/dy flushed to zero, first and last epoch
///   fp32                      0.941       0 %      0 %
///   fp16, no scaling         -2.07      100 %    100 %    not one weight moves
///   fp16, scaled by 2^16      0.941       0 %      1 %
///   bf16                      0.940       0 %      0 %
/// Throws invalid_argument for count < 0.
MembraneLoads membrane_loads(int64_t count, uint64_t seed);

}  // namespace halfgrad::data
