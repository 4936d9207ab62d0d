#include <halfgrad/autograd/composed/bits.h>

#include <array>
#include <concepts>
#include <cstdint>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad {
namespace {

/// Calls F's formula for each pair of elements.
template <class F>
struct OnBits {
  std::int64_t bits;

  template <class T>
  HG_HD T operator()(T a, T b) const {
    if constexpr (std::same_as<T, std::int64_t>) {
      return F::value(a, b, bits);
    } else {
      const std::int64_t width = bits;
      return math::detail::each_lane(
          a, b, [width](std::int64_t x, std::int64_t y) { return F::value(x, y, width); });
    }
  }
};

struct AndBits {
  HG_HD static std::int64_t value(std::int64_t a, std::int64_t b, std::int64_t) { return a & b; }
};
struct OrBits {
  HG_HD static std::int64_t value(std::int64_t a, std::int64_t b, std::int64_t) { return a | b; }
};
struct XorBits {
  HG_HD static std::int64_t value(std::int64_t a, std::int64_t b, std::int64_t) { return a ^ b; }
};
struct LeftShift {
  HG_HD static std::int64_t value(std::int64_t a, std::int64_t n, std::int64_t bits) {
    return n < 0 || n >= bits ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << n);
  }
};
struct RightShift {
  HG_HD static std::int64_t value(std::int64_t a, std::int64_t n, std::int64_t bits) {
    return a >> (n < 0 || n >= bits ? 63 : n);
  }
};

DType dtype_of_bits(const char* op, const Tensor& a, const Tensor& b) {
  const DType dtype = detail::result_type(std::array{a, b});
  if (is_floating_point(dtype)) {
    detail::fail(op, "expected integers or bool, got {} and {}", a.dtype(), b.dtype());
  }
  return dtype;
}

template <class F>
Tensor of_bits(const char* op, const Tensor& a, const Tensor& b) {
  const DType dtype = dtype_of_bits(op, a, b);
  const Array out = Array::empty(broadcast_shapes(a.sizes(), b.sizes(), op), dtype, a.device());
  const auto bits = static_cast<std::int64_t>(8 * item_size(dtype));
  const auto on_device = [&](const Tensor& t) { return t.dim() == 0 ? t.to(a.device()) : t; };
  detail::elementwise_in<std::int64_t>(OnBits<F>{bits}, out, a.array(), on_device(b).array());
  return Tensor(out);
}

template <class F, class Logical>
Tensor of_bits_or_bools(const char* op, const Tensor& a, const Tensor& b, const Logical& logical) {
  return dtype_of_bits(op, a, b) == kBool ? logical(a, b) : of_bits<F>(op, a, b);
}

template <class F>
Tensor shifted(const char* op, const Tensor& a, const Tensor& b) {
  if (dtype_of_bits(op, a, b) == kBool) detail::fail(op, "expected integers, got {}", "bool");
  return of_bits<F>(op, a, b);
}

Tensor beside(Scalar scalar, const Tensor& tensor) { return detail::wrap(scalar, tensor.device()); }

}  // namespace

Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  return of_bits_or_bools<AndBits>("bitwise_and", self, other, logical_and);
}
Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  return of_bits_or_bools<OrBits>("bitwise_or", self, other, logical_or);
}
Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
  return of_bits_or_bools<XorBits>("bitwise_xor", self, other, logical_xor);
}
Tensor bitwise_not(const Tensor& self) {
  if (self.dtype() == kBool) return logical_not(self);
  if (self.is_floating_point()) {
    detail::fail("bitwise_not", "expected integers or bool, got {}", self.dtype());
  }
  return of_bits<XorBits>("bitwise_not", self, beside(-1, self));
}
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) {
  return shifted<LeftShift>("bitwise_left_shift", self, other);
}
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) {
  return shifted<RightShift>("bitwise_right_shift", self, other);
}

Tensor bitwise_and(const Tensor& self, Scalar other) {
  return bitwise_and(self, beside(other, self));
}
Tensor bitwise_and(Scalar self, const Tensor& other) {
  return bitwise_and(beside(self, other), other);
}
Tensor bitwise_or(const Tensor& self, Scalar other) {
  return bitwise_or(self, beside(other, self));
}
Tensor bitwise_or(Scalar self, const Tensor& other) {
  return bitwise_or(beside(self, other), other);
}
Tensor bitwise_xor(const Tensor& self, Scalar other) {
  return bitwise_xor(self, beside(other, self));
}
Tensor bitwise_xor(Scalar self, const Tensor& other) {
  return bitwise_xor(beside(self, other), other);
}
Tensor bitwise_left_shift(const Tensor& self, Scalar other) {
  return bitwise_left_shift(self, beside(other, self));
}
Tensor bitwise_left_shift(Scalar self, const Tensor& other) {
  return bitwise_left_shift(beside(self, other), other);
}
Tensor bitwise_right_shift(const Tensor& self, Scalar other) {
  return bitwise_right_shift(self, beside(other, self));
}
Tensor bitwise_right_shift(Scalar self, const Tensor& other) {
  return bitwise_right_shift(beside(self, other), other);
}

}  // namespace halfgrad
