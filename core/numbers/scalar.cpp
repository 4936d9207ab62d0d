#include <halfgrad/core/numbers/scalar.h>

#include <halfgrad/core/fail.h>

namespace halfgrad {

void detail::refuse_number(double number, const std::string& type) {
  fail("Scalar", "expected a number within the range of {}, got {}", type, number);
}

}  // namespace halfgrad
