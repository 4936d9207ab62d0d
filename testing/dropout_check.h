#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/testing/distribution_report.h>

namespace halfgrad::testing {

/// The state of the random numbers of one call: another seed or offset gives other draws.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};

/// A dropout kernel: drops each element of x with probability p, y = 0, and scales the others,
/// y = x / (1 - p). `mask`, of bools, is true where an element is kept; it is undefined if the
/// options have no mask. The same state gives the same mask, whatever x is.
using DropoutKernel = std::function<void(const Array& x, double p, RandomState state,
                                         const Array& y, const Array& mask)>;

struct DropoutCheckOptions {
  DType dtype = kFloat32;  ///< dtype of x and y
  Device device = {};
  bool has_mask = true;  ///< the kernel writes a mask
  /// Probabilities to drop an element. Small ones show thresholds of few bits: 0.002 * 256 rounds
  /// to 1.
  std::vector<double> probabilities = {0, 0.002, 0.1, 0.5, 0.9, 1};
  std::uint64_t seed = 0;  ///< seed of the inputs and of the kernel's first call
};

/// Checks a dropout kernel: values of kept and dropped elements, also where x is 0 or infinite;
/// the share that is kept, in all, by row, by column and by place; that elements are independent of
/// those up to 256 places, powers of two and whole rows away, and of those of other seeds and
/// offsets; that a call can be repeated. A million decisions for each probability find a share
/// that is off by 0.004 at p = 0.5. Seeds are below 2^31; an offset moves by the number of
/// elements. An exception of the kernel is a finding. Throws std::invalid_argument for a dtype that
/// is not floating-point and for probabilities outside of [0, 1].
DistributionReport check_dropout(const DropoutKernel& kernel,
                                 const DropoutCheckOptions& options = {});

}  // namespace halfgrad::testing
