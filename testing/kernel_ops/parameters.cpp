#include <cmath>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/json_text.h>
#include <halfgrad/testing/kernel_ops/along.h>

/// Ops with parameters of the user.
namespace halfgrad::testing {
namespace {

using halfgrad::detail::fail;

/// Refuses a parameter that the op does not have, and names the ops that have it.
template <class Has>
void expect_parameter(const KernelOp& op, const char* parameter, const Has& has) {
  if (has(op)) return;
  std::vector<std::string> takers;
  for (const auto& names : {composite_kernel_ops(), formula_kernel_ops()}) {
    for (const std::string& name : names) {
      if (has(kernel_op(name))) takers.push_back(name);
    }
  }
  fail(op.name, "expected no {}, which only these ops have: {}", parameter,
       joined(takers, [](const std::string& name) { return name; }));
}

KernelOp with_eps(const KernelOp& op, double eps) {
  expect_parameter(op, "eps", [](const KernelOp& each) { return bool(each.with_eps); });
  if (!std::isfinite(eps) || eps < 0) fail(op.name, "expected a finite eps from 0 on, got {}", eps);
  return op.with_eps(eps);
}

KernelOp with_reduction(const KernelOp& op, Reduction reduction) {
  expect_parameter(op, "reduction", [](const KernelOp& each) { return bool(each.with_reduction); });
  return op.with_reduction(reduction);
}

KernelOp with_dim(const KernelOp& op, const OpParameters& parameters) {
  const auto has = [](const KernelOp& each) { return each.takes_dim; };
  if (parameters.dim) expect_parameter(op, "dim", has);
  if (parameters.ndim) expect_parameter(op, "ndim", has);
  const std::int64_t ndim = parameters.ndim.value_or(2);
  if (ndim != 2 && ndim != 3) fail(op.name, "expected 2 or 3 as ndim, got {}", ndim);
  const std::int64_t dim = parameters.dim.value_or(-1);
  if (dim < -ndim || dim >= ndim) {
    fail(op.name, "expected a dim from {} to {}, got {}", -ndim, ndim - 1, dim);
  }
  const std::int64_t from_start = dim < 0 ? dim + ndim : dim;
  if (ndim == 2 && from_start == 1) return op;
  return detail::along(op, static_cast<int>(from_start), static_cast<int>(ndim));
}

/// Refuses a dtype that the operand's elements do not fit: indices stay integers, masks stay
/// booleans.
void expect_fits(const KernelOp& op, std::size_t operand, DType dtype) {
  const bool is_code =
      op.operand_dtypes.contains(operand) && !is_floating_point(op.operand_dtypes.at(operand));
  const OperandSpec::Kind kind = op.operands({})[operand].kind;
  const bool is_index = kind == OperandSpec::Kind::index;
  const bool fits = is_index ? dtype == kInt64 || dtype == kInt32
                             : kind == OperandSpec::Kind::number && is_floating_point(dtype);
  if (fits && !is_code) return;
  fail(op.name, "expected {} for operand {}, got {}",
       is_code                              ? "its own dtype"
       : is_index                           ? "int64 or int32"
       : kind == OperandSpec::Kind::boolean ? "bool"
                                            : "a floating-point dtype",
       operand, dtype);
}

void set_dtypes(KernelOp& op, const OpParameters& parameters) {
  const std::size_t operands = op.operands({}).size();
  for (const auto& [operand, dtype] : parameters.operand_dtypes) {
    if (operand >= operands) {
      fail(op.name, "expected the position of an operand, below {}, got {}", operands, operand);
    }
    expect_fits(op, operand, dtype);
    op.operand_dtypes[operand] = dtype;
    if (is_floating_point(dtype)) op.moves = false;  // a cast changes bits
  }
  for (const auto& [output, dtype] : parameters.output_dtypes) {
    if (op.outputs.empty()) {
      fail(op.name,
           "expected output_dtypes only for an op with several outputs; choose the dtype "
           "of one output by `output`");
    }
    if (output >= op.outputs.size() || !is_floating_point(dtype)) {
      fail(op.name, "expected floating-point dtypes of outputs below {}, got {} for output {}",
           op.outputs.size(), dtype, output);
    }
    op.outputs[output].dtype = dtype;
  }
}

}  // namespace

KernelOp with_parameters(const KernelOp& op, const OpParameters& parameters) {
  if (parameters == op.parameters || parameters == OpParameters{}) return op;
  if (op.parameters != OpParameters{}) {
    fail(op.name, "expected the parameters of the op, {}, got {}", to_string(op.parameters),
         to_string(parameters));
  }
  KernelOp own = op;
  if (parameters.eps) own = with_eps(own, *parameters.eps);
  if (parameters.reduction) own = with_reduction(own, *parameters.reduction);
  if (parameters.dim || parameters.ndim) own = with_dim(own, parameters);
  set_dtypes(own, parameters);
  own.parameters = parameters;
  return own;
}

}  // namespace halfgrad::testing
