#include <halfgrad/autograd/ops/shared/mlp_gradients.h>

#include <atomic>

#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/mlp_tiles.h>
#include <halfgrad/autograd/ops/shared/parameter_gradients.h>

namespace halfgrad {
namespace {

std::atomic<bool> warpgroups_allowed{false};

}  // namespace

namespace backends::cuda {

void set_allow_warpgroup_mlp(bool allow) { warpgroups_allowed = allow; }
bool allow_warpgroup_mlp() { return warpgroups_allowed; }

}  // namespace backends::cuda

namespace detail {
namespace {

bool by_warpgroups(const MlpArrays& mlp) { return warpgroups_allowed && mlp_fits_warpgroups(mlp); }

// dW_l = g_l^T h_l and db_l for all layers, by products of their own.
MlpGradients multiplied(const MlpArrays& mlp, const MlpFactors& factors) {
  MlpGradients result{.dx = factors.dx, .weights = {}, .biases = {}};
  for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
    const Array &g = factors.g[l], &h = factors.h[l];
    if (mlp.biases[l].defined()) {
      const ParameterGradients of_layer = parameter_gradients(g, h);
      result.weights.push_back(of_layer.weight);
      result.biases.push_back(of_layer.bias);
    } else {
      result.weights.push_back(mm(Tensor(g.transpose(0, 1)), Tensor(h)).array());
      result.biases.emplace_back();
    }
  }
  return result;
}

}  // namespace

MlpGradients mlp_gradients(const MlpArrays& mlp, const Array& dy, bool with_dx) {
  if (dy.device().is_cpu()) return mlp_gradient_on_cpu(mlp, dy, with_dx);
  if (by_warpgroups(mlp)) return mlp_gradient_by_warpgroups(mlp, dy, with_dx);
  if (mlp_sums_fit_cuda(mlp)) return mlp_gradient_on_cuda(mlp, dy, with_dx);
  return multiplied(mlp, mlp_factors_on_cuda(mlp, dy, with_dx));
}

MlpGradients mlp_loss_gradients(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss,
                                bool with_dx) {
  if (dloss.device().is_cpu()) return mlp_loss_gradient_on_cpu(mlp, loss, dloss, with_dx);
  if (by_warpgroups(mlp)) return mlp_loss_gradient_by_warpgroups(mlp, loss, dloss, with_dx);
  if (mlp_sums_fit_cuda(mlp)) return mlp_loss_gradient_on_cuda(mlp, loss, dloss, with_dx);
  return multiplied(mlp, mlp_loss_factors_on_cuda(mlp, loss, dloss, with_dx));
}

}  // namespace detail
}  // namespace halfgrad
