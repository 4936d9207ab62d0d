#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {

// y = [a = b] or [|a - b| <= atol + rtol |b|], elementwise, as bool; no gradient
Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  if (self.dtype() != other.dtype()) {
    detail::fail("isclose", "expected tensors of one dtype, got {} and {}", self.dtype(),
                 other.dtype());
  }
  if (!(rtol >= 0) || !(atol >= 0)) {
    detail::fail("isclose", "expected tolerances that are not negative, got rtol {} and atol {}",
                 rtol, atol);
  }
  const NoGradGuard no_grad;
  // Computes in float64, since differences of uint8 wrap around and bool has none.
  const auto wide = [](const Tensor& x) { return x.is_floating_point() ? x : to(x, kDouble); };
  // An infinity is close only to itself: its distance to other values is not finite.
  const Tensor distance =
      detail::with_op_name("isclose", "sub", [&] { return abs(wide(self) - wide(other)); });
  const Tensor allowed = abs(wide(other) * rtol) + atol;
  const Tensor close = eq(self, other) | (isfinite(distance) & le(distance, allowed));
  return equal_nan ? close | (isnan(self) & isnan(other)) : close;
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return detail::with_op_name("allclose", "isclose", [&] {
    return all(isclose(self, other, rtol, atol, equal_nan)).item<bool>();
  });
}

bool equal(const Tensor& self, const Tensor& other) {
  return self.sizes() == other.sizes() && all(eq(self, other)).item<bool>();
}

}  // namespace halfgrad
