#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/module.h>

/// The activation functions of ops.h as modules, with the same defaults. The output has the shape
/// of the input.
namespace halfgrad::nn {

/// Returns its input.
class Identity : public Callable<Identity> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Identity(T empty) : Callable(empty) {}
  Identity() : Callable("Identity") {}
  Tensor forward(const Tensor& input) const { return input; }
};

/// `max(x, 0)` of each element.
class ReLU : public Callable<ReLU> {
 public:
  template <std::same_as<std::nullptr_t> T>
  ReLU(T empty) : Callable(empty) {}
  /// `inplace` overwrites the input.
  explicit ReLU(bool inplace = false)
      : Callable("ReLU", inplace ? "inplace=true" : ""), inplace_(inplace) {}
  Tensor forward(const Tensor& input) const { return inplace_ ? input.relu_() : relu(input); }

 private:
  bool inplace_ = false;
};

/// `1 / (1 + exp(-x))` of each element.
class Sigmoid : public Callable<Sigmoid> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Sigmoid(T empty) : Callable(empty) {}
  Sigmoid() : Callable("Sigmoid") {}
  Tensor forward(const Tensor& input) const { return sigmoid(input); }
};

/// `tanh(x)` of each element.
class Tanh : public Callable<Tanh> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Tanh(T empty) : Callable(empty) {}
  Tanh() : Callable("Tanh") {}
  Tensor forward(const Tensor& input) const { return tanh(input); }
};

/// `x * sigmoid(x)` of each element.
class SiLU : public Callable<SiLU> {
 public:
  template <std::same_as<std::nullptr_t> T>
  SiLU(T empty) : Callable(empty) {}
  SiLU() : Callable("SiLU") {}
  Tensor forward(const Tensor& input) const { return silu(input); }
};

/// x, or `negative_slope * x` where x is negative.
class LeakyReLU : public Callable<LeakyReLU> {
 public:
  template <std::same_as<std::nullptr_t> T>
  LeakyReLU(T empty) : Callable(empty) {}
  explicit LeakyReLU(double negative_slope = 0.01, bool inplace = false)
      : Callable("LeakyReLU",
                 detail::text("negative_slope=", negative_slope, inplace ? ", inplace=true" : "")),
        negative_slope_(negative_slope),
        inplace_(inplace) {}
  Tensor forward(const Tensor& input) const {
    const Tensor y = leaky_relu(inplace_ ? input.clone() : input, negative_slope_);
    return inplace_ ? input.copy_(y) : y;
  }

 private:
  double negative_slope_ = 0.01;
  bool inplace_ = false;
};

/// x, or `alpha * (exp(x) - 1)` where x is negative.
class ELU : public Callable<ELU> {
 public:
  template <std::same_as<std::nullptr_t> T>
  ELU(T empty) : Callable(empty) {}
  explicit ELU(double alpha = 1.0, bool inplace = false)
      : Callable("ELU", detail::text("alpha=", alpha, inplace ? ", inplace=true" : "")),
        alpha_(alpha),
        inplace_(inplace) {}
  Tensor forward(const Tensor& input) const {
    const Tensor y = elu(inplace_ ? input.clone() : input, alpha_);
    return inplace_ ? input.copy_(y) : y;
  }

 private:
  double alpha_ = 1.0;
  bool inplace_ = false;
};

/// `x * Phi(x)`, where Phi is the distribution function of the standard normal distribution.
class GELU : public Callable<GELU> {
 public:
  template <std::same_as<std::nullptr_t> T>
  GELU(T empty) : Callable(empty) {}
  /// `approximate` is "none" (exact) or "tanh".
  explicit GELU(const std::string& approximate = "none")
      : Callable("GELU", detail::text("approximate='", approximate, "'")),
        approximate_(approximate) {}
  Tensor forward(const Tensor& input) const { return gelu(input, approximate_); }

 private:
  std::string approximate_;
};

/// `log(1 + exp(beta * x)) / beta`, or x where `beta * x` is above `threshold`.
class Softplus : public Callable<Softplus> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Softplus(T empty) : Callable(empty) {}
  explicit Softplus(double beta = 1.0, double threshold = std::numeric_limits<double>::infinity())
      : Callable("Softplus", detail::text("beta=", beta, ", threshold=", threshold)),
        beta_(beta),
        threshold_(threshold) {}
  Tensor forward(const Tensor& input) const { return softplus(input, beta_, threshold_); }

 private:
  double beta_ = 0;
  double threshold_ = 0;
};

/// `exp(x_i) / sum_j exp(x_j)` along `dim`.
class Softmax : public Callable<Softmax> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Softmax(T empty) : Callable(empty) {}
  explicit Softmax(std::int64_t dim) : Callable("Softmax", detail::text("dim=", dim)), dim_(dim) {}
  Tensor forward(const Tensor& input) const { return softmax(input, dim_); }

 private:
  std::int64_t dim_ = 0;
};

/// The logarithm of Softmax along `dim`, without computing Softmax, which would underflow.
class LogSoftmax : public Callable<LogSoftmax> {
 public:
  template <std::same_as<std::nullptr_t> T>
  LogSoftmax(T empty) : Callable(empty) {}
  explicit LogSoftmax(std::int64_t dim)
      : Callable("LogSoftmax", detail::text("dim=", dim)), dim_(dim) {}
  Tensor forward(const Tensor& input) const { return log_softmax(input, dim_); }

 private:
  std::int64_t dim_ = 0;
};

/// Merges the dimensions start_dim to end_dim into one. By default `[n, a, b]` becomes
/// `[n, a * b]`.
class Flatten : public Callable<Flatten> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Flatten(T empty) : Callable(empty) {}
  explicit Flatten(std::int64_t start_dim = 1, std::int64_t end_dim = -1)
      : Callable("Flatten", detail::text("start_dim=", start_dim, ", end_dim=", end_dim)),
        start_dim_(start_dim),
        end_dim_(end_dim) {}
  Tensor forward(const Tensor& input) const { return flatten(input, start_dim_, end_dim_); }

 private:
  std::int64_t start_dim_ = 0;
  std::int64_t end_dim_ = 0;
};

}  // namespace halfgrad::nn
