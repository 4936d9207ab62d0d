#include <halfgrad/testing/kernel_case.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <sstream>
#include <stdexcept>

#include <halfgrad/core/stream.h>
#include <halfgrad/testing/printed.h>

namespace halfgrad::testing {
namespace {

constexpr std::uint8_t kFirstPoison = 0xff, kSecondPoison = 0x5a;
/// Guard bytes. Around inputs they are NaN, which shows in every result computed from it; around
/// indices and masks a harmless 0. Around the output they are neither, so that a written NaN or 0
/// shows.
constexpr std::uint8_t kNanGuard = 0xff, kIndexGuard = 0, kOutputGuard = 0xa5;

CaseResult failed(CaseResult result, Fault fault, const std::string& message) {
  result.fault = fault;
  result.message = message;
  return result;
}

/// An error that the kernel threw or its device reported.
struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The guarded operands and output of one case.
class CaseMemory {
 public:
  CaseMemory(const KernelOp& op, const Shape& output_sizes, const std::vector<Values>& operands,
             const KernelContract& contract)
      : contract_(contract) {
    const std::vector<OperandSpec> specs = op.operands({});
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool number = specs[i].kind == OperandSpec::Kind::number;
      const bool flag = specs[i].kind == OperandSpec::Kind::boolean;
      const DType dtype = number ? contract.dtype : flag ? kBool : kInt64;
      inputs_.emplace_back(operands[i].sizes, dtype, contract.layout,
                           number ? kNanGuard : kIndexGuard, contract.device);
    }
    if (!contract.in_place) {
      output_.emplace(output_sizes, contract.output, contract.layout, kOutputGuard,
                      contract.device);
    }
  }

  GuardedArray& output() { return contract_.in_place ? inputs_[0] : *output_; }

  void load(const std::vector<Values>& operands, std::uint8_t poison) {
    if (output_) output_->fill_bytes(poison);
    given_.clear();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      inputs_[i].set(operands[i].data);
      given_.push_back(inputs_[i].bytes());
    }
  }

  /// A GPU kernel runs on a new stream.
  void run(const Kernel& kernel) {
    std::vector<Array> views;
    for (const GuardedArray& input : inputs_) views.push_back(input.view());
    try {
      if (contract_.device.type() == DeviceType::cpu) return kernel(views, output().view());
      const Stream stream(contract_.device);
      stream.wait_stream(current_stream(contract_.device));
      {
        const StreamScope scope(stream);
        kernel(views, output().view());
      }
      stream.synchronize();
    } catch (const std::exception& error) {
      throw KernelError(error.what());
    }
  }

  /// Describes the first write to guard memory; empty if there was none.
  std::string out_of_bounds_write() {
    std::string message = guard_write(output(), "the output");
    for (std::size_t i = 0; message.empty() && i < inputs_.size(); ++i) {
      message = guard_write(inputs_[i], "input " + std::to_string(i));
    }
    return message;
  }

  std::optional<std::size_t> changed_input() const {
    for (std::size_t i = contract_.in_place ? 1 : 0; i < inputs_.size(); ++i) {
      if (inputs_[i].bytes() != given_[i]) return i;
    }
    return std::nullopt;
  }

 private:
  static std::string guard_write(const GuardedArray& array, const std::string& what) {
    const auto at = array.touched_guard();
    if (!at) return {};
    return "wrote at element " + std::to_string(*at) + " of " + what + ", which has " +
           std::to_string(array.view().numel()) + " in shape " + to_string(array.view().sizes()) +
           " with strides " + to_string(array.view().strides());
  }

  KernelContract contract_;
  std::vector<GuardedArray> inputs_;
  std::optional<GuardedArray> output_;
  std::vector<std::vector<std::byte>> given_;
};

/// The first element that holds the first poison in one result and the second in the other.
std::optional<std::size_t> unwritten(const std::vector<std::byte>& first,
                                     const std::vector<std::byte>& second, std::size_t item) {
  for (std::size_t at = 0; at < first.size(); at += item) {
    const auto holds = [&](const std::vector<std::byte>& bytes, std::uint8_t poison) {
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      return std::all_of(from, from + static_cast<std::ptrdiff_t>(item),
                         [&](std::byte b) { return b == std::byte{poison}; });
    };
    if (holds(first, kFirstPoison) && holds(second, kSecondPoison)) return at / item;
  }
  return std::nullopt;
}

