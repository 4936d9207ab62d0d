#include <halfgrad/testing/kernel_check.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/kernel_process.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/shrink.h>

namespace halfgrad::testing {
namespace {

bool contains(const std::vector<Hostile>& kinds, Hostile kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::vector<HostileOperand> drawn(const KernelOp& op, const KernelCase& kernel_case) {
  std::vector<HostileOperand> operands;
  for (const OperandSpec& spec : op.operands(kernel_case.dims)) {
    operands.emplace_back(spec, kernel_case.contract.dtype,
                          RandomKey{kernel_case.seed, operands.size()});
  }
  return operands;
}

/// Replaces operands that the contract excludes by smaller ones.
void limit(Values& operand, const KernelContract& contract) {
  const double most = contract.leniency.max_abs;
  for (double& x : operand.data) {
    if (std::fabs(x) > most) {
      const double part = std::fabs(x) / limits_of(contract.dtype).largest;
      x = rounded_to(contract.dtype, std::copysign(most * (part <= 1 ? 0.5 + part / 2 : 1), x));
    }
  }
}

std::vector<Values> operands_of_kind(const KernelOp& op, const std::vector<HostileOperand>& drawn,
                                     const KernelCase& kernel_case) {
  const std::vector<OperandSpec> specs = op.operands(kernel_case.dims);
  std::vector<Values> operands;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    operands.push_back(drawn[i].values(kind_for_operand(kernel_case.inputs, i, drawn.size())));
    if (specs[i].kind != OperandSpec::Kind::number) continue;
    limit(operands.back(), kernel_case.contract);
    if (!op.admitted) continue;
    for (double& x : operands.back().data) {
      x = rounded_to(kernel_case.contract.dtype, op.admitted(i, x));
    }
  }
  return operands;
}

void expect_outputs(const Kernel& kernel, const KernelOp& op) {
  if (op.outputs.size() < 2 || kernel.takes_outputs()) return;
  halfgrad::detail::fail("check_kernel",
                         "expected a kernel (inputs, outputs), as {} has {} outputs, got one of a "
                         "single output",
                         op.name, op.outputs.size());
}

class KernelCheck {
 public:
  KernelCheck(const Kernel& kernel, const KernelOp& op, const KernelCheckOptions& options)
      : kernel_(options.own_process ? kernel_in_process(kernel, options.timeout) : kernel),
        op_(op),
        options_(options) {
    expect_outputs(kernel, op);
    report_.op = op.name;
    report_.dtype = options.dtype;
    report_.output = options.output ? *options.output : op_.output_dtype(options.dtype);
    report_.accumulate = options.accumulate          ? *options.accumulate
                         : options.dtype == kFloat64 ? kFloat64
                                                     : kFloat32;
    const CheckDims dims = check_dims_of(op_);
    dims_ = options.dims.empty() ? check_dims(op_) : options.dims;
    all_kinds_ = options.dims.empty() ? dims.all_kinds.size() : dims_.size();
    for (const Dims& dims : dims_) expect_dims(op_, dims);
    contracts_ = contracts(op_, {report_.dtype, report_.output, report_.accumulate}, options);
  }

  KernelReport report() {
    run_cases();
    if (!ended()) repeat();
    report_.judge_bias();
    if (options_.shrink && smallest_failure_) shrink_failure();
    return report_;
  }

 private:
  void run_cases() {
    const auto last_of_all_kinds = static_cast<std::ptrdiff_t>(all_kinds_);
    total_ = static_cast<std::int64_t>(all_kinds_ * (kHostileKinds + contracts_.size() - 1) +
                                       (dims_.size() - all_kinds_) * 3);
    for (auto dims = dims_.begin(); dims != dims_.end(); ++dims) {
      const bool all = dims - dims_.begin() < last_of_all_kinds;
      ++round_;
      for (const KernelContract& contract : contracts_) {
        const bool first = contract.layout == contracts_.front().layout;
        KernelCase next{.dims = *dims, .contract = contract, .seed = options_.seed};
        next.contract.round = round_;
        if (all) check_kinds(next, first);
        if (!all && first && !contract.in_place) check_few_kinds(next);
      }
    }
  }

