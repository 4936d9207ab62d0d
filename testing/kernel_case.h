#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/testing/bad_elements.h>
#include <halfgrad/testing/error_budget.h>
#include <halfgrad/testing/guarded_array.h>
#include <halfgrad/testing/impostors.h>
#include <halfgrad/testing/kernel.h>
#include <halfgrad/testing/row_bias.h>

namespace halfgrad::testing {

/// The faults of a kernel that the check can find.
enum class Fault : std::uint8_t {
  threw,
  out_of_bounds,  ///< wrote outside its output, or around an input
  input_changed,
  unwritten,          ///< did not write every element of its output
  wrong_value,        ///< exceeded the error budget
  not_deterministic,  ///< gave different bits in two runs on the same inputs
  stale,              ///< repeated the old result after the inputs changed in place
  biased,             ///< rounds in one direction
  crashed,            ///< ended its process: a signal, or exit()
  hung,               ///< did not return in time
  changed_later,      ///< changed its output after it had returned
  changed_state,      ///< left its caller's rounding mode, signal handlers or locale changed
};

const char* name(Fault fault);
/// The fault of that name. Throws std::invalid_argument for another text.
Fault fault_named(const std::string& text);

/// The conditions under which a kernel runs, and the precision that is expected of it.
struct KernelContract {
  DType dtype = kFloat32;  ///< dtype of the operands, indices and masks excepted
  DType output = kFloat32;
  DType accumulate = kFloat32;  ///< dtype of intermediate results
  Layout layout = Layout::contiguous;
  Device device = {};
  bool in_place = false;    ///< the output is the first input
  std::uint32_t round = 0;  ///< decides the places of the arrays in memory (guarded_array.h)
  Leniency leniency = {};
};

/// Thrown by a kernel to end the check; the report has what was found until then.
struct CheckInterrupted : std::runtime_error {
  CheckInterrupted() : std::runtime_error("the check was interrupted") {}
};

/// The result of running a kernel on one case.
struct CaseResult {
  std::optional<Fault> fault;
  std::string message;  ///< describes the fault
  BudgetUse use;
  std::optional<WorstElement> worst;  ///< the element that used most of its budget
  BadElements bad;  ///< elements beyond their budget, of the output with the worst
  /// The last elements that are left after whole vectors of 8, then of 4: of the output and of each
  /// of its rows, for the first inputs. A kernel computes them in a loop of their own.
  std::array<BudgetUse, 4> tails{};
  BudgetUse first_use{};  ///< the part of `use` from the first inputs
  RowBias row_bias{};     ///< the largest of all outputs, for the first inputs
  ImpostorResults impostors{};
  std::vector<double> expected = {};
};

/// Runs a kernel with outputs of these shapes twice on `operands`, then on `others` of the same
/// shapes in the same memory, unless they are empty. Errors outside the kernel, such as a failed
/// allocation, are thrown.
CaseResult run_case(const Kernel& kernel, const KernelOp& op, const std::vector<Shape>& outputs,
                    const std::vector<Values>& operands, const std::vector<Values>& others,
                    const KernelContract& contract);

/// Runs a kernel on each of `inputs`, sets of operands of the same shapes, one after the other in
/// the same memory, and judges every output; some calls get other memory. Then runs it `runs` times
/// on sets in a random order, until `seconds` have passed, and compares the bits of the outputs;
/// waits for work that arrives late, and runs it on the last set, which no call has seen.
CaseResult repeat_case(const Kernel& kernel, const KernelOp& op, const std::vector<Shape>& outputs,
                       const std::vector<std::vector<Values>>& inputs,
                       const KernelContract& contract, std::int64_t runs, double seconds);

/// Checks outputs that were computed elsewhere. `last` are the right outputs, one after the other,
/// for other operands of the same shapes, if there are any (impostors.h).
CaseResult judge_outputs(const KernelOp& op, const std::vector<Values>& operands,
                         const std::vector<Values>& given, const KernelContract& contract,
                         const std::vector<double>& last = {});
/// Checks the output of an op that has one.
CaseResult judge_output(const KernelOp& op, const std::vector<Values>& operands,
                        const Values& output, const KernelContract& contract);

}  // namespace halfgrad::testing
