#include <halfgrad/testing/kernel_check.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <sstream>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/kernel_process.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/shrink.h>
#include <halfgrad/testing/successive_inputs.h>

namespace halfgrad::testing {
namespace {

bool contains(const std::vector<Hostile>& kinds, Hostile kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// The roles of an op's operands in hostile inputs: 0 for the first with the most dimensions, which
/// may follow a scalar or a bias, then 1, 2, ... from there on, around the end.
std::vector<std::size_t> roles(const std::vector<OperandSpec>& operands) {
  std::size_t leading = 0;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].sizes.size() > operands[leading].sizes.size()) leading = i;
  }
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    all.push_back((i + operands.size() - leading) % operands.size());
  }
  return all;
}

std::vector<HostileOperand> drawn(const KernelOp& op, const KernelCase& kernel_case) {
  const std::vector<OperandSpec> specs = (op.drawn ? op.drawn : op.operands)(kernel_case.dims);
  const std::vector<std::size_t> role = roles(specs);
  std::vector<HostileOperand> operands;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    operands.emplace_back(specs[i], operand_dtype(op, i, kernel_case.contract.dtype),
                          RandomKey{kernel_case.seed, role[i]});
  }
  return operands;
}

/// Replaces elements of an operand of this dtype that the contract excludes by smaller ones.
void limit(Values& operand, DType dtype, double most) {
  for (double& x : operand.data) {
    if (std::fabs(x) > most) {
      const double part = std::fabs(x) / limits_of(dtype).largest;
      x = rounded_to(dtype, std::copysign(most * (part <= 1 ? 0.5 + part / 2 : 1), x));
    }
  }
}

