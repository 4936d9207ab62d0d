#include "regression.h"

#include <vector>

namespace {

/// Returns a tensor of weights or inputs; its element i is
///     ((first + i) * multiplier mod 61 - 30) / divisor
hg::Tensor pattern(const hg::Shape& sizes, std::int64_t first, std::int64_t multiplier,
                   double divisor) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < hg::numel(sizes); ++i) {
    values.push_back(
        static_cast<float>(static_cast<double>((first + i) * multiplier % 61 - 30) / divisor));
  }
  return hg::tensor(values, sizes);
}

}  // namespace

Regression::Regression() : Callable("Regression") {
  const hg::NoGradGuard no_grad;
  for (hg::Tensor& parameter : parameters()) {
    parameter.copy_(pattern(parameter.sizes(), 1, 37, 64));
  }
  to(device);
}

hg::data::Batch Regression::batch(std::int64_t index) const {
  const hg::Tensor x = pattern({kBatch, kFeatures}, index * kBatch * kFeatures, 29, 16);
  const hg::Tensor y = x.slice(1, 0, 1) * x.slice(1, 1, 2) - x.slice(1, 2, 3);
  return {x.to(device), y.to(device)};
}
