#pragma once

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

struct AssertCloseOptions {
  double roundoffs = 4;  ///< allowed per element, of max(1, |expected|); see ulp.h
};

/// Throws std::runtime_error unless every element of `actual` is within the given number of
/// roundoffs of `expected`, in the dtype of `actual`. The message counts the elements that are not,
/// and shows the worst. `expected` may have a wider dtype: a reference in float64. NaN equals NaN.
/// Throws std::invalid_argument for different shapes.
void assert_close(const Tensor& actual, const Tensor& expected,
                  const AssertCloseOptions& options = {});

}  // namespace halfgrad
