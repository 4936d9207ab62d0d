#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

/// The factor of lr for a parameter of shape [rows, columns].
enum class MuonRate {
  original,            ///< sqrt(max(1, rows / columns)) (Jordan)
  match_rms_adamw,     ///< 0.2 sqrt(max(rows, columns)): the rates of AdamW fit (Liu et al. 2025)
  spectral_unclamped,  ///< sqrt(rows / columns) (Bernstein)
};

struct MuonArguments {
  double lr = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  std::array<double, 3> ns_coefficients = {3.4445, -4.7750, 2.0315};
  double eps = 1e-7;
  std::int64_t ns_steps = 5;
  MuonRate adjust_lr_fn = MuonRate::original;
};
HALFGRAD_PLAIN_NAME(MuonOptions, MuonArguments)

/// Muon (Jordan 2024, kellerjordan.github.io/posts/muon), as torch.optim.Muon: momentum whose
/// singular values are all moved close to 1. It is for the matrices of hidden layers.
///
///     m = momentum * m + (1 - momentum) * gradient
///     u = nesterov ? (1 - momentum) * gradient + momentum * m : m
///     p = (1 - lr * weight_decay) * p - lr * factor * NewtonSchulz(u)
///
/// NewtonSchulz starts from X = u / max(|u|, eps), and computes ns_steps times, in bfloat16 on
/// every device, X = a X + (b X X^T + c (X X^T)^2) X. It changes the singular values alone, and
/// brings them to between 0.7 and 1.2.
///
/// The state of a parameter is "momentum_buffer" (m). state_dict() has no ns_coefficients, ns_steps
/// and adjust_lr_fn.
class Muon : public Optimizer {
 public:
  /// Throws std::invalid_argument for a parameter that is no matrix, if an option is negative or
  /// NaN, or ns_steps is 100 or more, and as add_param_group().
  explicit Muon(std::vector<Tensor> params, const MuonArguments& options = {});
  explicit Muon(std::vector<ParamGroup> groups, const MuonArguments& options = {});
  /// Short form: `Muon(parameters, 0.1)` for {.lr = 0.1}.
  Muon(std::vector<Tensor> params, std::floating_point auto lr)
      : Muon(std::move(params), MuonArguments{.lr = lr}) {}

 private:
  explicit Muon(const MuonArguments& options);
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  bool add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                       std::vector<detail::StepCount>& counts, Array& corrections) override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
  Array orthogonalized(const Array& matrix, double eps) const;
  double rate_factor(const Shape& sizes) const;

  MuonArguments options_;
};

}  // namespace halfgrad::optim
