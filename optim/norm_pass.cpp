#include <halfgrad/optim/norm_pass.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/autograd/ops/shared/norm_reductions.h>
#include <halfgrad/core/engines/multi_tensor_norm.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

// The end of the pass, on the device: see multi_tensor_norm().
struct FinishNorm {
  using Item = StepCount;

  float max_norm;
  bool clips;
  float* factors;
  float* total_norm;

  struct Before {};
  HG_HD Before before() const { return {}; }

  HG_HD void once(float norm, bool, const Before&) const {
    *total_norm = norm;
    factors[0] = 1;
    factors[1] = clips ? clip_coefficient(max_norm, norm) : 1;
  }
  HG_HD void each(const StepCount& count, bool) const { count.advance(); }
};

}  // namespace

bool NormPass::run_and_count(const std::vector<StepCount>& counts) {
  return settle_here([&](const std::vector<Array>& elements, std::optional<double> max_norm) {
    run(elements, max_norm, counts);
  });
}

void NormPass::compute_from(const std::vector<Array>& elements, std::optional<double> max_norm) {
  run(elements, max_norm, std::vector<StepCount>(elements.size()));
}

void NormPass::run(const std::vector<Array>& elements, std::optional<double> max_norm,
                   const std::vector<StepCount>& counts) {
  std::vector<NormedTensor<StepCount>> gradients;
  for (std::size_t i = 0; i < elements.size(); ++i) gradients.push_back({&elements[i], counts[i]});
  const FinishNorm finish{.max_norm = static_cast<float>(max_norm.value_or(0)),
                          .clips = max_norm.has_value(),
                          .factors = factors().data_as<float>(),
                          .total_norm = total_norm().data_as<float>()};
  if (!multi_tensor_norm(Squares(), gradients, nullptr, finish)) {
    fail<std::logic_error>("clip_grad_norm_", "expected gradients that fit in one launch");
  }
}

void defer_norm(std::span<const Tensor> gradients) {
  std::vector<Array> elements = elements_for_pass(gradients);
  if (elements.empty() || !fits_multi_tensor_norm<StepCount>(elements)) return;
  set_pending_unscale(gradients, std::make_shared<NormPass>(std::move(elements)));
}

}  // namespace halfgrad::detail
