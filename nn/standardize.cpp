#include <halfgrad/nn/standardize.h>

#include <cmath>
#include <limits>
#include <vector>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn {

Standardize::Standardize(std::int64_t num_features, StandardizeOptions options)
    : Callable("Standardize", detail::text(num_features)), num_features_(num_features) {
  if (num_features < 1) {
    halfgrad::detail::fail("Standardize", "expected num_features > 0, got {}", num_features);
  }
  const Tensor unknown = full({num_features}, std::numeric_limits<double>::quiet_NaN(),
                              {.dtype = options.dtype, .device = options.device});
  mean = register_buffer("mean", unknown);
  std = register_buffer("std", unknown.clone());
}

void Standardize::fit(const Tensor& x) {
  if (x.dim() != 2 || x.size(1) != num_features_ || x.size(0) == 0) {
    halfgrad::detail::fail("Standardize", "expected x [n, {}] with n > 0 to fit, got {}",
                           num_features_, x.sizes());
  }
  const NoGradGuard no_grad;
  const halfgrad::detail::CastRuleScope no_autocast(nullptr);
  const Tensor wide = x.to(kDouble);
  const Tensor centre = wide.mean(0);
  const Tensor variance = (wide - centre).square().mean(0);
  // The mean of equal elements may round, which leaves a tiny variance.
  const std::vector<double> ranges = (wide.amax(0) - wide.amin(0)).to_vector<double>();
  std::vector<double> deviations = variance.to_vector<double>();
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    // A sum with NaN or infinity is NaN or infinity, and so is its variance.
    if (!std::isfinite(deviations[i])) {
      halfgrad::detail::fail(
          "Standardize",
          "expected finite elements with a finite variance, got others in feature {}", i);
    }
    deviations[i] = ranges[i] == 0 ? 1 : std::sqrt(deviations[i]);
  }
  Tensor(mean).copy_(centre);
  Tensor(std).copy_(tensor(deviations, {num_features_}, {.dtype = kDouble}));
}

Tensor Standardize::forward(const Tensor& input) const {
  if (input.dim() == 0 || input.size(-1) != num_features_) {
    halfgrad::detail::fail("Standardize", "expected shape [..., {}], got {}", num_features_,
                           input.sizes());
  }
  if (mean.is_cpu() && std::isnan(mean.detach().to_vector<double>()[0])) {
    halfgrad::detail::fail("Standardize",
                           "expected fit() or load_state_dict() before, got neither");
  }
  return (input - mean) / std;
}

}  // namespace halfgrad::nn
