#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Softmax of each row of a matrix: y[r][i] = exp(x[r][i]) / sum over j of exp(x[r][j]).

/// Returns y for a matrix x of `rows` rows, stored row after row.
std::vector<double> softmax(const std::vector<double>& x, std::size_t rows);

/// Adds dloss/dx to `dx`, given dloss/dy and y = softmax(x):
///     dx[r][i] += y[r][i] * (dy[r][i] - sum over j of dy[r][j] * y[r][j])
void softmax_backward(const std::vector<double>& dy, const std::vector<double>& y, std::size_t rows,
                      std::vector<double>& dx);

/// Yours. Returns an empty text if softmax and softmax_backward are right, otherwise what is wrong.
std::string test();
