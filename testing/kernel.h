#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/array.h>

namespace halfgrad::testing {

/// A kernel under test: writes op(inputs) to every element of its output, or of its outputs, in the
/// order that docs/kernel_budget.md states. It is a function of (inputs, output) or of (inputs,
/// outputs). All arrays are on the device of the check's options; a GPU kernel runs on
/// current_stream(output.device()).
class Kernel {
 public:
  using Inputs = std::vector<Array>;
  using OneOutput = std::function<void(const Inputs& inputs, const Array& output)>;
  using Outputs = std::function<void(const Inputs& inputs, const std::vector<Array>& outputs)>;

  Kernel() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Kernel> &&
           std::is_invocable_v<F&, const Inputs&, const Array&>) Kernel(F f)
      : one_(std::move(f)) {}
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Kernel> &&
           std::is_invocable_v<F&, const Inputs&, const Inputs&>) Kernel(F f)
      : outputs_(std::move(f)) {}

  explicit operator bool() const { return one_ || outputs_; }
  /// Whether the function takes all outputs, any number of them.
  bool takes_outputs() const { return static_cast<bool>(outputs_); }

  void operator()(const Inputs& inputs, const Array& output) const {
    one_ ? one_(inputs, output) : outputs_(inputs, {output});
  }
  /// Throws std::invalid_argument if there are several outputs and the kernel takes one.
  void operator()(const Inputs& inputs, const std::vector<Array>& outputs) const;

 private:
  OneOutput one_;
  Outputs outputs_;
};

}  // namespace halfgrad::testing
