// The exam: your own test of softmax and its backward pass.
#include <cmath>
#include <string>
#include <vector>

#include "exam.h"

// solution begin
// blank: // One row, and a gradient of ones: passes on the right code, but finds few bugs. Why?
// blank: std::string test() {
// blank:   const std::vector<double> y = softmax({1, 2, 3}, 1);
// blank:   std::vector<double> dx(3);
// blank:   softmax_backward({1, 1, 1}, y, 1, dx);
// blank:   for (const double element : dx) {
// blank:     if (std::fabs(element) > 1e-12) return "the gradient of a sum of 1 must be 0";
// blank:   }
// blank:   return "";
// blank: }
namespace {

// loss = sum of c * softmax(x), with a different weight c for each element.
double loss(const std::vector<double>& x, std::size_t rows, const std::vector<double>& c) {
  const std::vector<double> y = softmax(x, rows);
  double total = 0;
  for (std::size_t i = 0; i < y.size(); ++i) total += c[i] * y[i];
  return total;
}

std::string check_gradient() {
  std::vector<double> x = {0.1, -0.4, 1.2, 0.7, 2.0, -1.5};  // two rows of three
  const std::vector<double> c = {0.3, -1.1, 0.8, 1.7, -0.6, 0.2};
  std::vector<double> dx(6, 5.0);  // backward must add to it
  softmax_backward(c, softmax(x, 2), 2, dx);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double kept = x[i];
    x[i] = kept + 1e-5;
    const double above = loss(x, 2, c);
    x[i] = kept - 1e-5;
    const double below = loss(x, 2, c);
    x[i] = kept;
    const double expected = 5 + (above - below) / 2e-5;
    if (!(std::fabs(dx[i] - expected) < 1e-8)) {
      return "dx[" + std::to_string(i) + "]: expected " + std::to_string(expected) + ", got " +
             std::to_string(dx[i]);
    }
  }
  return "";
}

std::string check_values() {
  const std::vector<double> y = softmax({0, std::log(3.0), 1000, 1000}, 2);
  const double expected[] = {0.25, 0.75, 0.5, 0.5};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!(std::fabs(y[i] - expected[i]) < 1e-14)) return "y[" + std::to_string(i) + "] is wrong";
  }
  return "";
}

}  // namespace

std::string test() {
  const std::string values = check_values();
  return values.empty() ? check_gradient() : values;
}
// solution end