  bool ended() const {
    return !report_.unfinished.empty() || (options_.stop_at_first && !report_.findings.empty());
  }

  /// Checks all kinds of inputs, or only normal ones: enough for a further layout.
  void check_kinds(KernelCase kernel_case, bool all) {
    const std::vector<HostileOperand> operands = drawn(op_, kernel_case);
    const std::vector<Values> others = case_operands(op_, changed(kernel_case));
    for (int kind = 0; kind < kHostileKinds; ++kind) {
      kernel_case.inputs = static_cast<Hostile>(kind);
      if (!all && kernel_case.inputs != Hostile::normal) continue;
      check(kernel_case, operands, others);
    }
  }

  /// Checks one set of normal inputs and, unless there are many, specials in some rows. NaN at the
  /// end of a long row shows positions and counts of 16 bits.
  void check_few_kinds(KernelCase kernel_case) {
    constexpr std::int64_t kMany = 20'000;
    const std::vector<HostileOperand> operands = drawn(op_, kernel_case);
    std::int64_t elements = 0;
    for (const OperandSpec& spec : op_.operands(kernel_case.dims)) elements += numel(spec.sizes);
    std::vector<Hostile> kinds = {Hostile::normal, Hostile::special_rows, Hostile::inf_runs};
    if (elements >= kMany) kinds.resize(1);
    if (elements >= kMany && kernel_case.dims.m == 1) kinds.push_back(Hostile::nan_last);
    for (const Hostile kind : kinds) {
      kernel_case.inputs = kind;
      check(kernel_case, operands, {});
    }
  }

  /// The same case with other data: the second set of inputs.
  KernelCase changed(KernelCase kernel_case) const {
    kernel_case.inputs = Hostile::normal;
    kernel_case.seed = options_.seed + 1;
    return kernel_case;
  }

  void check(const KernelCase& kernel_case, const std::vector<HostileOperand>& operands,
             const std::vector<Values>& others) {
    if (ended() || contains(options_.without, kernel_case.inputs)) return;
    if (options_.progress) options_.progress(report_.cases + 1, total_);
    const CaseResult result =
        run_case(kernel_, op_, output_shapes(op_, kernel_case.dims),
                 operands_of_kind(op_, operands, kernel_case), others, kernel_case.contract);
    report_.add(result, kernel_case);
    if (result.fault) note_failure(*result.fault, kernel_case);
  }

  void note_failure(Fault fault, const KernelCase& kernel_case) {
    const auto size = [](const Dims& d) { return d.m * d.n * d.k; };
    if (!smallest_failure_ || size(kernel_case.dims) < size(smallest_failure_->dims)) {
      smallest_failure_ = kernel_case;
    }
    constexpr int kMostCrashes = 20;
    if (fault == Fault::crashed) ++crashes_;
    if (fault == Fault::hung || crashes_ >= kMostCrashes) {
      report_.unfinished = (fault == Fault::hung ? "the kernel hung in case "
                                                 : "the kernel crashed again in case ") +
                           std::to_string(report_.cases) + " of " + std::to_string(total_) + ", " +
                           to_string(kernel_case);
    }
  }

  /// Runs one case often: a race may show in one of a thousand runs.
  void repeat() {
    constexpr std::int64_t kRepeats = 2000, kMostElements = 2000;
    constexpr double kRepeatSeconds = 0.2, kNoLimit = 1e9;
    const std::int64_t runs = options_.repeat.value_or(kRepeats);
    KernelCase repeated{.dims = {}, .contract = contracts_.front(), .seed = options_.seed};
    std::int64_t most = -1;
    for (const Dims& dims : dims_) {
      std::int64_t elements = 0;
      for (const Shape& shape : output_shapes(op_, dims)) elements += numel(shape);
      if (elements <= most || elements > kMostElements) continue;
      most = elements;
      repeated.dims = dims;
    }
    if (most <= 0 || runs < 2 || contains(options_.without, Hostile::normal)) return;
    const CaseResult result =
        repeat_case(kernel_, op_, output_shapes(op_, repeated.dims), case_operands(op_, repeated),
                    repeated.contract, runs, options_.repeat ? kNoLimit : kRepeatSeconds);
    if (result.fault) report_.add(*result.fault, result.message, repeated);
  }

