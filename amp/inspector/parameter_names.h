#pragma once

#include <string>
#include <vector>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::amp {

struct StepReport;

/// Names of the parameters of one optimizer or of several, in the order in which a StepReport
/// counts them.
class ParameterNames {
 public:
  ParameterNames() = default;
  /// For one optimizer of all parameters, made with model.parameters(). Implicit, so that
  /// explain(report, named) reads well.
  ParameterNames(const NamedModel& model);  // NOLINT(google-explicit-constructor)
  /// For optimizers of any groups, in the order of their steps.
  ParameterNames(const NamedModel& model, const std::vector<const optim::Optimizer*>& optimizers);
  /// For one optimizer with these names.
  explicit ParameterNames(std::vector<std::string> names) : names_{std::move(names)} {}

  /// "encoder.2.weight"; "parameter 2" if the name is not known.
  std::string of(std::int64_t optimizer, std::int64_t parameter) const;
  /// The first parameter of a report that has an inf or a NaN.
  std::string first_bad(const StepReport& report) const;

 private:
  std::vector<std::vector<std::string>> names_;  // for each optimizer
};

}  // namespace halfgrad::amp
