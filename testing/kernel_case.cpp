#include <halfgrad/testing/kernel_case.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <thread>

#include <halfgrad/core/stream.h>
#include <halfgrad/testing/kernel_process.h>
#include <halfgrad/testing/moved_bits.h>

namespace halfgrad::testing {
namespace {

constexpr std::uint8_t kFirstPoison = 0xff, kSecondPoison = 0x5a;
/// How long work that arrives after a kernel's return is waited for.
constexpr std::chrono::milliseconds kLateWork{20};
/// Guard bytes. Around inputs they are NaN, which shows in every result computed from it; around
/// indices and masks a harmless 0. Around the output they are neither, so that a written NaN or 0
/// shows.
constexpr std::uint8_t kNanGuard = 0xff, kIndexGuard = 0, kOutputGuard = 0xa5;

CaseResult failed(CaseResult result, Fault fault, const std::string& message) {
  result.fault = fault;
  result.message = message;
  return result;
}

/// An error that the kernel threw or its device reported, or the end of its process.
struct KernelError : std::runtime_error {
  KernelError(Fault what, const std::string& message) : std::runtime_error(message), fault(what) {}
  Fault fault;
};

/// The guarded operands and output of one case.
class CaseMemory {
 public:
  CaseMemory(const KernelOp& op, const Shape& output_sizes, const std::vector<Values>& operands,
             const KernelContract& contract)
      : contract_(contract), moves_(op.moves) {
    const std::vector<OperandSpec> specs = op.operands({});
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool number = specs[i].kind == OperandSpec::Kind::number;
      const bool flag = specs[i].kind == OperandSpec::Kind::boolean;
      const DType dtype = number ? contract.dtype : flag ? kBool : kInt64;
      inputs_.emplace_back(operands[i].sizes, dtype, contract.layout,
                           number ? kNanGuard : kIndexGuard, contract.device,
                           Placement{static_cast<std::uint32_t>(i), contract.round});
    }
    if (!contract.in_place) {
      const auto last = static_cast<std::uint32_t>(operands.size());
      output_.emplace(output_sizes, contract.output, contract.layout, kOutputGuard, contract.device,
                      Placement{last, contract.round});
    }
  }

  Values result() { return {output().view().sizes(), output().values()}; }
  GuardedArray& output() { return contract_.in_place ? inputs_[0] : *output_; }