  /// Runs with one set of inputs only, so that the smallest case fails by itself: the first set or
  /// the second. A case that does not always fail is reported as such and not made smaller.
  void shrink_failure() {
    constexpr int kRuns = 5;
    const RunCase alone = [&](const Dims& dims, const std::vector<Values>& operands) {
      return run_case(kernel_, op_, output_shapes(op_, dims), operands, operands,
                      smallest_failure_->contract);
    };
    for (const KernelCase& failure : {*smallest_failure_, changed(*smallest_failure_)}) {
      const std::vector<Values> operands = case_operands(op_, failure);
      int failed = 0, runs = 0;
      bool slow = false;
      for (; runs < kRuns && !slow; ++runs) {
        const CaseResult result = alone(failure.dims, operands);
        failed += result.fault ? 1 : 0;
        slow = result.fault == Fault::hung;
      }
      if (slow) return;
      if (failed == runs) {
        report_.shrunk = shrink(op_, failure.dims, operands, alone, options_.shrink_seconds);
        if (report_.shrunk) return;
      }
      if (failed > 0) return add_flaky(failed, runs, failure);
    }
    report_.repeated = "fails in 0 of " + std::to_string(kRuns) +
                       " runs by itself: it depends on earlier calls or on chance";
  }

  void add_flaky(int failed, int runs, const KernelCase& failure) {
    report_.repeated =
        "fails in " + std::to_string(failed) + " of " + std::to_string(runs) + " runs";
    report_.add(Fault::not_deterministic, report_.repeated + " on the same inputs", failure);
  }

  Kernel kernel_;
  KernelOp op_;
  KernelCheckOptions options_;
  std::vector<Dims> dims_;
  std::size_t all_kinds_ = 0;  // the first dims, for all kinds of inputs
  std::vector<KernelContract> contracts_;
  KernelReport report_;
  std::optional<KernelCase> smallest_failure_;
  std::int64_t total_ = 0;  // cases
  std::uint32_t round_ = 0;
  int crashes_ = 0;
};

}  // namespace

std::string to_string(const KernelCase& kernel_case) {
  const Dims& d = kernel_case.dims;
  std::ostringstream text;
  text << "m = " << d.m << ", n = " << d.n << ", k = " << d.k << ", " << name(kernel_case.inputs)
       << ", " << name(kernel_case.contract.layout);
  if (kernel_case.contract.in_place) text << ", in place";
  return text.str();
}

std::vector<Values> case_operands(const KernelOp& op, const KernelCase& kernel_case) {
  return operands_of_kind(op, drawn(op, kernel_case), kernel_case);
}

std::vector<KernelContract> contracts(const KernelOp& op, const KernelContract& dtypes,
                                      const KernelCheckOptions& options) {
  if (options.layouts.empty()) {
    halfgrad::detail::fail("check_kernel", "expected layouts to run in, got none");
  }
  if (options.in_place && !op.may_work_in_place) {
    halfgrad::detail::fail("check_kernel", "expected an op that may work in place, got {}",
                           op.name);
  }
  if (options.in_place && dtypes.output != dtypes.dtype) {
    halfgrad::detail::fail("check_kernel",
                           "expected the operands' dtype in place, {}, got an output of {}",
                           dtypes.dtype, dtypes.output);
  }
  const DeviceGuard guard(options.device);
  std::vector<KernelContract> all;
  const auto add = [&](Layout layout, bool in_place) {
    all.push_back({dtypes.dtype, dtypes.output, dtypes.accumulate, layout, options.device, in_place,
                   0, options.leniency});
  };
  for (const Layout layout : options.layouts) add(layout, false);
  if (options.in_place) add(options.layouts.front(), true);
  return all;
}

KernelReport check_kernel(const Kernel& kernel, const std::string& op,
                          const KernelCheckOptions& options) {
  return check_op(kernel, kernel_op(op), options);
}

KernelReport check_op(const Kernel& kernel, const KernelOp& op, const KernelCheckOptions& options) {
  return KernelCheck(kernel, op, options).report();
}

}  // namespace halfgrad::testing
