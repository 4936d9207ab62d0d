#include <halfgrad/testing/kernel_formula.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/rounded_arithmetic.h>

namespace halfgrad::testing {
namespace {

using halfgrad::detail::fail;
using Arithmetic = BoundedArray::Arithmetic;

/// The operands in this arithmetic. Indices and masks are exact in every arithmetic: one that
/// rounds to 8 bits would make an index of 299 one of 300.
std::vector<BoundedArray> arrays_of(const KernelFormula& formula, const Arithmetic& arithmetic,
                                    const std::vector<Values>& operands) {
  const std::vector<OperandSpec> specs = formula.inputs.at({});
  std::vector<BoundedArray> arrays;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (specs[i].kind == OperandSpec::Kind::number) {
      arrays.emplace_back(arithmetic, operands[i]);
      continue;
    }
    Elements exact;
    for (const double x : operands[i].data) exact.push_back({x});
    arrays.emplace_back(arithmetic, operands[i].sizes, std::move(exact));
  }
  return arrays;
}

/// The results of the formula in this arithmetic.
BoundedArrays evaluated(const KernelFormula& formula, const Arithmetic& arithmetic,
                        const std::vector<Values>& operands) {
  const BoundedArrays results = formula.reference(arrays_of(formula, arithmetic, operands));
  const bool fits =
      formula.outputs.empty() ? results.size() > 0 : results.size() == formula.outputs.size();
  if (!fits) {
    fail(formula.name, "expected {} results of the reference, got {}",
         std::max<std::size_t>(1, formula.outputs.size()), results.size());
  }
  for (const BoundedArray& result : results) {
    if (!result.defined()) fail(formula.name, "expected defined results of the reference");
  }
  return results;
}

/// The elements of all results.
Elements elements_of(const BoundedArrays& results) {
  Elements all;
  for (const BoundedArray& each : results) {
    all.insert(all.end(), each.elements().begin(), each.elements().end());
  }
  return all;
}

/// The shapes of the results, found by evaluating the formula once for each size.
class ResultShapes {
 public:
  explicit ResultShapes(KernelFormula formula) : formula_(std::move(formula)) {}

  std::vector<Shape> at(const Dims& dims) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [known, shapes] : known_) {
      if (known == dims) return shapes;
    }
    std::vector<Values> zeros;
    for (const OperandSpec& spec : formula_.inputs.at(dims)) {
      zeros.push_back(
          {spec.sizes, std::vector<double>(static_cast<std::size_t>(numel(spec.sizes)))});
    }
    std::vector<Shape> shapes;
    for (const BoundedArray& each : evaluated(formula_, std::make_shared<AnyArithmetic>(), zeros)) {
      shapes.push_back(each.sizes());
    }
    known_.emplace_back(dims, shapes);
    return shapes;
  }

 private:
  KernelFormula formula_;
  std::mutex mutex_;
  std::vector<std::pair<Dims, std::vector<Shape>>> known_;
};

constexpr Dims kExample{5, 3, 7};

std::vector<OutputSpec> outputs_of(const KernelFormula& formula, std::size_t count) {
  std::vector<OutputSpec> outputs = formula.outputs;
  for (std::size_t i = outputs.size(); count > 1 && i < count; ++i) {
    outputs.push_back({.name = "output " + std::to_string(i)});
  }
  return outputs;
}

/// Whether an operand has indices into a dimension that this size makes empty.
bool has_indices_below_zero(const FormulaInputs& inputs, std::int64_t Dims::*dim) {
  Dims dims;
  dims.*dim = 0;
  const std::vector<OperandSpec> specs = inputs.at(dims);
  return std::any_of(specs.begin(), specs.end(), [](const OperandSpec& spec) {
    return spec.kind == OperandSpec::Kind::index && spec.high < 0;
  });
}

/// Whether every operand and the result are [m, n].
bool is_elementwise(const KernelOp& op) {
  const std::vector<OperandSpec> specs = op.operands(kExample);
  return op.outputs.empty() && op.output(kExample) == Shape{5, 3} &&
         std::all_of(specs.begin(), specs.end(), [](const OperandSpec& spec) {
           return spec.sizes == Shape{5, 3};
         });
}

std::string signature_of(const KernelFormula& formula) {
  std::string text;
  for (const OperandSpec& spec : formula.inputs.at(kExample)) {
    text += (text.empty() ? "" : ", ") + to_string(spec.sizes);
  }
  return text + " for m = 5, n = 3, k = 7";
}

}  // namespace

FormulaSize::FormulaSize(const std::string& name) : name_(name.size() == 1 ? name[0] : '\0') {
  if (name_ == 'm' || name_ == 'n' || name_ == 'k') return;
  fail("FormulaSize", "expected m, n or k, got {}", name);
}

std::int64_t FormulaSize::at(const Dims& dims) const {
  return name_ == 'm' ? dims.m : name_ == 'n' ? dims.n : name_ == 'k' ? dims.k : size_;
}

