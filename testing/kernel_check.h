#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/testing/hostile_inputs.h>
#include <halfgrad/testing/kernel_case.h>

/// Checks a kernel against an op of the table: on hostile inputs, in guarded memory, within error
/// budgets. docs/kernel_check.md begins with an example.
namespace halfgrad::testing {

struct KernelCheckOptions {
  /// Dtype of the operands, indices and masks excepted.
  DType dtype = kFloat32;
  /// Dtype of the result; if empty, that of halfgrad's op.
  std::optional<DType> output = {};
  /// Dtype of intermediate results; if empty, float64 for float64 operands, else float32.
  std::optional<DType> accumulate = {};
  OpParameters parameters = {};  ///< eps, dim and reduction of the op, dtypes of single operands
  Device device = {};            ///< device of the kernel and its operands
  /// Memory layouts of operands and result. Add the others for a kernel that reads strides.
  std::vector<Layout> layouts = {Layout::contiguous, Layout::misaligned, Layout::page_end};
  std::vector<Dims> dims = {};  ///< if empty, check_dims(op)
  /// Kinds of inputs to leave out: those that the kernel does not promise to handle.
  std::vector<Hostile> without = {};
  bool empty = true;           ///< also check operands and results without elements
  Leniency leniency = {};      ///< deviations beside rounding that the kernel may have
  bool in_place = false;       ///< also run with the first input as output, if the op allows it
  bool shrink = true;          ///< search for a small case that fails
  double shrink_seconds = 3;   ///< time limit of that search
  bool stop_at_first = false;  ///< end the check at the first fault
  /// Runs the kernel in a process of its own, made by fork(): a crash, a call of exit() or a hang
  /// is then a finding, reads beyond an array stop the kernel, and the expected values are out of
  /// its reach. The kernel may not need threads of this process. For kernels on the CPU.
  bool own_process = false;
  double timeout = 60;  ///< seconds that a call may take in a process of its own
  /// Further runs on one case, whose bits are compared; if empty, as many as 0.5 s allow, up to
  /// 20,000. Before them its inputs change 20 times in the same memory.
  std::optional<std::int64_t> repeat = {};
  /// Called before each case with its number and the number of all cases.
  std::function<void(std::int64_t, std::int64_t)> progress = {};
  std::uint64_t seed = 0;  ///< seed of the inputs
  /// Seed of the inputs of repeated calls; if empty, drawn when they begin, so that no kernel can
  /// know them before.
  std::optional<std::uint32_t> fresh_seed = {};
};

/// One run of a kernel: everything that is needed to repeat it.
struct KernelCase {
  Dims dims;
  Hostile inputs = Hostile::normal;
  KernelContract contract;
  std::uint64_t seed = 0;
};

std::string to_string(const KernelCase& kernel_case);

/// A kind of fault, the first case that showed it, and how many cases did.
struct KernelFinding {
  Fault fault = Fault::wrong_value;
  std::string message;  ///< describes the fault in the first case
  KernelCase first;
  std::int64_t cases = 1;  ///< number of cases with this fault
  BadElements bad = {};    ///< wrong elements of the case that tells most about their places
  KernelCase bad_case = {};
};

/// The smallest failing case that the search found.
struct ShrunkCase {
  Fault fault = Fault::wrong_value;
  std::string message;
  Dims dims;
  std::vector<Values> operands;
};

/// How often an impostor was tried, and the cases that accepted it.
struct ImpostorCount {
  std::int64_t tried = 0, accepted = 0;
  KernelCase first;  ///< the first case that accepted it
};

/// How many elements whose only error is the last rounding are not the nearest value. A large case
/// counts no more than one of 256 elements: in it a mistake may be absent, as that of 1 / k for k a
/// power of two.
struct NearestShare {
  static constexpr double kMostElements = 256;
  double elements = 0, far = 0;

