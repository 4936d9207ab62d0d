#pragma once

#include <halfgrad/compat/names.h>

#include <ostream>
#include <utility>
#include <vector>

#include <halfgrad/optim/clip_grad.h>

namespace halfgrad::nn::utils {

/// The norm that gradients had before they were clipped. It converts to double, and only then the
/// host waits for it. The destructor is not trivial, so that `printf("%g", norm)` does not compile.
class GradientNorm {
 public:
  explicit GradientNorm(Tensor norm) : norm_(std::move(norm)) {}
  GradientNorm(const GradientNorm&) = default;
  GradientNorm& operator=(const GradientNorm&) = default;
  ~GradientNorm() {}  // NOLINT(modernize-use-equals-default)

  operator double() const { return item<double>(); }
  /// libtorch has no item() here: for programs that expect a Tensor.
  template <class T = double>
  T item() const {
    return norm_.item<T>();
  }
  const Tensor& tensor() const { return norm_; }
  friend std::ostream& operator<<(std::ostream& out, const GradientNorm& norm) {
    return out << static_cast<double>(norm);
  }

 private:
  Tensor norm_;
};

/// libtorch's clip_grad_norm_(): returns the norm as a number.
inline GradientNorm clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                    double norm_type = 2, bool error_if_nonfinite = false,
                                    ScaledGradients scaled = ScaledGradients::refuse) {
  return GradientNorm(
      tensors::clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, scaled));
}
inline GradientNorm clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2,
                                    bool error_if_nonfinite = false,
                                    ScaledGradients scaled = ScaledGradients::refuse) {
  return clip_grad_norm_(std::vector{parameter}, max_norm, norm_type, error_if_nonfinite, scaled);
}

}  // namespace halfgrad::nn::utils
