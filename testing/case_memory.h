#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/testing/kernel_case.h>

/// The memory of one run of a kernel. For run_case() and repeat_case().
namespace halfgrad::testing::detail {

inline constexpr std::uint8_t kFirstPoison = 0xff, kSecondPoison = 0x5a;

/// An error that the kernel threw or its device reported, or the end of its process.
struct KernelError : std::runtime_error {
  KernelError(Fault what, const std::string& message) : std::runtime_error(message), fault(what) {}
  Fault fault;
};

/// The bytes of all outputs. Elements that do not matter are 0.
class OutputBytes {
 public:
  /// `name` is that of the output, empty if there is one output only.
  void add(std::vector<std::byte> bytes, const Array& view, const std::string& name) {
    const auto item = static_cast<std::size_t>(item_size(view.dtype()));
    outputs_.push_back({std::move(bytes), item, view.sizes(), name});
  }
  const std::vector<std::byte>& bytes(std::size_t output) const { return outputs_[output].bytes; }

  /// Names the first element that differs: "element (0, 3) of dx".
  std::string first_difference(const OutputBytes& other) const;
  /// The elements of the first such output that hold the first poison here and the second there.
  BadElements unwritten(const OutputBytes& other) const;

  /// True if one of these elements is not 0.
  bool is_written(const BadElements& elements) const;

  friend bool operator==(const OutputBytes& a, const OutputBytes& b) {
    return a.outputs_ == b.outputs_;
  }

 private:
  struct Output {
    std::vector<std::byte> bytes;
    std::size_t item;
    Shape sizes;
    std::string name;

    friend bool operator==(const Output& a, const Output& b) { return a.bytes == b.bytes; }
  };
  std::vector<Output> outputs_;
};

/// The guarded operands and outputs of one case.
class CaseMemory {
 public:
  CaseMemory(const KernelOp& op, const std::vector<Shape>& outputs,
             const std::vector<Values>& operands, const KernelContract& contract);

  /// Without a poison the outputs stay as the last call left them.
  void load(const std::vector<Values>& operands, std::optional<std::uint8_t> poison);
  /// A GPU kernel runs on a new stream. Throws KernelError for the faults of the kernel.
  void run(const Kernel& kernel);

  OutputBytes output_bytes();
  std::vector<Values> output_values();

  /// Describes the first write to guard memory; empty if there was none.
  std::string out_of_bounds_write();
  /// Throws KernelError after a write to guard memory or to an input.
  void expect_unchanged();
  /// The bytes of the inputs, as they were given.
  const std::vector<std::vector<std::byte>>& given() const { return given_; }

 private:
  std::optional<std::size_t> changed_input() const;
  /// "input 0", "the output" or, if there are several, "output dx".
  std::string array_name(std::size_t array) const;
  GuardedArray& output(std::size_t i) { return contract_.in_place ? inputs_[0] : outputs_[i]; }

  KernelContract contract_;
  const KernelOp& op_;
  std::size_t count_;  // number of outputs
  std::vector<GuardedArray> inputs_, outputs_;
  std::vector<std::vector<std::byte>> given_;
  std::vector<std::vector<bool>> matters_;  // for each output; empty if all elements matter
};

/// `result` with a fault.
CaseResult failed(CaseResult result, Fault fault, const std::string& message);

/// The result of a kernel that changed its output after the bytes `then` were read, else `result`.
CaseResult unless_changed(CaseResult result, CaseMemory& memory, const OutputBytes& then);

}  // namespace halfgrad::testing::detail
