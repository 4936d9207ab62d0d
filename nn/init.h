#pragma once

#include <cstdint>
#include <utility>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

enum class FanMode : std::uint8_t { fan_in, fan_out };
inline constexpr FanMode kFanIn = FanMode::fan_in;
inline constexpr FanMode kFanOut = FanMode::fan_out;

enum class Nonlinearity : std::uint8_t { linear, sigmoid, tanh, relu, leaky_relu, selu };
inline constexpr Nonlinearity kLinear = Nonlinearity::linear;
inline constexpr Nonlinearity kSigmoid = Nonlinearity::sigmoid;
inline constexpr Nonlinearity kTanh = Nonlinearity::tanh;
inline constexpr Nonlinearity kReLU = Nonlinearity::relu;
inline constexpr Nonlinearity kLeakyReLU = Nonlinearity::leaky_relu;
inline constexpr Nonlinearity kSELU = Nonlinearity::selu;

}  // namespace halfgrad

/// Functions that fill a floating-point tensor in place, without recording a gradient, and return
/// it. Formulas and defaults are those of torch.nn.init; random numbers come from
/// default_generator().
namespace halfgrad::nn::init {

/// The factor for weights that keeps the variance of activations across the nonlinearity:
///
///     linear, sigmoid  1          relu        sqrt(2)
///     tanh             5/3        leaky_relu  sqrt(2 / (1 + param^2)), for the slope param
///     selu             3/4
double calculate_gain(Nonlinearity nonlinearity, double param = 0.01);

/// fan_in and fan_out: inputs and outputs of one unit. A weight `[out, in, k1, k2, ...]` has
///     fan_in = in * k1 * k2 ...,    fan_out = out * k1 * k2 ...
/// Throws std::invalid_argument for fewer than two dimensions.
std::pair<std::int64_t, std::int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor);

Tensor uniform_(Tensor tensor, double a = 0, double b = 1);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
Tensor constant_(Tensor tensor, double value);
Tensor zeros_(Tensor tensor);
Tensor ones_(Tensor tensor);
/// Ones on the diagonal, zeros elsewhere. Throws std::invalid_argument unless two-dimensional.
Tensor eye_(Tensor tensor);

/// Draws with mean 0 and
///     std = gain / sqrt(fan), where gain = calculate_gain(nonlinearity, a)
/// (He et al., 2015). The uniform distribution has the bounds +-sqrt(3) std.
Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                        Nonlinearity nonlinearity = kLeakyReLU);
Tensor kaiming_normal_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                       Nonlinearity nonlinearity = kLeakyReLU);

/// Draws with mean 0 and
///     std = gain * sqrt(2 / (fan_in + fan_out))
/// (Glorot and Bengio, 2010). The uniform distribution has the bounds +-sqrt(3) std.
Tensor xavier_uniform_(Tensor tensor, double gain = 1);
Tensor xavier_normal_(Tensor tensor, double gain = 1);

/// `gain` times a uniformly drawn random matrix. Its rows are orthonormal, or its columns if there
/// are fewer of them; all dimensions after the first count as columns. Computed in double on the
/// CPU. Throws std::invalid_argument for fewer than two dimensions.
Tensor orthogonal_(Tensor tensor, double gain = 1);

}  // namespace halfgrad::nn::init
