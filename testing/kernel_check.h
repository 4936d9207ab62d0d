#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/testing/hostile_inputs.h>
#include <halfgrad/testing/kernel_case.h>

/// Checks a kernel against an op of the table, on hostile inputs, in guarded memory, within error
/// budgets. docs/kernel_check.md begins with an example.
namespace halfgrad::testing {

struct KernelCheckOptions {
  DType dtype = kFloat32;                ///< of operands that are plain numbers
  std::optional<DType> output = {};      ///< of the result; if empty, what halfgrad's op gives
  std::optional<DType> accumulate = {};  ///< of intermediate results; if empty, float32, or float64
  Device device = {};                    ///< where the kernel runs
  /// How operands and result may lie. Kernels that read strides: add the other layouts.
  std::vector<Layout> layouts = {Layout::contiguous, Layout::misaligned};
  std::vector<Dims> dims = {};  ///< if empty, check_dims(op)
  std::vector<Hostile> without =
      {};                  ///< kinds of inputs that the kernel does not promise to handle
  bool in_place = false;   ///< also with the output on the first input, where the op allows it
  bool shrink = true;      ///< look for a small case that fails
  std::uint64_t seed = 0;  ///< of the inputs
};

/// One run of a kernel, in words and so that it can be run again.
struct KernelCase {
  Dims dims;
  Hostile inputs = Hostile::normal;
  KernelContract contract;
  std::uint64_t seed = 0;
};

std::string to_string(const KernelCase& kernel_case);

struct KernelFinding {
  Fault fault = Fault::wrong_value;
  std::string message;  ///< of the first case
  KernelCase first;
  std::int64_t cases = 1;  ///< in how many it was found
};

/// The smallest failing case that was found.
struct ShrunkCase {
  Fault fault = Fault::wrong_value;
  std::string message;
  Dims dims;
  std::vector<Values> operands;
};

struct KernelReport {
  std::string op;
  DType dtype = kFloat32, output = kFloat32, accumulate = kFloat32;
  std::int64_t cases = 0;
  BudgetUse use;
  WorstElement worst;
  KernelCase worst_case;
  std::vector<KernelFinding> findings;  ///< one for each kind of fault
  std::optional<ShrunkCase> shrunk;

  /// Whether there is a verdict: a fault was found, or an element judged.
  bool checked() const { return !findings.empty() || use.elements > use.unjudged; }
  bool passed() const { return checked() && findings.empty(); }
  /// The smallest k of a failing case; 0 if none failed.
  std::int64_t breaks_at_k() const { return shrunk ? shrunk->dims.k : 0; }

  /// What became of one more case.
  void add(const CaseResult& result, const KernelCase& kernel_case);
  void add(Fault fault, const std::string& message, const KernelCase& kernel_case);
};

/// The ways in which a kernel is to run: in each of the layouts, and if the options say so in
/// place, in the first of them. Of `dtypes` only these are read. Throws std::invalid_argument for
/// options that leave nothing to run: no layouts, a GPU that is not there, in place an op that
/// cannot work so or an output of another dtype.
std::vector<KernelContract> contracts(const KernelOp& op, const KernelContract& dtypes,
                                      const KernelCheckOptions& options);

/// Sizes that kernels get wrong: empty, 1, around powers of two, long rows.
std::vector<Dims> check_dims(const KernelOp& op);

/// Runs `kernel` as the op of that name (kernel_op.h) and reports what is wrong with it. Throws
/// std::invalid_argument for an unknown op, for one that cannot work in place if it is to, nor into
/// another dtype, for dims that the op is not defined for or that memory is too small for, for
/// options that leave nothing to run, and nothing that the kernel throws.
KernelReport check_kernel(const Kernel& kernel, const std::string& op,
                          const KernelCheckOptions& options = {});

/// The operands of a case.
std::vector<Values> case_operands(const KernelOp& op, const KernelCase& kernel_case);

}  // namespace halfgrad::testing