std::vector<Values> operands_of_kind(const KernelOp& op, const std::vector<HostileOperand>& drawn,
                                     const KernelCase& kernel_case) {
  const KernelContract& contract = kernel_case.contract;
  const std::vector<OperandSpec> specs = op.operands(kernel_case.dims);
  const std::vector<std::size_t> role = roles(specs);
  std::vector<Values> operands;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    operands.push_back(
        drawn[i].values(kind_for_operand(kernel_case.inputs, role[i], drawn.size())));
  }
  if (op.adjusted) op.adjusted({kernel_case.inputs, kernel_case.dims, contract.dtype}, operands);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (specs[i].kind != OperandSpec::Kind::number) continue;
    const DType dtype = operand_dtype(op, i, contract.dtype);
    limit(operands[i], dtype, contract.leniency.max_abs);
    if (!op.admitted && !op.adjusted) continue;
    for (double& x : operands[i].data) {
      x = rounded_to(dtype, op.admitted ? op.admitted(i, x) : x);
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
    report_ = empty_report(op_, options);
    groups_ = case_groups(op_, options);
    for (const CaseGroup& group : groups_) total_ += static_cast<std::int64_t>(group.kinds.size());
  }

  KernelReport report() {
    try {
      run_cases();
      if (!ended()) repeat();
      if (options_.shrink && smallest_failure_) shrink_failure();
    } catch (const CheckInterrupted&) {
      report_.unfinished = "interrupted after " + std::to_string(report_.cases) + " of " +
                           std::to_string(total_) + " cases";
    }
    report_.judge_bias();
    return report_;
  }

 private:
  void run_cases() {
    for (const CaseGroup& group : groups_) {
      if (ended()) return;
      KernelCase next = group.shared;
      const std::vector<HostileOperand> operands = drawn(op_, next);
      const std::vector<Values> others =
          group.with_others ? case_operands(op_, changed(next)) : std::vector<Values>{};
      for (const Hostile kind : group.kinds) {
        next.inputs = kind;
        check(next, operands, others);
      }
    }
  }

  bool ended() const {
    return !report_.unfinished.empty() || (options_.stop_at_first && !report_.findings.empty());
  }

  /// The same case with other data: the second set of inputs.
  KernelCase changed(KernelCase kernel_case) const {
    kernel_case.inputs = Hostile::normal;
    kernel_case.seed = options_.seed + 1;
    return kernel_case;
  }

  void check(const KernelCase& kernel_case, const std::vector<HostileOperand>& operands,
             const std::vector<Values>& others) {
    if (ended()) return;
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

  /// Runs one case often, with other inputs in the same memory: a kernel may be right until it has
  /// seen the same pointers some times, and a race may show in one of a thousand runs.
  void repeat() {
    constexpr std::int64_t kRepeats = 20'000, kMostElements = 2000;
    constexpr double kRepeatSeconds = 0.5, kNoLimit = 1e9;
    KernelCase repeated;
    std::int64_t most = 0;
    for (const CaseGroup& group : groups_) {
      std::int64_t elements = 0;
      for (const Shape& shape : output_shapes(op_, group.shared.dims)) elements += numel(shape);
      if (elements <= most || elements > kMostElements) continue;
      most = elements;
      repeated = group.shared;
    }
    if (most == 0 || contains(options_.without, Hostile::normal)) return;
    report_.fresh_seed = options_.fresh_seed.value_or(std::random_device{}());
    repeated.seed = *report_.fresh_seed;
    repeated.contract = groups_.front().shared.contract;
    repeated.contract.round = 0;
    const CaseResult result = repeat_case(kernel_, op_, output_shapes(op_, repeated.dims),
                                          successive_inputs(op_, repeated), repeated.contract,
                                          options_.repeat.value_or(kRepeats),
                                          options_.repeat ? kNoLimit : kRepeatSeconds);
    // The cases have said so of a kernel that is always wrong.
    const bool known = result.fault == Fault::wrong_value && !report_.findings.empty();
    if (result.fault && !known) report_.add(*result.fault, result.message, repeated);
  }

  /// Runs with one set of inputs only, so that the smallest case fails by itself: the first set or
  /// the second. A case that does not always fail is reported as such and not made smaller. The
  /// time limit holds for all of it: a large case may need it for its first runs.
  void shrink_failure() {
    constexpr int kRuns = 5;
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto left = [&] {
      const std::chrono::duration<double> past = Clock::now() - begin;
      return options_.shrink_seconds - past.count();
    };
    const RunCase alone = [&](const Dims& dims, const std::vector<Values>& operands) {
      return run_case(kernel_, op_, output_shapes(op_, dims), operands, operands,
                      smallest_failure_->contract);
    };
    for (const KernelCase& failure : {*smallest_failure_, changed(*smallest_failure_)}) {
      const std::vector<Values> operands = case_operands(op_, failure);
      int failed = 0, runs = 0;
      bool slow = false;
      for (; runs < kRuns && !slow && (runs == 0 || left() > 0); ++runs) {
        const CaseResult result = alone(failure.dims, operands);
        failed += result.fault ? 1 : 0;
        slow = result.fault == Fault::hung;
      }
      if (slow) return;
      if (failed == runs) {
        report_.shrunk = shrink(op_, failure.dims, operands, alone, left());
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
  std::vector<CaseGroup> groups_;
  KernelReport report_;
  std::optional<KernelCase> smallest_failure_;
  std::int64_t total_ = 0;  // cases
  int crashes_ = 0;
};

}  // namespace

std::string to_string(const KernelCase& kernel_case) {
  const Dims& d = kernel_case.dims;
  std::ostringstream text;
  text << "m = " << d.m << ", n = " << d.n << ", k = " << d.k;
  if (d.columns > 0) text << ", columns = " << d.columns;
  text << ", " << name(kernel_case.inputs) << ", " << name(kernel_case.contract.layout);
  if (kernel_case.contract.in_place) text << ", in place";
  return text.str();
}

std::vector<Values> case_operands(const KernelOp& op, const KernelCase& kernel_case) {
  return operands_of_kind(op, drawn(op, kernel_case), kernel_case);
}

KernelReport check_kernel(const Kernel& kernel, const std::string& op,
                          const KernelCheckOptions& options) {
  return check_op(kernel, kernel_op(op), options);
}

KernelReport check_op(const Kernel& kernel, const KernelOp& op, const KernelCheckOptions& options) {
  return KernelCheck(kernel, with_parameters(op, options.parameters), options).report();
}

}  // namespace halfgrad::testing
