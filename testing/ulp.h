#pragma once

#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

/// How far `actual` is from `expected`, in roundoffs: |actual - expected| divided by
/// roundoff(dtype) * max(1, |expected|). One rounding to nearest is off by at most 1.
///
/// Equal numbers, and NaN for NaN, are 0 off. A wrong infinity or NaN is infinitely far off, and so
/// is any difference in a dtype without roundoff.
double roundoffs_between(double actual, double expected, DType dtype);

/// Numbers of `dtype` from one to the other: 1 for neighbours, 0 for equal ones and for -0 and 0.
/// Both must be numbers of that dtype. Infinity is the neighbour of the largest number; NaN is as
/// far from every number as possible, and 0 from NaN. Throws std::invalid_argument for a dtype that
/// is not floating point.
double ulps_between(double actual, double expected, DType dtype);

/// roundoffs_between() each element of one tensor and that of the other, in row-major order, in the
/// dtype of `actual`. Integers are compared as such. Throws std::invalid_argument for different
/// shapes.
std::vector<double> roundoffs_between(const Tensor& actual, const Tensor& expected);

struct WorstError {
  double roundoffs = 0;
  std::int64_t index = -1;  ///< of the element in row-major order; -1 when all are equal
};

/// The largest roundoffs_between of two tensors' elements, in the dtype of `actual`.
/// Throws std::invalid_argument for different shapes.
WorstError worst_error(const Tensor& actual, const Tensor& expected);

}  // namespace halfgrad
