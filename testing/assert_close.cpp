#include <halfgrad/testing/assert_close.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <halfgrad/testing/printed.h>
#include <halfgrad/testing/ulp.h>

namespace halfgrad {
namespace {

Shape unravel(std::int64_t index, const Shape& sizes) {
  Shape position = sizes;
  for (int i = sizes.size() - 1; i >= 0; --i) {
    position[i] = index % sizes[i];
    index /= sizes[i];
  }
  return position;
}

/// Prints integers with all their digits.
void print_element(std::ostream& out, const Tensor& tensor, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (is_floating_point(tensor.dtype())) {
    out << testing::printed(tensor.to_vector<double>()[at]);
  } else {
    out << tensor.to_vector<std::int64_t>()[at];
  }
}

}  // namespace

void assert_close(const Tensor& actual, const Tensor& expected, const AssertCloseOptions& options) {
  const std::vector<double> errors = roundoffs_between(actual, expected);
  const auto wrong =
      std::count_if(errors.begin(), errors.end(), [&](double e) { return e > options.roundoffs; });
  if (wrong == 0) return;

  const auto worst = std::max_element(errors.begin(), errors.end());
  const auto index = static_cast<std::int64_t>(worst - errors.begin());
  std::ostringstream message;
  message.precision(17);
  message << "assert_close: expected ";
  print_element(message, expected, index);
  message << " at " << to_string(unravel(index, actual.sizes())) << ", got ";
  print_element(message, actual, index);
  message << ": " << testing::printed(*worst) << " roundoffs of " << actual.dtype()
          << " off, allowed " << options.roundoffs << "; " << wrong << " of " << errors.size()
          << " elements are too far";
  throw std::runtime_error(message.str());
}

}  // namespace halfgrad
