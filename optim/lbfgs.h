#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

enum class LineSearch { none, strong_wolfe };

struct LBFGSArguments {
  double lr = 1;
  std::int64_t max_iter = 20;                 ///< iterations of one step()
  std::optional<std::int64_t> max_eval = {};  ///< calls of the closure; max_iter * 5 / 4 by default
  double tolerance_grad = 1e-7;               ///< ends if every |gradient| is at most this
  double tolerance_change = 1e-9;             ///< ends if loss or parameters change by less
  std::int64_t history_size = 100;
  LineSearch line_search_fn = LineSearch::none;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(LBFGSOptions, LBFGSArguments)

/// L-BFGS (Liu and Nocedal 1989; Nocedal and Wright 2006, algorithm 7.4), as torch.optim.LBFGS: a
/// quasi-Newton method for problems whose loss and gradient are computed on all data, without
/// noise.
///
///   optim::LBFGS optimizer(parameters, {.line_search_fn = optim::LineSearch::strong_wolfe});
///   optimizer.step([&] {
///     optimizer.zero_grad();
///     Tensor loss = mse_loss(model(x), y);
///     loss.backward();
///     return loss;
///   });
///
/// Step k moves x by t * d with d = -H * g. H approximates the inverse Hessian by the last
/// history_size pairs s = x_k - x_(k-1) and y = g_k - g_(k-1) with s * y > 1e-10. t is lr, at first
/// lr * min(1, 1 / sum |g|), or comes from the line search.
///
/// One group of float32 or float64 parameters on one device. Each iteration reads the loss on the
/// host, so no graph can capture it, and a GradScaler's step throws std::invalid_argument. The
/// first parameter's state has PyTorch's names; sums over all parameters are flattened.
/// state_dict() has the options lr and maximize only.
class LBFGS : public Optimizer {
 public:
  /// Throws std::invalid_argument for options out of range and parameters as above, and as
  /// add_param_group().
  explicit LBFGS(std::vector<Tensor> params, const LBFGSArguments& options = {});
  explicit LBFGS(std::vector<ParamGroup> groups, const LBFGSArguments& options = {});
  /// libtorch's short form: `LBFGS(parameters, 0.1)` for {.lr = 0.1}.
  LBFGS(std::vector<Tensor> params, std::floating_point auto lr)
      : LBFGS(std::move(params), LBFGSArguments{.lr = lr}) {}

 private:
  LBFGS(const LBFGSArguments& options);
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  std::optional<Tensor> run_step(const std::function<Tensor()>& closure) override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;

  LBFGSArguments options_;
};

}  // namespace halfgrad::optim
