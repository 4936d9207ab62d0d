#pragma once

#include <cstdint>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/report/run_record.h>

namespace halfgrad::report {

/// Observes one training step: its ops, and the exponents of its gradients. Forward ops that record
/// no graph, such as those that compute an accuracy, are left out.
class StepObserver : public OpObserver {
 public:
  /// `scale` is the step's loss scale; one that is not finite and positive counts as 1.
  StepObserver(const amp::NamedModel& model, std::int64_t step, double scale);

  Ops ops() const;
  Exponents exponents() const;

  void ran(const OpCall& call) override;
  void ran_backward(const BackwardCall& call) override { ledger_.ran_backward(call); }
  void received(const Tensor& leaf, const Tensor& gradient) override {
    ledger_.received(leaf, gradient);
  }

 private:
  std::int64_t step_;
  double scale_;
  amp::OpLog log_;
  amp::UnderflowLedger ledger_;
};

}  // namespace halfgrad::report