FormulaInput FormulaInput::between(double low, double high) const {
  FormulaInput other = *this;
  other.low_ = low;
  other.high_ = high;
  return other;
}
FormulaInput FormulaInput::indices_below(const FormulaSize& size) const {
  FormulaInput other = *this;
  other.kind_ = OperandSpec::Kind::index;
  other.below_ = {size};
  return other;
}
FormulaInput FormulaInput::booleans() const {
  FormulaInput other = *this;
  other.kind_ = OperandSpec::Kind::boolean;
  return other;
}

OperandSpec FormulaInput::at(const Dims& dims) const {
  Shape sizes;
  for (const FormulaSize& size : sizes_) sizes.push_back(size.at(dims));
  OperandSpec spec{.sizes = sizes, .low = low_, .high = high_, .kind = kind_};
  if (kind_ == OperandSpec::Kind::index) {
    spec.low = 0;
    spec.high = static_cast<double>(below_[0].at(dims) - 1);
  }
  return spec;
}

std::vector<OperandSpec> FormulaInputs::at(const Dims& dims) const {
  if (function_) return function_(dims);
  std::vector<OperandSpec> specs;
  for (const FormulaInput& input : inputs_) specs.push_back(input.at(dims));
  return specs;
}

KernelOp kernel_op(const KernelFormula& formula) {
  if (formula.name.empty() || !formula.reference || formula.inputs.at({}).empty()) {
    fail("kernel_op", "expected a formula with a name, inputs and a reference");
  }
  const auto shapes = std::make_shared<ResultShapes>(formula);
  KernelOp op;
  op.name = formula.name;
  op.signature = formula.signature.empty() ? signature_of(formula) : formula.signature;
  op.operands = [inputs = formula.inputs](const Dims& dims) { return inputs.at(dims); };
  op.output = [shapes](const Dims& dims) { return shapes->at(dims)[0]; };
  op.outputs = outputs_of(formula, shapes->at(kExample).size());
  op.output_shapes = [shapes](const Dims& dims) { return shapes->at(dims); };
  op.output_dtype = [](DType dtype) { return dtype; };
  op.bounded = [formula](const std::vector<Values>& in, DType accumulate, DType output,
                         const Leniency& leniency) {
    const auto arithmetic = std::make_shared<BoundedArithmetic>(accumulate, output, leniency);
    return elements_of(evaluated(formula, arithmetic, in));
  };
  op.rounded = [formula](const std::vector<Values>& in, const NumberFormat& format) {
    std::vector<double> values;
    for (const Bounded& each :
         elements_of(evaluated(formula, std::make_shared<RoundedArithmetic>(format), in))) {
      values.push_back(each.value);
    }
    return values;
  };
  op.admitted = formula.admitted;
  op.least = formula.least;
  for (std::int64_t Dims::*dim : {&Dims::m, &Dims::n, &Dims::k}) {
    // A formula may not be defined for empty rows: it is asked only where it says so.
    if (op.least.*dim < 1 && has_indices_below_zero(formula.inputs, dim)) op.least.*dim = 1;
  }
  op.elementwise = is_elementwise(op);
  op.bitwise = formula.exact;
  op.may_work_in_place = formula.may_work_in_place;
  return op;
}

KernelFormula gradient(const KernelFormula& formula, std::size_t input) {
  KernelFormula backward = gradients(formula, {input});
  backward.outputs = {};
  return backward;
}

KernelFormula gradients(const KernelFormula& formula, const std::vector<std::size_t>& inputs) {
  const std::size_t count = formula.inputs.at({}).size();
  KernelFormula backward = formula;
  backward.name = formula.name + "_backward";
  backward.outputs = {};
  for (const std::size_t input : inputs) {
    if (input >= count) fail("gradient", "expected an input below {}, got {}", count, input);
    backward.outputs.push_back({.name = "d" + std::to_string(input)});
  }
  const auto shapes = std::make_shared<ResultShapes>(formula);
  backward.inputs = FormulaInputs::Function([formula, shapes](const Dims& dims) {
    std::vector<OperandSpec> specs = formula.inputs.at(dims);
    for (const Shape& sizes : shapes->at(dims)) specs.push_back({.sizes = sizes});
    return specs;
  });
  backward.reference = [reference = formula.reference, count,
                        inputs](const std::vector<BoundedArray>& in) -> BoundedArrays {
    const auto last = in.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<BoundedArray> operands(in.begin(), last), variables;
    for (const std::size_t input : inputs) {
      operands[input] = variable(operands[input]);
      variables.push_back(operands[input]);
    }
    return gradient(reference(operands), variables, std::vector<BoundedArray>(last, in.end()));
  };
  if (formula.admitted) {
    backward.admitted = [admitted = formula.admitted, count](std::size_t operand, double x) {
      return operand < count ? admitted(operand, x) : x;
    };
  }
  backward.exact = false;
  backward.may_work_in_place = false;
  return backward;
}

KernelReport check_kernel(const Kernel& kernel, const KernelFormula& formula,
                          const KernelCheckOptions& options) {
  return check_op(kernel, kernel_op(formula), options);
}

}  // namespace halfgrad::testing
