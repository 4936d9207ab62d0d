#pragma once
// Two data sets computed in code, so that examples and tests need no download. Sample i depends
// only on (seed, i): a longer set begins with the samples of a shorter one.

#include <cstdint>
#include <vector>

#include <halfgrad/data/digit_images.h>

namespace halfgrad::data {

/// Images of handwritten digits: 21 glyphs of pen strokes, each bent, sheared, stretched, turned
/// and moved at random, drawn with a random pen. Every second image has a stray stroke, and every
/// pixel has noise. A linear model fails at the random positions. Test accuracy, measured with
/// 8,000 training images (seed 1), 2,000 test images (seed 2), Adam 1e-3, batch 128, 10 epochs:
///     pixels normalised to       784-10    784-256-128-10    784-512-512-10
///     mean 0, deviation 1        84.0 %    98.7 %            99.1 %
///     [0, 1]                     80.6 %    97.4 %            98.6 %
/// Throws std::invalid_argument for count < 0.
DigitImages synthetic_digits(std::int64_t count, std::uint64_t seed);

/// Loads on a square membrane (inputs) and the deflection that each of them causes (targets).
struct MembraneLoads {
  static constexpr std::int64_t kInputs = 4;
  static constexpr std::int64_t kSide = 28;
  std::vector<float> loads;        // [count, 4]: centre x, y, half width, force, each in [-1, 1]
  std::vector<float> deflections;  // [count, 28, 28], in metres
};

/// A regression task that fp16 cannot learn without loss scaling: a network replaces a solver.
///
/// A membrane of 1 m x 1 m with fixed edges, under a tension of 1 kN/m, carries a force of 0.5 to
/// 1.5 N, spread evenly over a square patch. The targets t are its deflections in metres at
/// P = 28 x 28 = 784 points: 0.06 mm on average, 0.64 mm at most. Such small targets give small
/// gradients. For a batch of B samples, the loss and its gradient with respect to the output y are
///     L = sum (y - t)^2 / (B P)
///     dL/dy = 2 (y - t) / (B P)
/// The smallest positive fp16 value is 2^-24; every magnitude up to half of it, 2^-25, rounds to
/// zero. An element of dL/dy is therefore zero in fp16 if
///     |y - t| <= B P 2^-26, which is 1.5 mm for B = 128
/// This is more than twice the largest deflection. A network that starts with the output y = 0 has
/// errors |y - t| = |t| below it, so its whole gradient is zero and no weight ever changes.
///
/// With a loss scale of 2^16, the mean magnitude of the scaled gradient at the start is
///     2^16 x 2 x 5.7e-5 m / (128 x 784) = 7.5e-5
/// fp16 represents it: its smallest normal value is 2^-14 = 6.1e-5, its largest finite one 65504.
///
/// Measured by `mnist_mlp --task underflow` with a 4-128-128-784 ReLU network whose last layer is
/// initialised with zeros: 4,096 training samples (seed 1), 1,024 test samples (seed 2), Adam 1e-4,
/// B = 128, 20 epochs. R^2 is 1 for a perfect model, and 0 for one that always predicts the mean of
/// the training targets:
///                                R^2    zeros in dL/dy: first epoch, last epoch
///     fp32                      0.937                 0.0 %        0.0 %
///     fp16, no scaling         -2.071               100.0 %      100.0 %
///     fp16, scaled by 2^16      0.937                 0.0 %        0.7 %
///     bf16                      0.937                 0.0 %        0.0 %
/// Throws std::invalid_argument for count < 0.
MembraneLoads membrane_loads(std::int64_t count, std::uint64_t seed);

}  // namespace halfgrad::data
