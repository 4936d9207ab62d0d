#include <halfgrad/testing/kernel_case.h>

#include <cmath>
#include <exception>

#include <halfgrad/testing/case_memory.h>
#include <halfgrad/testing/moved_bits.h>

namespace halfgrad::testing {
namespace {

using detail::CaseMemory;
using detail::failed;
using detail::KernelError;
using detail::kFirstPoison;
using detail::kSecondPoison;
using detail::OutputBytes;
using detail::unless_changed;

/// `adds`: the elements are another value over a filling of 0.
std::string described_unwritten(const BadElements& bad, bool adds) {
  const std::string of_output = bad.output.empty() ? "" : " of " + bad.output;
  if (adds) {
    return "the kernel adds to what was in its output, which it must overwrite: " +
           std::to_string(bad.wrong.size()) + " of " + std::to_string(numel(bad.shape)) +
           " elements" + of_output;
  }
  if (static_cast<std::int64_t>(bad.wrong.size()) == numel(bad.shape)) {
    return "the kernel writes nothing: all " + std::to_string(bad.wrong.size()) + " elements" +
           of_output + " are left as they were";
  }
  const std::string pattern = pattern_of(bad);
  return "element " + index_tuple(bad.wrong.front(), bad.shape) + of_output +
         " is left as it was; " + std::to_string(bad.wrong.size()) + " of " +
         std::to_string(numel(bad.shape)) + " elements are" +
         (pattern.empty() ? "" : ": " + pattern);
}

}  // namespace

const char* name(Fault fault) {
  constexpr const char* names[] = {"threw",
                                   "out of bounds",
                                   "input changed",
                                   "unwritten",
                                   "wrong value",
                                   "not deterministic",
                                   "stale",
                                   "biased",
                                   "crashed",
                                   "hung",
                                   "changed after return",
                                   "state changed"};
  return names[static_cast<int>(fault)];
}

Fault fault_named(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(Fault::changed_state); ++i) {
    if (name(static_cast<Fault>(i)) == text) return static_cast<Fault>(i);
  }
  throw std::invalid_argument("expected the name of a fault, got " + text);
}

CaseResult run_case(const Kernel& kernel, const KernelOp& op, const std::vector<Shape>& outputs,
                    const std::vector<Values>& operands, const std::vector<Values>& others,
                    const KernelContract& contract) try {
  CaseMemory memory(op, outputs, operands, contract);
  memory.load(operands, kFirstPoison);
  memory.run(kernel);
  const OutputBytes first = memory.output_bytes();  // at once: work may still arrive
  memory.expect_unchanged();
  CaseResult result = judge_outputs(op, operands, memory.output_values(), contract);
  result = unless_changed(std::move(result), memory, first);
  if (!result.fault && op.moves && contract.output == contract.dtype) {
    const std::string message =
        wrongly_moved(op, operands, memory.given(), first.bytes(0), outputs[0]);
    if (!message.empty()) return failed(std::move(result), Fault::wrong_value, message);
  }
  if (result.fault == Fault::changed_later) return result;

  memory.load(operands, kSecondPoison);
  memory.run(kernel);
  const OutputBytes second = memory.output_bytes();
  if (!contract.in_place) {
    BadElements left = first.unwritten(second);
    if (!left.wrong.empty()) {
      result.bad = std::move(left);
      // A sum with the filling, NaN or 1.5e16, keeps the filling's bits.
      memory.load(operands, std::uint8_t{0});
      memory.run(kernel);
      const bool adds = memory.output_bytes().is_written(result.bad);
      const std::string message = described_unwritten(result.bad, adds);
      return failed(std::move(result), Fault::unwritten, message);
    }
  }
  if (result.fault) return result;
  if (first != second) {
    const std::string message =
        first.first_difference(second) + " differs between two runs on the same inputs";
    if (!contract.leniency.any_order) {
      return failed(std::move(result), Fault::not_deterministic, message);
    }
    const CaseResult again = judge_outputs(op, operands, memory.output_values(), contract);
    if (again.fault) {
      return failed(std::move(result), *again.fault, message + ", and " + again.message);
    }
  }
  if (others.empty()) return result;

  memory.load(others, kFirstPoison);
  memory.run(kernel);
  if (const std::string message = memory.out_of_bounds_write(); !message.empty()) {
    return failed(std::move(result), Fault::out_of_bounds, message);
  }
  CaseResult changed = judge_outputs(op, others, memory.output_values(), contract, result.expected);
  result.use.add(changed.use);
  result.impostors = both(result.impostors, changed.impostors);
  result.bad = changed.bad;
  if (!changed.fault) return result;
  // Equal NaNs prove nothing: a wrong new result may be NaN as well.
  const bool stale = memory.output_bytes() == first && !std::isnan(changed.worst->got);
  return failed(
      std::move(result), stale ? Fault::stale : Fault::wrong_value,
      stale ? "other inputs in the same memory give the result of the first" : changed.message);
} catch (const KernelError& error) {
  return failed({}, error.fault, error.what());
}

}  // namespace halfgrad::testing
