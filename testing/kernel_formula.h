#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <halfgrad/testing/bounded_ops.h>
#include <halfgrad/testing/kernel_check.h>

/// Checks of a kernel against a formula of the user. docs/kernel_check.md, "Your own op", has an
/// example.
namespace halfgrad::testing {

/// A size of an operand: "m", "n" or "k", or a constant.
class FormulaSize {
 public:
  FormulaSize(const char* name) : FormulaSize(std::string(name)) {}
  /// Throws std::invalid_argument for another name.
  FormulaSize(const std::string& name);
  FormulaSize(std::int64_t size) : size_(size) {}
  FormulaSize(int size) : size_(size) {}

  std::int64_t at(const Dims& dims) const;

 private:
  char name_ = 0;
  std::int64_t size_ = 0;
};

/// An operand of a formula: its sizes, and the values that it is drawn from.
class FormulaInput {
 public:
  FormulaInput(std::initializer_list<FormulaSize> sizes) : sizes_(sizes) {}
  static FormulaInput scalar() { return FormulaInput(std::vector<FormulaSize>()); }
  explicit FormulaInput(std::vector<FormulaSize> sizes) : sizes_(std::move(sizes)) {}

  /// Ordinary values lie between `low` and `high`; by default between -2 and 2. Hostile values do
  /// not: KernelFormula::admitted restricts them.
  FormulaInput between(double low, double high) const;
  /// int64 indices from 0 to `size` less 1. The least m, n or k of that name is then 1.
  FormulaInput indices_below(const FormulaSize& size) const;
  FormulaInput booleans() const;

  OperandSpec at(const Dims& dims) const;

 private:
  std::vector<FormulaSize> sizes_, below_;
  double low_ = -2, high_ = 2;
  OperandSpec::Kind kind_ = OperandSpec::Kind::number;
};

/// The operands of a formula: a list, or a function of the sizes m, n and k.
class FormulaInputs {
 public:
  using Function = std::function<std::vector<OperandSpec>(const Dims&)>;

  FormulaInputs() = default;
  FormulaInputs(std::initializer_list<FormulaInput> inputs) : inputs_(inputs) {}
  FormulaInputs(std::vector<FormulaInput> inputs) : inputs_(std::move(inputs)) {}
  FormulaInputs(Function function) : function_(std::move(function)) {}

  std::vector<OperandSpec> at(const Dims& dims) const;

 private:
  std::vector<FormulaInput> inputs_;
  Function function_;
};

/// An op that a formula defines.
struct KernelFormula {
  std::string name;
  FormulaInputs inputs;
  /// The result for these operands, or several, written with the ops of bounded_ops.h. The shapes
  /// of the outputs are theirs.
  std::function<BoundedArrays(const std::vector<BoundedArray>&)> reference;
  /// The smallest sizes for which the formula is defined.
  Dims least = {0, 0, 0};
  /// The op does not round, as a transpose or a comparison: the result is exact, rounded to nearest
  /// where the output is narrower.
  bool exact = false;
  bool may_work_in_place = false;  ///< the output may be the first input
  /// Maps a hostile value x to one that the operand admits; empty if it admits every x.
  std::function<double(std::size_t operand, double x)> admitted = {};
  /// Names of several outputs, and whether all their elements matter; "output 0" ... if left out.
  std::vector<OutputSpec> outputs = {};
  /// For messages, "[m, k], [k, n] -> [m, n]"; if empty, the shapes of an example.
  std::string signature = {};
};

/// The formula as an op of the checker. Throws std::invalid_argument if the name, the operands or
/// the reference are missing.
KernelOp kernel_op(const KernelFormula& formula);

/// Runs `kernel` as the op that the formula defines, and reports its faults. Throws
/// std::invalid_argument as kernel_op() and check_kernel() for a name; and what the reference
/// throws.
KernelReport check_kernel(const Kernel& kernel, const KernelFormula& formula,
                          const KernelCheckOptions& options = {});

/// The formula of the gradient by one input: its inputs are those of `formula`, then the gradients
/// of the results. The name is that of `formula` with "_backward".
KernelFormula gradient(const KernelFormula& formula, std::size_t input);
/// The formula of the gradients by several inputs: one output for each, called "d0" for input 0.
KernelFormula gradients(const KernelFormula& formula, const std::vector<std::size_t>& inputs);

}  // namespace halfgrad::testing
