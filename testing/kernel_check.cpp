#include <halfgrad/testing/kernel_check.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/shrink.h>

namespace halfgrad::testing {
namespace {

/// The mean error, in ulps, from which rounding counts as biased: half of the bias of truncation.
/// For kElementsForBias elements it is 13 standard deviations of rounding to nearest.
constexpr double kBias = 0.25;
constexpr std::int64_t kElementsForBias = 256;

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

std::vector<Values> operands_of_kind(const KernelOp& op, const std::vector<HostileOperand>& drawn,
                                     const KernelCase& kernel_case) {
  std::vector<Values> operands;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    operands.push_back(drawn[i].values(kind_for_operand(kernel_case.inputs, i, drawn.size())));
    if (!op.admitted) continue;
    for (double& x : operands.back().data) {
      x = rounded_to(kernel_case.contract.dtype, op.admitted(i, x));
    }
  }
  return operands;
}

class KernelCheck {
 public:
  KernelCheck(const Kernel& kernel, const std::string& name, const KernelCheckOptions& options)
      : kernel_(kernel), op_(kernel_op(name)), options_(options) {
    report_.op = name;
    report_.dtype = options.dtype;
    report_.output = options.output ? *options.output : op_.output_dtype(options.dtype);
    report_.accumulate = options.accumulate          ? *options.accumulate
                         : options.dtype == kFloat64 ? kFloat64
                                                     : kFloat32;
    dims_ = options.dims.empty() ? check_dims(op_) : options.dims;
    for (const Dims& dims : dims_) expect_dims(op_, dims);
    contracts_ = contracts(op_, {report_.dtype, report_.output, report_.accumulate}, options);
  }

  KernelReport report() {
    for (const Dims& dims : dims_) {
      for (const KernelContract& contract : contracts_) {
        check_kinds({.dims = dims, .contract = contract},
                    contract.layout == contracts_.front().layout);
      }
    }
    find_bias();
    if (options_.shrink && smallest_failure_) shrink_failure();
    return report_;
  }

 private:
  /// Checks all kinds of inputs, or only normal ones: enough for a further layout.
  void check_kinds(KernelCase kernel_case, bool all) {
    kernel_case.seed = options_.seed;
    const std::vector<HostileOperand> operands = drawn(op_, kernel_case);
    const std::vector<Values> others = case_operands(op_, changed(kernel_case));
    for (int kind = 0; kind < kHostileKinds; ++kind) {
      kernel_case.inputs = static_cast<Hostile>(kind);
      if (!all && kernel_case.inputs != Hostile::normal) continue;
      if (!contains(options_.without, kernel_case.inputs))
        check(kernel_case, operands_of_kind(op_, operands, kernel_case), others);
    }
  }

  /// The same case with other data: the second set of inputs.
  KernelCase changed(KernelCase kernel_case) const {
    kernel_case.inputs = Hostile::normal;
    kernel_case.seed = options_.seed + 1;
    return kernel_case;
  }

  void check(const KernelCase& kernel_case, const std::vector<Values>& operands,
             const std::vector<Values>& others) {
    const CaseResult result = run_case(kernel_, op_, op_.output(kernel_case.dims), operands, others,
                                       kernel_case.contract);
    report_.add(result, kernel_case);
    if (!result.fault) return;
    const auto size = [](const Dims& d) { return d.m * d.n * d.k; };
    if (!smallest_failure_ || size(kernel_case.dims) < size(smallest_failure_->dims)) {
      smallest_failure_ = kernel_case;
    }
  }

  void find_bias() {
    const double bias = report_.use.bias();
    if (report_.use.inexact < kElementsForBias || std::fabs(bias) < kBias) return;
    std::ostringstream message;
    message.precision(3);
    message << "results are " << std::fabs(bias) << " ulps too " << (bias < 0 ? "small" : "large")
            << " in the mean of " << report_.use.inexact
            << " elements: expected rounding to nearest";
    report_.add(Fault::biased, message.str(), report_.worst_case);
  }

  /// Runs with one set of inputs only, so that the smallest case fails by itself: the first set or
  /// the second. Stale and nondeterministic results are not found this way.
  void shrink_failure() {
    const RunCase alone = [&](const Dims& dims, const std::vector<Values>& operands) {
      return run_case(kernel_, op_, op_.output(dims), operands, operands,
                      smallest_failure_->contract);
    };
    for (const KernelCase& failure : {*smallest_failure_, changed(*smallest_failure_)}) {
      const std::vector<Values> operands = case_operands(op_, failure);
      if (!alone(failure.dims, operands).fault) continue;
      report_.shrunk = shrink(op_, failure.dims, operands, alone);
      return;
    }
  }

  const Kernel& kernel_;
  KernelOp op_;
  KernelCheckOptions options_;
  std::vector<Dims> dims_;
  std::vector<KernelContract> contracts_;
  KernelReport report_;
  std::optional<KernelCase> smallest_failure_;
};

bool depends_on_n(const KernelOp& op) {
  const auto one = op.operands({1, 1, 1}), two = op.operands({1, 2, 1});
  const auto alike = [](const OperandSpec& a, const OperandSpec& b) { return a.sizes == b.sizes; };
  return !std::equal(one.begin(), one.end(), two.begin(), alike);
}

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

void KernelReport::add(const CaseResult& result, const KernelCase& kernel_case) {
  ++cases;
  use.add(result.use);
  if (result.worst && (cases == 1 || result.worst->used > worst.used)) {
    worst = *result.worst;
    worst_case = kernel_case;
  }
  if (result.fault) add(*result.fault, result.message, kernel_case);
}

void KernelReport::add(Fault fault, const std::string& message, const KernelCase& kernel_case) {
  for (KernelFinding& finding : findings) {
    if (finding.fault != fault) continue;
    ++finding.cases;
    return;
  }
  findings.push_back({fault, message, kernel_case});
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
    all.push_back(
        {dtypes.dtype, dtypes.output, dtypes.accumulate, layout, options.device, in_place});
  };
  for (const Layout layout : options.layouts) add(layout, false);
  if (options.in_place) add(options.layouts.front(), true);
  return all;
}

std::vector<Dims> check_dims(const KernelOp& op) {
  if (!op.any_dims) return {{}};
  if (op.elementwise) return {{1, 1}, {1, 7}, {3, 17}, {8, 64}, {1, 1031}, {0, 5}, {4, 0}};
  const bool has_columns = depends_on_n(op);
  std::vector<Dims> dims = {{1, 1, 1}, {3, 1, 7}, {5, 1, 64}, {2, 1, 257}, {1, 1, 4099}, {0, 1, 5}};
  if (has_columns) {
    const bool deep = op.operands({}).front().sizes.size() > 2;  // three dims in one operand
    const Dims odd{deep ? 2 : 17, 9, 33}, even = deep ? Dims{4, 3, 64} : Dims{8, 16, 64};
    dims = {{1, 1, 1}, {3, 5, 7}, odd, even, {1, 2, 2051}, {0, 3, 4}, {3, 0, 4}};
  }
  dims.push_back({3, has_columns ? 4 : 1, 0});
  for (Dims& d : dims) {
    d = {std::max(d.m, op.least.m), std::max(d.n, op.least.n), std::max(d.k, op.least.k)};
  }
  return dims;
}

KernelReport check_kernel(const Kernel& kernel, const std::string& op,
                          const KernelCheckOptions& options) {
  return KernelCheck(kernel, op, options).report();
}

}  // namespace halfgrad::testing
