// The code under test, with nine planted bugs.
#include <algorithm>
#include <cmath>

#include "exam.h"

std::vector<double> softmax(const std::vector<double>& x, std::size_t rows) {
  const std::size_t columns = x.size() / rows;
  std::vector<double> y(x.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const double* const row = &x[r * columns];
    const double largest = *std::max_element(row, row + columns);
    // bug overflows_for_large_inputs: const double largest = 0;
    double total = 0;
    for (std::size_t i = 0; i < columns; ++i) total += std::exp(row[i] - largest);
    for (std::size_t i = 0; i < columns; ++i) {
      y[r * columns + i] = std::exp(row[i] - largest) / total;
      // bug forgets_to_divide: y[r * columns + i] = std::exp(row[i] - largest);
    }
  }
  return y;
}

void softmax_backward(const std::vector<double>& dy, const std::vector<double>& y, std::size_t rows,
                      std::vector<double>& dx) {
  const std::size_t columns = y.size() / rows;
  double dot = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    dot = 0;
    // bug keeps_the_sum_of_the_row_before:
    for (std::size_t j = 0; j < columns; ++j) {
      dot += dy[r * columns + j] * y[r * columns + j];
      // bug ignores_dy_in_the_sum: dot += y[r * columns + j];
      // bug sums_the_first_row_only: dot += dy[j] * y[j];
    }
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t at = r * columns + i;
      dx[at] += y[at] * (dy[at] - dot);
      // bug overwrites_instead_of_adding: dx[at] = y[at] * (dy[at] - dot);
      // bug forgets_the_sum: dx[at] += y[at] * dy[at];
      // bug forgets_y_outside: dx[at] += dy[at] - dot;
      // bug has_the_wrong_sign: dx[at] += y[at] * (dot - dy[at]);
    }
  }
}
