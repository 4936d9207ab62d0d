#include <halfgrad/core/numbers/scalar.h>

#include <ostream>

#include <halfgrad/core/fail.h>

namespace halfgrad {

void detail::refuse_number(double number, const std::string& type) {
  fail("Scalar", "expected a number within the range of {}, got {}", type, number);
}

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  if (scalar.isFloatingPoint()) return out << scalar.floating_;
  if (scalar.isBoolean()) return out << (scalar.integer_ != 0 ? "true" : "false");
  return out << scalar.integer_;
}

}  // namespace halfgrad
