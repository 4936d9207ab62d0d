#pragma once

#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

/// The error of `actual` in roundoffs; one rounding to nearest is off by at most 1:
///
///     |actual - expected| / (roundoff(dtype) * max(1, |expected|))
///
/// Equal values, and NaN for NaN, give 0. A wrong infinity or NaN gives infinity, as does any
/// difference in a dtype without roundoff.
double roundoffs_between(double actual, double expected, DType dtype);

/// The distance between two values of `dtype` in ulps: 1 for neighbours, 0 for equal values and for
/// -0 and 0. Infinity is the neighbour of the largest finite value. The distance of NaN is 0 to NaN
/// and infinite to every other value. Throws std::invalid_argument for a dtype that is not floating
/// point.
double ulps_between(double actual, double expected, DType dtype);

/// roundoffs_between() for each pair of elements, in row-major order, in the dtype of `actual`.
/// Integers are compared exactly. Throws std::invalid_argument for different shapes.
std::vector<double> roundoffs_between(const Tensor& actual, const Tensor& expected);

/// The largest error of an array, and the element that has it.
struct WorstError {
  double roundoffs = 0;
  std::int64_t index = -1;  ///< row-major index of the element; -1 when all are equal
};

/// The largest roundoffs_between of two tensors' elements, in the dtype of `actual`.
/// Throws std::invalid_argument for different shapes.
WorstError worst_error(const Tensor& actual, const Tensor& expected);

}  // namespace halfgrad
