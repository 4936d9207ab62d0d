#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <halfgrad/testing/case_memory.h>
#include <halfgrad/testing/kernel_case.h>

namespace halfgrad::testing {
namespace {

using detail::CaseMemory;
using detail::failed;
using detail::KernelError;
using detail::kFirstPoison;
using detail::OutputBytes;
using detail::unless_changed;

/// How long work that arrives after a kernel's return is waited for.
constexpr std::chrono::milliseconds kLateWork{20};

/// Successive calls of a kernel in the same memory, whose content changes between them.
class Calls {
 public:
  Calls(const Kernel& kernel, const KernelOp& op, const std::vector<Shape>& outputs,
        const std::vector<std::vector<Values>>& inputs, const KernelContract& contract)
      : kernel_(kernel),
        op_(op),
        inputs_(inputs),
        contract_(contract),
        memory_(op, outputs, inputs.front(), contract),
        other_memory_(op, outputs, inputs.front(), contract) {}

  /// Judges a call for each set of inputs but the last: twelve in a row in one memory, three in
  /// another, and the others in the first again.
  CaseResult judge_each() {
    constexpr std::size_t kInARow = 12, kElsewhere = 3;
    for (std::size_t i = 0; i + 1 < inputs_.size(); ++i) {
      const bool elsewhere = i >= kInARow && i < kInARow + kElsewhere;
      // As in a training loop, the output of every second call still holds an earlier result.
      const auto poison = i % 2 == 1 ? std::nullopt : std::optional(kFirstPoison);
      CaseResult result = judged(elsewhere ? other_memory_ : memory_, i, !elsewhere, poison);
      if (result.fault) return result;
    }
    return {};
  }

  /// Repeats calls that were judged.
  CaseResult repeat(std::int64_t runs, double seconds) {
    using Clock = std::chrono::steady_clock;
    constexpr std::int64_t kInARow = 4;  // runs on the same inputs
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    std::mt19937 random{std::random_device{}()};
    std::size_t set = 0;
    std::int64_t done = 0, different = 0;
    std::string element;
    for (; done < runs && (done < 2 || Clock::now() < end); ++done) {
      if (done % kInARow == 0) {
        set =
            std::next(right_.begin(), static_cast<std::ptrdiff_t>(random() % right_.size()))->first;
      }
      if (done % kInARow == 0 || contract_.in_place) load(memory_, set);
      memory_.run(kernel_);
      last_ = memory_.output_bytes();
      if (last_ == right_.at(set)) continue;
      if (const std::string stale = repeated_result(set, last_); !stale.empty()) {
        return failed({}, Fault::stale, stale);
      }
      if (contract_.leniency.any_order) {
        CaseResult result = judge_outputs(op_, inputs_[set], memory_.output_values(), contract_);
        if (result.fault) return result;
        continue;
      }
      if (different++ == 0) element = right_.at(set).first_difference(last_);
    }
    if (different == 0) return {};
    return failed({}, Fault::not_deterministic,
                  element + " differs from the first run on the same inputs in " +
                      std::to_string(different) + " of " + std::to_string(done) + " further runs");
  }

  /// Waits for late work, and judges the last set.
  CaseResult finish() {
    std::this_thread::sleep_for(kLateWork);
    const CaseResult result = unless_changed({}, memory_, last_);
    return result.fault ? result : judged(memory_, inputs_.size() - 1, true, kFirstPoison);
  }

 private:
  void load(CaseMemory& memory, std::size_t set) { memory.load(inputs_[set], kFirstPoison); }

  CaseResult judged(CaseMemory& memory, std::size_t set, bool keep,
                    std::optional<std::uint8_t> poison) {
    memory.load(inputs_[set], poison);
    memory.run(kernel_);
    const OutputBytes bytes = memory.output_bytes();
    memory.expect_unchanged();
    CaseResult result = judge_outputs(op_, inputs_[set], memory.output_values(), contract_);
    if (!result.fault) {
      if (keep) right_[set] = last_ = bytes;
      return result;
    }
    // Equal NaNs prove nothing: a wrong new result may be NaN as well.
    const std::string stale = std::isnan(result.worst->got) ? "" : repeated_result(set, bytes);
    if (!stale.empty()) return failed({}, Fault::stale, stale);
    return failed({}, Fault::wrong_value,
                  "in call " + std::to_string(set + 1) + " of " + std::to_string(inputs_.size()) +
                      " whose inputs change in the same memory, " + result.message);
  }

  /// Says that a result is that of another set of inputs; empty if it is not.
  std::string repeated_result(std::size_t set, const OutputBytes& bytes) const {
    for (const auto& [other, right] : right_) {
      if (other == set || bytes != right) continue;
      return "other inputs in the same memory give the result of an earlier call";
    }
    return {};
  }

  const Kernel& kernel_;
  const KernelOp& op_;
  const std::vector<std::vector<Values>>& inputs_;
  KernelContract contract_;
  CaseMemory memory_, other_memory_;
  std::map<std::size_t, OutputBytes> right_;  // for sets that ran in memory_
  OutputBytes last_;                          // the result of the last call in memory_
};

}  // namespace

CaseResult repeat_case(const Kernel& kernel, const KernelOp& op, const std::vector<Shape>& outputs,
                       const std::vector<std::vector<Values>>& inputs,
                       const KernelContract& contract, std::int64_t runs, double seconds) try {
  Calls calls(kernel, op, outputs, inputs, contract);
  CaseResult result = calls.judge_each();
  if (!result.fault && runs > 1) result = calls.repeat(runs, seconds);
  return result.fault ? result : calls.finish();
} catch (const KernelError& error) {
  return failed({}, error.fault, error.what());
}

}  // namespace halfgrad::testing
