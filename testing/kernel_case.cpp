#include <halfgrad/testing/kernel_case.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <thread>

#include <halfgrad/testing/case_memory.h>
#include <halfgrad/testing/moved_bits.h>

namespace halfgrad::testing {
namespace {

using detail::CaseMemory;
using detail::KernelError;
using detail::kFirstPoison;
using detail::kSecondPoison;
using detail::OutputBytes;

/// How long work that arrives after a kernel's return is waited for.
constexpr std::chrono::milliseconds kLateWork{20};

CaseResult failed(CaseResult result, Fault fault, const std::string& message) {
  result.fault = fault;
  result.message = message;
  return result;
}

std::string described_unwritten(const BadElements& bad) {
  const std::string pattern = pattern_of(bad);
  return "element " + index_tuple(bad.wrong.front(), bad.shape) +
         (bad.output.empty() ? "" : " of " + bad.output) + " is left as it was; " +
         std::to_string(bad.wrong.size()) + " of " + std::to_string(numel(bad.shape)) +
         " elements are" + (pattern.empty() ? "" : ": " + pattern);
}

/// The result of a kernel that changed its output after the bytes `then` were read, else `result`.
CaseResult unless_changed(CaseResult result, CaseMemory& memory, const OutputBytes& then) {
  const OutputBytes now = memory.output_bytes();
  if (now == then) return result;
  return failed(std::move(result), Fault::changed_later,
                then.first_difference(now) + " changed after the kernel had returned");
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
                                   "changed after return"};
  return names[static_cast<int>(fault)];
}

Fault fault_named(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(Fault::changed_later); ++i) {
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
  if (const std::string message = memory.out_of_bounds_write(); !message.empty()) {
    return failed({}, Fault::out_of_bounds, message);
  }
  if (const auto input = memory.changed_input()) {
    return failed({}, Fault::input_changed,
                  "input " + std::to_string(*input) + " is not what it was");
  }
  const OutputBytes first = memory.output_bytes();
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
      const std::string message = described_unwritten(result.bad);
      return failed(std::move(result), Fault::unwritten, message);
    }
  }
  if (result.fault) return result;
  if (first != second) {
    return failed(std::move(result), Fault::not_deterministic,
                  first.first_difference(second) + " differs between two runs on the same inputs");
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

CaseResult repeat_case(const Kernel& kernel, const KernelOp& op, const std::vector<Shape>& outputs,
                       const std::vector<Values>& operands, const KernelContract& contract,
                       std::int64_t runs, double seconds) try {
  using Clock = std::chrono::steady_clock;
  CaseMemory memory(op, outputs, operands, contract);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  OutputBytes first;
  std::int64_t done = 0, different = 0;
  std::string element;
  memory.load(operands, kFirstPoison);
  for (; done < runs && (done < 2 || Clock::now() < end); ++done) {
    if (contract.in_place) memory.load(operands, kFirstPoison);
    memory.run(kernel);
    const OutputBytes bytes = memory.output_bytes();
    if (done == 0) first = bytes;
    if (bytes == first) continue;
    if (different++ == 0) element = first.first_difference(bytes);
  }
  if (different > 0) {
    return failed({}, Fault::not_deterministic,
                  element + " differs from the first run in " + std::to_string(different) + " of " +
                      std::to_string(done - 1) + " further runs on the same inputs");
  }
  std::this_thread::sleep_for(kLateWork);
  return unless_changed({}, memory, first);
} catch (const KernelError& error) {
  return failed({}, error.fault, error.what());
}

}  // namespace halfgrad::testing
