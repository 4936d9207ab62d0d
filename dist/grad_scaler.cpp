#include <halfgrad/dist/grad_scaler.h>

#include <cmath>
#include <utility>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/optim/clip_grad.h>

namespace halfgrad::dist {

void synchronize(amp::GradScaler& scaler, std::shared_ptr<Communicator> communicator) {
  scaler.set_found_inf_reduction([communicator = std::move(communicator)](const Array& found_inf) {
    communicator->all_reduce(found_inf, ReduceOp::max).wait();
  });
}

Tensor clip_grad_norm_(const std::vector<Tensor>& shards, double max_norm,
                       Communicator& communicator, double norm_type) {
  if (!(norm_type > 0)) {
    halfgrad::detail::fail("clip_grad_norm_", "expected a norm_type > 0, got {}", norm_type);
  }
  std::vector<Tensor> gradients;
  for (const Tensor& shard : shards) {
    if (shard.grad().defined()) gradients.push_back(shard.grad());
  }
  halfgrad::detail::expect_unscaled(gradients, "clip_grad_norm_",
                                    "call scaler.unscale_(optimizer) first");
  const NoGradGuard no_grad;
  const Tensor part = nn::utils::get_total_norm(gradients, norm_type);
  const Device device = shards.empty() ? Device() : shards[0].device();
  Tensor total = part.to(kDouble).to(device).clone();
  if (std::isinf(norm_type)) {
    communicator.all_reduce(total.array(), ReduceOp::max).wait();
  } else {
    total = pow(total, norm_type).contiguous();
    communicator.all_reduce(total.array(), ReduceOp::sum).wait();
    total = pow(total, 1 / norm_type);
  }
  const Tensor norm = total.to(part.dtype());
  nn::utils::clip_grads_with_norm_(shards, max_norm, norm);
  return norm;
}

}  // namespace halfgrad::dist
