#include <halfgrad/compat/init.h>

#include <cmath>
#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn::init {

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  using halfgrad::detail::fail;
  if (tensor.dim() != 2) fail("sparse_", "expected a matrix, got shape {}", tensor.sizes());
  if (!(sparsity >= 0 && sparsity <= 1)) {
    fail("sparse_", "expected a sparsity in [0, 1], got {}", sparsity);
  }
  const NoGradGuard no_grad;
  normal_(tensor, 0, std);
  const std::int64_t rows = tensor.size(0);
  const auto zero_rows = static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  for (std::int64_t column = 0; column < tensor.size(1); ++column) {
    const Tensor chosen = randperm(rows, {.device = tensor.device()}).slice(0, 0, zero_rows);
    tensor.select(1, column).index_fill_(0, chosen, 0);
  }
  return tensor;
}

}  // namespace halfgrad::nn::init
