#include <halfgrad/testing/assert_close.h>

#include <sstream>
#include <stdexcept>

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

}  // namespace

void assert_close(const Tensor& actual, const Tensor& expected, const AssertCloseOptions& options) {
  const WorstError worst = worst_error(actual, expected);
  if (worst.roundoffs <= options.roundoffs) return;

  const auto got = actual.to_vector<double>();
  const auto wanted = expected.to_vector<double>();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (roundoffs_between(got[i], wanted[i], actual.dtype()) > options.roundoffs) ++wrong;
  }
  const auto at = static_cast<std::size_t>(worst.index);
  std::ostringstream message;
  message.precision(17);
  message << "assert_close: expected " << wanted[at] << " at "
          << to_string(unravel(worst.index, actual.sizes())) << ", got " << got[at] << ": "
          << worst.roundoffs << " roundoffs of " << actual.dtype() << " off, allowed "
          << options.roundoffs << "; " << wrong << " of " << got.size() << " elements are too far";
  throw std::runtime_error(message.str());
}

}  // namespace halfgrad
