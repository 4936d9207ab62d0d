#include <stdexcept>
#include <string>

#include <halfgrad/autograd/ops.h>

namespace halfgrad {

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  if (self.dtype() != other.dtype()) {
    throw std::invalid_argument("isclose: expected tensors of one dtype, got " +
                                std::string(name(self.dtype())) + " and " +
                                std::string(name(other.dtype())));
  }
  if (!(rtol >= 0) || !(atol >= 0)) {
    throw std::invalid_argument("isclose: expected tolerances that are not negative, got rtol " +
                                std::to_string(rtol) + " and atol " + std::to_string(atol));
  }
  const NoGradGuard no_grad;
  // Differences of uint8 wrap around, and of bool there are none.
  const auto number = [](const Tensor& x) { return x.is_floating_point() ? x : to(x, kDouble); };
  // Infinite numbers are close to their equals only: their distance is not a finite number.
  const Tensor distance = abs(number(self) - number(other));
  const Tensor allowed = abs(number(other) * rtol) + atol;
  const Tensor close = eq(self, other) | (isfinite(distance) & le(distance, allowed));
  return equal_nan ? close | (isnan(self) & isnan(other)) : close;
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return all(isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

bool equal(const Tensor& self, const Tensor& other) {
  return self.sizes() == other.sizes() && all(eq(self, other)).item<bool>();
}

}  // namespace halfgrad
