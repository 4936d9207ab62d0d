#include <halfgrad/testing/case_memory.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <halfgrad/core/stream.h>
#include <halfgrad/testing/caller_state.h>
#include <halfgrad/testing/kernel_process.h>
#include <halfgrad/testing/moved_bits.h>

namespace halfgrad::testing::detail {
namespace {

/// Guard bytes. Around inputs they are NaN, which shows in every result computed from it; around
/// indices and masks a harmless 0. Around an output they are neither, so that a written NaN or 0
/// shows.
constexpr std::uint8_t kNanGuard = 0xff, kIndexGuard = 0, kOutputGuard = 0xa5;

std::string guard_write(const GuardedArray& array, const std::string& what) {
  const auto at = array.touched_guard();
  if (!at) return {};
  return "wrote at element " + std::to_string(*at) + " of " + what + ", which has " +
         std::to_string(array.view().numel()) + " in shape " + to_string(array.view().sizes()) +
         " with strides " + to_string(array.view().strides());
}

/// Sets the elements that do not matter to 0.
void clear_others(std::vector<std::byte>& bytes, std::size_t item,
                  const std::vector<bool>& matters) {
  for (std::size_t i = 0; i < matters.size(); ++i) {
    if (!matters[i]) {
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * item), item, std::byte{0});
    }
  }
}

/// Runs a kernel that may be in this process: its caller's mode stays what it was.
void run_on_cpu(const Kernel& kernel, const std::vector<Array>& inputs,
                const std::vector<Array>& outputs) {
  const FloatingMode mode;
  const FilledMemory filled;
  try {
    kernel(inputs, outputs);
  } catch (...) {
    mode.restore();
    throw;
  }
  const std::string change = mode.change();
  if (change.empty()) return;
  const bool only_flushes = mode.only_flushes();
  mode.restore();
  throw KernelChangedState(change, only_flushes);
}

}  // namespace

std::string OutputBytes::first_difference(const OutputBytes& other) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto& [a, item, sizes, name] = outputs_[i];
    const auto at = std::mismatch(a.begin(), a.end(), other.bytes(i).begin()).first;
    if (at == a.end()) continue;
    const std::int64_t index = (at - a.begin()) / static_cast<std::int64_t>(item);
    return "element " + index_tuple(index, sizes) + (name.empty() ? "" : " of " + name);
  }
  return {};
}

BadElements OutputBytes::unwritten(const OutputBytes& other) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto& [first, item, sizes, name] = outputs_[i];
    const std::vector<std::byte>& second = other.bytes(i);
    BadElements bad{sizes, {}, {}, name};
    for (std::size_t at = 0; at < first.size(); at += item) {
      const auto holds = [&, size = item](const std::vector<std::byte>& all, std::uint8_t poison) {
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(at);
        return std::all_of(from, from + static_cast<std::ptrdiff_t>(size),
                           [&](std::byte b) { return b == std::byte{poison}; });
      };
      if (holds(first, kFirstPoison) && holds(second, kSecondPoison)) {
        bad.wrong.push_back(static_cast<std::int64_t>(at / item));
      }
    }
    if (!bad.wrong.empty()) return bad;
  }
  return {};
}

bool OutputBytes::is_written(const BadElements& elements) const {
  for (const Output& output : outputs_) {
    if (output.name != elements.output) continue;
    for (const std::int64_t index : elements.wrong) {
      const auto from = output.bytes.begin() + index * static_cast<std::int64_t>(output.item);
      const auto end = from + static_cast<std::int64_t>(output.item);
      if (std::any_of(from, end, [](std::byte b) { return b != std::byte{0}; })) return true;
    }
  }
  return false;
}

CaseMemory::CaseMemory(const KernelOp& op, const std::vector<Shape>& outputs,
                       const std::vector<Values>& operands, const KernelContract& contract)
    : contract_(contract), op_(op), count_(outputs.size()) {
  const std::vector<OperandSpec> specs = op.operands({});
  const auto place = [&](std::size_t i) {
    return Placement{static_cast<std::uint32_t>(i), contract.round};
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool number = specs[i].kind == OperandSpec::Kind::number;
    inputs_.emplace_back(operands[i].sizes, operand_dtype(op, i, contract.dtype), contract.layout,
                         number ? kNanGuard : kIndexGuard, contract.device, place(i));
  }
  for (std::size_t i = 0; i < outputs.size() && !contract.in_place; ++i) {
    outputs_.emplace_back(outputs[i], output_dtype(op, i, contract.output), contract.layout,
                          kOutputGuard, contract.device, place(operands.size() + i));
  }
}