  void add(const BudgetUse& use);
};

/// The result of check_kernel(): what was run, what was wrong, and how much of the budget was
/// used.
struct KernelReport {
  std::string op;
  OpParameters parameters;
  DType dtype = kFloat32, output = kFloat32, accumulate = kFloat32;
  std::int64_t cases = 0;
  BudgetUse use;
  WorstElement worst;
  Shape worst_shape;  ///< shape of the result in which `worst` is
  KernelCase worst_case;
  std::vector<KernelFinding> findings;  ///< one for each kind of fault
  std::optional<ShrunkCase> shrunk;
  std::string unfinished;  ///< why the check ended early; empty if it did not. Then it did not pass
  std::string repeated;    ///< how often the smallest failing case failed, if not always
  BudgetUse ties;          ///< the part of `use` from exact ties
  std::array<BudgetUse, 4> tails{}, tail_ties{};  ///< the parts of CaseResult::tails
  NearestShare nearest;                           ///< over all cases
  BudgetUse drawn_once;  ///< the part of `use` from inputs of one case, in 16 bits
  RowBias row_bias;      ///< the largest of normal inputs, in 16 bits
  KernelCase row_bias_case;
  std::array<ImpostorCount, kImpostors> impostors{};
  std::uint64_t seed = 0;
  std::optional<std::uint32_t> fresh_seed;  ///< empty if no calls were repeated

  /// True if a fault was found or at least one element was judged.
  bool checked() const { return !findings.empty() || use.elements > use.unjudged; }
  bool passed() const { return checked() && findings.empty() && unfinished.empty(); }
  /// The smallest k of a failing case; 0 if none failed.
  std::int64_t breaks_at_k() const { return shrunk ? shrunk->dims.k : 0; }

  /// Adds the result of one case.
  void add(const CaseResult& result, const KernelCase& kernel_case);
  void add(Fault fault, const std::string& message, const KernelCase& kernel_case);
  /// Adds a finding if the results are rounded in one direction. Called once, after all cases.
  void judge_bias();
  /// A sentence for each impostor that every case accepts.
  std::vector<std::string> warnings() const;
};

/// The contracts to run a kernel under: one for each layout and, for options.in_place, one in place
/// in the first layout. Reads only the three dtypes of `dtypes`. Throws std::invalid_argument if
/// there is no layout or no such GPU, or if the op or the output's dtype rules out running in
/// place.
std::vector<KernelContract> contracts(const KernelOp& op, const KernelContract& dtypes,
                                      const KernelCheckOptions& options);

/// Sizes that kernels get wrong: empty, 1, around powers of two, squares, tails, long rows.
std::vector<Dims> check_dims(const KernelOp& op);

/// check_dims() in two lists: sizes for all kinds of inputs, and sizes for a few kinds.
struct CheckDims {
  std::vector<Dims> all_kinds, few_kinds;
};
CheckDims check_dims_of(const KernelOp& op);
/// The sizes of a check under the emulator, which is slow: those for all kinds of inputs and, for
/// ops of single elements or rows, one with whole vectors for several warps.
std::vector<Dims> emulated_dims(const KernelOp& op);

/// Cases of one size in one layout, which share the random draws of their operands.
struct CaseGroup {
  KernelCase shared;  ///< without the kind of inputs
  std::vector<Hostile> kinds;
  bool with_others = false;  ///< a second set of inputs follows each
};

/// All cases of a check, in order. Throws as check_kernel().
std::vector<CaseGroup> case_groups(const KernelOp& op, const KernelCheckOptions& options);

/// The dtypes of a check: those of the options, else those that the op has by default.
KernelContract dtypes_of(const KernelOp& op, const KernelCheckOptions& options);

/// Runs `kernel` as the op of that name (kernel_op.h) and reports its faults; an exception of the
/// kernel is a fault. Throws std::invalid_argument as kernel_op(), expect_dims() and contracts().
/// A kernel ends the check by throwing CheckInterrupted.
KernelReport check_kernel(const Kernel& kernel, const std::string& op,
                          const KernelCheckOptions& options = {});

/// Runs `kernel` as an op that is not in the list: one with other functions, or of a formula
/// (kernel_formula.h).
KernelReport check_op(const Kernel& kernel, const KernelOp& op,
                      const KernelCheckOptions& options = {});
/// A report without cases, to which results are added.
KernelReport empty_report(const KernelOp& op, const KernelCheckOptions& options);

/// Draws the operands of a case.
std::vector<Values> case_operands(const KernelOp& op, const KernelCase& kernel_case);

}  // namespace halfgrad::testing