  void load(const std::vector<Values>& operands, std::uint8_t poison) {
    if (output_) output_->fill_bytes(poison);
    given_.clear();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      inputs_[i].set(operands[i].data);
      given_.push_back(inputs_[i].bytes());
      const DType dtype = inputs_[i].view().dtype();
      if (!moves_ || !is_floating_point(dtype)) continue;
      number_nans(given_.back(), dtype);
      inputs_[i].set_bytes(given_.back());
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
    } catch (const KernelStopped& stop) {
      throw KernelError(stop.fault, stop.what());
    } catch (const KernelUnavailable&) {
      throw;
    } catch (const CheckInterrupted&) {
      throw;
    } catch (const std::exception& error) {
      throw KernelError(Fault::threw, error.what());
    } catch (...) {
      throw KernelError(Fault::threw, "an exception of an unknown type");
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

  /// The bytes of the inputs, as they were given.
  const std::vector<std::vector<std::byte>>& given() const { return given_; }

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
  bool moves_;
  std::vector<GuardedArray> inputs_;
  std::optional<GuardedArray> output_;
  std::vector<std::vector<std::byte>> given_;
};

std::string element(std::int64_t index, const Shape& sizes) {
  return "element " + index_tuple(index, sizes);
}

/// The elements that hold the first poison in one result and the second in the other.
BadElements unwritten(const std::vector<std::byte>& first, const std::vector<std::byte>& second,
                      std::size_t item, const Shape& sizes) {
  BadElements bad{sizes, {}, {}};
  for (std::size_t at = 0; at < first.size(); at += item) {
    const auto holds = [&](const std::vector<std::byte>& bytes, std::uint8_t poison) {
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      return std::all_of(from, from + static_cast<std::ptrdiff_t>(item),
                         [&](std::byte b) { return b == std::byte{poison}; });
    };
    if (holds(first, kFirstPoison) && holds(second, kSecondPoison)) {
      bad.wrong.push_back(static_cast<std::int64_t>(at / item));
    }
  }
  return bad;
}

std::string described_unwritten(const BadElements& bad) {
  const std::string pattern = pattern_of(bad);
  return element(bad.wrong.front(), bad.shape) + " is left as it was; " +
         std::to_string(bad.wrong.size()) + " of " + std::to_string(numel(bad.shape)) +
         " elements are" + (pattern.empty() ? "" : ": " + pattern);
}

/// The position of the first element that differs.
std::int64_t first_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                              std::size_t item) {
  const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
  return static_cast<std::int64_t>(static_cast<std::size_t>(at) / item);
}

/// The result of a kernel that changed its output after the bytes `then` were read, else `result`.
CaseResult unless_changed(CaseResult result, const GuardedArray& output,
                          const std::vector<std::byte>& then, std::size_t item) {
  const std::vector<std::byte> now = output.bytes();
  if (now == then) return result;
  return failed(std::move(result), Fault::changed_later,
                element(first_difference(then, now, item), output.view().sizes()) +
                    " changed after the kernel had returned");
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
  const auto item = static_cast<std::size_t>(item_size(memory.output().view().dtype()));
  CaseResult result = judge_output(op, operands, memory.result(), contract);
  result = unless_changed(std::move(result), memory.output(), first, item);
  if (!result.fault && op.moves && contract.output == contract.dtype) {
    const std::string message = wrongly_moved(op, operands, memory.given(), first, output_sizes);
    if (!message.empty()) return failed(std::move(result), Fault::wrong_value, message);
  }
  if (result.fault == Fault::changed_later) return result;

  memory.load(operands, kSecondPoison);
  memory.run(kernel);
  const auto second = memory.output().bytes();
  if (!contract.in_place) {
    BadElements left = unwritten(first, second, item, output_sizes);
    if (!left.wrong.empty()) {
      result.bad = std::move(left);
      const std::string message = described_unwritten(result.bad);
      return failed(std::move(result), Fault::unwritten, message);
    }
  }
  if (result.fault) return result;
  if (first != second) {
    return failed(std::move(result), Fault::not_deterministic,
                  element(first_difference(first, second, item), output_sizes) +
                      " differs between two runs on the same inputs");
  }
  if (others.empty()) return result;

  memory.load(others, kFirstPoison);
  memory.run(kernel);
  if (const std::string message = memory.out_of_bounds_write(); !message.empty()) {
    return failed(std::move(result), Fault::out_of_bounds, message);
  }
  CaseResult changed = judge_output(op, others, memory.result(), contract);
  result.use.add(changed.use);
  result.bad = changed.bad;
  if (!changed.fault) return result;
  // Equal NaNs prove nothing: a wrong new result may be NaN as well.
  const bool stale = memory.output().bytes() == first && !std::isnan(changed.worst->got);
  return failed(
      std::move(result), stale ? Fault::stale : Fault::wrong_value,
      stale ? "other inputs in the same memory give the result of the first" : changed.message);
} catch (const KernelError& error) {
  return failed({}, error.fault, error.what());
}

CaseResult repeat_case(const Kernel& kernel, const KernelOp& op, const Shape& output_sizes,
                       const std::vector<Values>& operands, const KernelContract& contract,
                       std::int64_t runs, double seconds) try {
  using Clock = std::chrono::steady_clock;
  CaseMemory memory(op, output_sizes, operands, contract);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const auto item = static_cast<std::size_t>(item_size(memory.output().view().dtype()));
  std::vector<std::byte> first;
  std::int64_t done = 0, different = 0, index = 0;
  memory.load(operands, kFirstPoison);
  for (; done < runs && (done < 2 || Clock::now() < end); ++done) {
    if (contract.in_place) memory.load(operands, kFirstPoison);
    memory.run(kernel);
    const auto bytes = memory.output().bytes();
    if (done == 0) first = bytes;
    if (bytes == first) continue;
    if (different++ == 0) index = first_difference(first, bytes, item);
  }
  if (different > 0) {
    return failed({}, Fault::not_deterministic,
                  element(index, output_sizes) + " differs from the first run in " +
                      std::to_string(different) + " of " + std::to_string(done - 1) +
                      " further runs on the same inputs");
  }
  std::this_thread::sleep_for(kLateWork);
  return unless_changed({}, memory.output(), first, item);
} catch (const KernelError& error) {
  return failed({}, error.fault, error.what());
}

}  // namespace halfgrad::testing