void CaseMemory::load(const std::vector<Values>& operands, std::optional<std::uint8_t> poison) {
  for (GuardedArray& output : outputs_) {
    if (poison) output.fill_bytes(*poison);
  }
  given_.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    inputs_[i].set(operands[i].data);
    given_.push_back(inputs_[i].bytes());
    const DType dtype = inputs_[i].view().dtype();
    if (!is_floating_point(dtype)) continue;
    const auto& data = operands[i].data;
    const auto nan = std::find_if(data.begin(), data.end(), [](double x) { return std::isnan(x); });
    if (nan == data.end()) continue;
    if (op_.moves) {
      number_nans(given_.back(), dtype);
    } else {
      // pow(1, x) and pow(x, 0) are 1 for a quiet NaN only.
      const auto first = static_cast<std::size_t>(nan - data.begin()) + contract_.round;
      vary_nans(given_.back(), dtype, first, op_.elementwise, op_.name == "pow");
    }
    inputs_[i].set_bytes(given_.back());
  }
  matters_.clear();
  for (std::size_t i = 0; i < op_.outputs.size(); ++i) {
    const auto count = static_cast<std::size_t>(output(i).view().numel());
    matters_.push_back(elements_that_matter(op_, i, operands, count));
  }
}

std::string CaseMemory::array_name(std::size_t array) const {
  if (array < inputs_.size()) return "input " + std::to_string(array);
  const std::size_t number = array - inputs_.size();
  return number < op_.outputs.size() ? "output " + op_.outputs[number].name : "the output";
}

void CaseMemory::run(const Kernel& kernel) {
  std::vector<Array> inputs, outputs;
  for (const GuardedArray& input : inputs_) inputs.push_back(input.view());
  for (std::size_t i = 0; i < count_; ++i) outputs.push_back(output(i).view());
  try {
    if (contract_.device.type() == DeviceType::cpu) return run_on_cpu(kernel, inputs, outputs);
    const Stream stream(contract_.device);
    stream.wait_stream(current_stream(contract_.device));
    {
      const StreamScope scope(stream);
      kernel(inputs, outputs);
    }
    stream.synchronize();
  } catch (const KernelStopped& stop) {
    const auto& access = stop.access;
    throw KernelError(stop.fault,
                      access ? access->described(array_name(access->array)) : stop.what());
  } catch (const KernelChangedState& change) {
    if (change.only_flushes && contract_.leniency.flushes()) return;
    throw KernelError(Fault::changed_state, change.what());
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

OutputBytes CaseMemory::output_bytes() {
  OutputBytes all;
  for (std::size_t i = 0; i < count_; ++i) {
    std::vector<std::byte> bytes = output(i).bytes();
    const auto item = static_cast<std::size_t>(item_size(output(i).view().dtype()));
    if (i < matters_.size()) clear_others(bytes, item, matters_[i]);
    const bool one = op_.outputs.empty();
    all.add(std::move(bytes), output(i).view(), one ? std::string() : op_.outputs[i].name);
  }
  return all;
}

std::vector<Values> CaseMemory::output_values() {
  std::vector<Values> all;
  for (std::size_t i = 0; i < count_; ++i) {
    all.push_back({output(i).view().sizes(), output(i).values()});
  }
  return all;
}

std::string CaseMemory::out_of_bounds_write() {
  for (std::size_t i = 0; i < count_; ++i) {
    const std::string message = guard_write(output(i), array_name(inputs_.size() + i));
    if (!message.empty()) return message;
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const std::string message = guard_write(inputs_[i], array_name(i));
    if (!message.empty()) return message;
  }
  return {};
}

void CaseMemory::expect_unchanged() {
  if (const std::string message = out_of_bounds_write(); !message.empty()) {
    throw KernelError(Fault::out_of_bounds, message);
  }
  if (const auto input = changed_input()) {
    throw KernelError(Fault::input_changed, array_name(*input) + " is not what it was");
  }
}

std::optional<std::size_t> CaseMemory::changed_input() const {
  for (std::size_t i = contract_.in_place ? 1 : 0; i < inputs_.size(); ++i) {
    if (inputs_[i].bytes() != given_[i]) return i;
  }
  return std::nullopt;
}

CaseResult failed(CaseResult result, Fault fault, const std::string& message) {
  result.fault = fault;
  result.message = message;
  return result;
}

CaseResult unless_changed(CaseResult result, CaseMemory& memory, const OutputBytes& then) {
  const OutputBytes now = memory.output_bytes();
  if (now == then) return result;
  return failed(std::move(result), Fault::changed_later,
                then.first_difference(now) + " changed after the kernel had returned");
}

}  // namespace halfgrad::testing::detail