std::string described(const WorstElement& worst, std::int64_t wrong, std::int64_t elements) {
  std::ostringstream message;
  message.precision(9);
  message << "element " << worst.index << " is " << printed(worst.got) << ", expected "
          << printed(worst.expected) << " within " << worst.allowed << " (" << worst.used
          << " of its budget); " << wrong << " of " << elements << " elements are wrong";
  return message.str();
}

}  // namespace

const char* name(Fault fault) {
  constexpr const char* names[] = {"threw",       "out of bounds",     "input changed", "unwritten",
                                   "wrong value", "not deterministic", "stale",         "biased"};
  return names[static_cast<int>(fault)];
}

CaseResult judge_output(const KernelOp& op, const std::vector<Values>& operands,
                        const std::vector<double>& output, const KernelContract& contract) {
  const ErrorBudget budget = error_budget(op, operands, contract.accumulate, contract.output);
  CaseResult result;
  if (budget.expected.size() != output.size()) {
    return failed(result, Fault::wrong_value,
                  "expected " + std::to_string(budget.expected.size()) + " elements, got " +
                      std::to_string(output.size()));
  }
  const bool has_rounded = contract.output != kFloat64 && is_floating_point(contract.output);
  const auto rounded =
      has_rounded ? op.rounded(operands, number_format_of(contract.output)) : std::vector<double>{};
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double expected = budget.expected[i], allowed = budget.allowed[i];
    const double used = budget_used(output[i], expected, allowed, contract.output);
    result.use.add(output[i], expected, allowed, contract.output);
    if (has_rounded) result.use.compare(output[i], rounded[i], expected, contract.output);
    if (!result.worst || used > result.worst->used) {
      result.worst = {static_cast<std::int64_t>(i), output[i], expected, allowed, used};
    }
  }
  if (result.use.over == 0) return result;
  const std::string message = described(*result.worst, result.use.over, result.use.elements);
  return failed(std::move(result), Fault::wrong_value, message);
}

CaseResult run_case(const Kernel& kernel, const KernelOp& op, const Shape& output_sizes,
                    const std::vector<Values>& operands, const std::vector<Values>& others,
                    const KernelContract& contract) try {
  CaseMemory memory(op, output_sizes, operands, contract);
  memory.load(operands, kFirstPoison);
  memory.run(kernel);
  if (const std::string message = memory.out_of_bounds_write(); !message.empty()) {
    return failed({}, Fault::out_of_bounds, message);
  }
  if (const auto input = memory.changed_input()) {
    return failed({}, Fault::input_changed,
                  "input " + std::to_string(*input) + " is not what it was");
  }
  const auto first = memory.output().bytes();
  CaseResult result = judge_output(op, operands, memory.output().values(), contract);

  memory.load(operands, kSecondPoison);
  memory.run(kernel);
  const auto second = memory.output().bytes();
  const auto item = static_cast<std::size_t>(item_size(memory.output().view().dtype()));
  if (!contract.in_place) {
    if (const auto element = unwritten(first, second, item)) {
      return failed(std::move(result), Fault::unwritten,
                    "element " + std::to_string(*element) + " is left as it was");
    }
  }
  if (result.fault) return result;
  if (first != second) {
    const auto at = std::mismatch(first.begin(), first.end(), second.begin()).first - first.begin();
    return failed(std::move(result), Fault::not_deterministic,
                  "element " + std::to_string(static_cast<std::size_t>(at) / item) +
                      " differs between two runs on the same inputs");
  }

  memory.load(others, kFirstPoison);
  memory.run(kernel);
  CaseResult changed = judge_output(op, others, memory.output().values(), contract);
  result.use.add(changed.use);
  if (!changed.fault) return result;
  // Equal NaNs prove nothing: a wrong new result may be NaN as well.
  const bool stale = memory.output().bytes() == first && !std::isnan(changed.worst->got);
  return failed(
      std::move(result), stale ? Fault::stale : Fault::wrong_value,
      stale ? "other inputs in the same memory give the result of the first" : changed.message);
} catch (const KernelError& error) {
  return failed({}, Fault::threw, error.what());
}

}  // namespace halfgrad::testing
