#include <halfgrad/tests/testing/audit/rules.h>

#include <cmath>
#include <limits>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>

namespace halfgrad::testing::audit {
namespace {

constexpr double kNoCap = std::numeric_limits<double>::infinity();

bool within(const Rule& rule, double got, double expected) {
  if (std::isnan(got) || std::isnan(expected)) return false;
  if (got == expected) return true;
  const double error = std::fabs(got - expected);
  if (!rule.either) return error <= rule.atol + rule.rtol * std::fabs(expected);
  constexpr double kFloor = 1e-8;  // added to the denominator of the relative error
  return error <= rule.atol || error / (std::fabs(expected) + kFloor) <= rule.rtol;
}

bool accepts(const Rule& rule, const std::vector<double>& got,
             const std::vector<double>& expected) {
  double matched = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (rule.refuses_nonfinite && !std::isfinite(got[i])) return false;
    if (within(rule, got[i], expected[i])) ++matched;
    if (std::fabs(got[i] - expected[i]) > rule.cap) return false;
  }
  return matched >= rule.matched * static_cast<double>(got.size());
}

}  // namespace

std::vector<Rule> rules(DType dtype) {
  const double tolerance = dtype == kFloat32 ? 1e-4 : 1e-2;
  return {
      {"KernelBench", true, 1, tolerance, tolerance, false, 1, kNoCap, false},
      {"FlashInfer-Bench", false, 3, 1e-2, 1e-2, true, 1, kNoCap, true},
      {"the same, MoE", false, 3, 1e-2, 1e-2, true, 0.95, kNoCap, true},
      {"SOL-ExecBench", false, 1, 1e-2, 1e-2, false, 1, kNoCap, true},
      {"the same, fp8", false, 1, 5e-3, 2e-2, false, 0.95, 1, true},
  };
}

bool passes(const Rule& rule, const AuditKernel& kernel) {
  const KernelOp op = audit_op(kernel.op);
  const DType output = op.output_dtype(kernel.dtype);
  const Kernel fresh = kernel.kernel;  // a copy: a kernel may remember its calls
  manual_seed(42);
  for (int trial = 0; trial < rule.trials; ++trial) {
    std::vector<Array> inputs;
    std::vector<Values> operands;
    for (const OperandSpec& spec : op.operands(kernel.shape)) {
      const Tensor x = (rule.uniform ? rand(spec.sizes) : randn(spec.sizes)).to(kernel.dtype);
      operands.push_back({spec.sizes, x.to_vector<double>()});
      inputs.push_back(x.array());
    }
    const Tensor result = zeros(op.output(kernel.shape), output);
    fresh(inputs, result.array());
    std::vector<double> expected;
    for (const Bounded& y : op.bounded(operands, kFloat64, output, {})) {
      expected.push_back(is_floating_point(output) ? rounded_to(output, y.value) : y.value);
    }
    if (!accepts(rule, result.to_vector<double>(), expected)) return false;
  }
  return true;
}

std::string row(const AuditKernel& kernel) {
  std::string text = std::string("| ") + kernel.source + " | `" + kernel.op + "` | " +
                     std::string(name(kernel.dtype)) + " | " + kernel.what + " |";
  for (const Rule& rule : rules(kernel.dtype))
    text += passes(rule, kernel) ? " passes |" : " refused |";
  const KernelReport report =
      check_op(kernel.kernel, audit_op(kernel.op),
               {.dtype = kernel.dtype, .shrink = false, .own_process = true});
  return text + (report.passed()
                     ? " passes |"
                     : std::string(" ") + testing::name(report.findings.front().fault) + " |");
}

}  // namespace halfgrad::testing::audit
