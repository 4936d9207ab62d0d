#pragma once

#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

/// The base class of optimizers whose update is one formula (formula_update.h). The only scalar of
/// a parameter that the formula reads is its step count.
class FormulaOptimizer : public Optimizer {
 public:
  bool is_elementwise() const override { return true; }

 protected:
  using Optimizer::Optimizer;

  /// Checks the usual options: lr, betas, eps, weight_decay and momentum.
  void check_options(const ParamGroup& group) const override;
  bool add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                       std::vector<detail::StepCount>& counts, Array& corrections) override;
};

}  // namespace halfgrad::optim
