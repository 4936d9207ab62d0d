#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/testing/error_budget.h>
#include <halfgrad/testing/guarded_array.h>

namespace halfgrad::testing {

/// A kernel under test: writes op(inputs) to every element of `output`. Arrays lie where the
/// check's options say; on a GPU the work goes to current_stream(output.device()).
using Kernel = std::function<void(const std::vector<Array>& inputs, const Array& output)>;

/// What can be wrong with a kernel.
enum class Fault : std::uint8_t {
  threw,
  out_of_bounds,  ///< wrote beside its output, or into an input's surroundings
  input_changed,
  unwritten,          ///< left elements as they were
  wrong_value,        ///< beyond the error budget
  not_deterministic,  ///< two runs on the same inputs differ in a bit
  stale,              ///< other inputs in the same memory, same result
  biased,             ///< rounds in one direction
};

const char* name(Fault fault);

/// What a kernel is told and asked in every case.
struct KernelContract {
  DType dtype = kFloat32;  ///< of operands that are plain numbers
  DType output = kFloat32;
  DType accumulate = kFloat32;  ///< of intermediate results
  Layout layout = Layout::contiguous;
  Device device = {};
  bool in_place = false;  ///< the output is the first input
};

/// The element that used most of its budget.
struct WorstElement {
  std::int64_t index = 0;  ///< in row-major order
  double got = 0, expected = 0, allowed = 0, used = 0;
};

struct CaseResult {
  std::optional<Fault> fault;
  std::string message;  ///< of the fault
  BudgetUse use;
  std::optional<WorstElement> worst;
};

/// Runs a kernel on these operands, twice, then on `others` of the same shapes in the same memory.
/// Throws what goes wrong outside the kernel, such as memory that is not to be had.
CaseResult run_case(const Kernel& kernel, const KernelOp& op, const Shape& output_sizes,
                    const std::vector<Values>& operands, const std::vector<Values>& others,
                    const KernelContract& contract);

/// Judges an output computed elsewhere.
CaseResult judge_output(const KernelOp& op, const std::vector<Values>& operands,
                        const std::vector<double>& output, const KernelContract& contract);

}  // namespace halfgrad::testing
