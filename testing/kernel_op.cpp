#include <halfgrad/testing/kernel_op.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>
#include <halfgrad/testing/op_example.h>

namespace halfgrad::testing {
namespace {

using detail::Specs;

template <class... Lists>
std::vector<KernelOp> ops_of(const Lists&... lists) {
  std::vector<KernelOp> all;
  for (auto list : {lists...}) {
    for (KernelOp& op : list()) all.push_back(std::move(op));
  }
  return all;
}

const std::vector<KernelOp>& composites() {
  static const std::vector<KernelOp> ops =
      ops_of(detail::row_ops, detail::product_ops, detail::loss_ops, detail::index_ops);
  return ops;
}

/// The ops whose references are formulas in testing/kernel_ops/, without a file in autograd/ops/.
const std::vector<KernelOp>& formulas() {
  static const std::vector<KernelOp> ops =
      ops_of(detail::backward_ops, detail::attention_ops, detail::optimizer_ops,
             detail::fused_optimizer_ops, detail::float8_ops);
  return ops;
}

std::vector<std::string> names_of(const std::vector<KernelOp>& ops) {
  std::vector<std::string> names;
  for (const KernelOp& op : ops) names.push_back(op.name);
  return names;
}

/// Leaves silu(gate) up unjudged where up is infinite and silu(gate) may underflow to 0: x / (1 +
/// exp(-x)) up is NaN there, in PyTorch too. The limit is an infinity.
void admit_nan_of_swiglu(KernelOp& op) {
  op.bounded = [bounded = op.bounded](const std::vector<Values>& in, DType accumulate, DType output,
                                      const Leniency& leniency) {
    std::vector<Bounded> results = bounded(in, accumulate, output, leniency);
    const FormatLimits limits = limits_of(accumulate);
    const double lowest = -0.99 * std::log(limits.largest);  // exp(-gate) overflows below
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double gate = in[0].data[i];
      const bool vanishes = std::isfinite(gate) && gate != 0 &&
                            (gate < lowest || std::fabs(gate) <= 2 * limits.smallest);
      if (vanishes && std::isinf(in[1].data[i])) {
        results[i].error = BoundedArithmetic::kUnknown;
      }
    }
    return results;
  };
}

/// An elementwise op, or one that only moves elements, from its entry in the table.
KernelOp from_table(const OpEntry& entry) {
  const OpExample example = entry.examples.front();
  KernelOp op;
  op.name = entry.name;
  op.elementwise = entry.elementwise || entry.bounded_reference != nullptr;
  op.any_dims = op.elementwise;
  op.signature =
      op.elementwise ? "[m, n], ... -> [m, n]" : "as the example \"" + example.name + '"';
  op.operands = [example, free = op.elementwise](const Dims& d) {
    Specs specs = example.operands;
    if (free) {
      for (OperandSpec& spec : specs) spec.sizes = {d.m, d.n};
    }
    return specs;
  };
  op.output = [operands = op.operands, example](const Dims& d) {
    std::vector<Values> zeros;
    for (const OperandSpec& spec : operands(d)) {
      zeros.push_back(
          {spec.sizes, std::vector<double>(static_cast<std::size_t>(numel(spec.sizes)))});
    }
    return example.reference(zeros).sizes;
  };
  op.output_dtype = [example](DType dtype) {
    return example.run(draw_operands(example, dtype, 0)).dtype();
  };
  op.may_work_in_place = op.elementwise && op.output_dtype(kFloat32) == kFloat32 &&
                         example.operands[0].kind == OperandSpec::Kind::number;
  // IEEE 754 says the sign of their zeros; maximum(0, -0) may be either.
  constexpr const char* kSigned[] = {"neg", "abs", "trunc", "floor",      "ceil", "round",
                                     "mul", "div", "fmod",  "reciprocal", "sqrt"};
  op.signs_zeros = std::find(std::begin(kSigned), std::end(kSigned), op.name) != std::end(kSigned);
  if (entry.roundoffs == 0) {
    constexpr const char* kViews[] = {"reshape", "flatten", "squeeze", "unsqueeze", "permute",
                                      "expand",  "slice",   "select",  "as_strided"};
    op.moves = std::find(std::begin(kViews), std::end(kViews), op.name) != std::end(kViews);
    detail::judge_exactly(
        op, [example](const std::vector<Values>& in) { return example.reference(in).data; });
  } else {
    detail::judge_by_reference(op);
    if (op.name == "swiglu") admit_nan_of_swiglu(op);
  }
  return op;
}

void expect_indices(const KernelOp& op, const Dims& dims, const std::vector<Values>& operands) {
  const Specs specs = op.operands(dims);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind != OperandSpec::Kind::index) continue;
    for (const double x : operands[i].data) {
      if (x >= 0 && x <= specs[i].high && x == std::floor(x)) continue;
      halfgrad::detail::fail(op.name, "expected whole numbers from 0 to {} in operand {}, got {}",
                             specs[i].high, i, x);
    }
  }
}

/// Memory that a case needs for each element of its operands and its result: random draws, values,
/// arrays, bounds. Measured: 60 to 92 bytes.
constexpr double kBytesPerElement = 100;

/// The number of elements, in double, which does not overflow.
double count(const Shape& sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

void expect_memory(const KernelOp& op, const Dims& dims) {
  const double most = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<double>(sysconf(_SC_PAGESIZE)) / kBytesPerElement;
  // Dims are checked before operands() adds them, and operands before output() allocates them.
  auto elements = static_cast<double>(std::max({dims.m, dims.n, dims.k, dims.columns}));
  if (elements <= most) {
    elements = 0;
    for (const OperandSpec& spec : op.operands(dims)) elements += count(spec.sizes);
  }
  if (elements <= most) {
    for (const Shape& shape : output_shapes(op, dims)) elements += count(shape);
  }
  if (elements <= most) return;
  std::ostringstream message;
  message.precision(3);
  message << op.name << ": expected operands and a result of at most " << most
          << " elements, whose check fits in this machine's memory, got " << elements
          << " for m = " << dims.m << ", n = " << dims.n << ", k = " << dims.k
          << "; choose smaller dims";
  throw std::invalid_argument(message.str());
}

/// The op with its default parameters.
KernelOp op_named(const std::string& name) {
  for (const auto* ops : {&composites(), &formulas()}) {
    for (const KernelOp& op : *ops) {
      if (op.name == name) return op;
    }
  }
  for (const OpEntry& entry : all_ops()) {
    if (entry.name == name) return from_table(entry);
  }
  halfgrad::detail::fail("kernel_op", "expected the name of an op in docs/ops.md, got {}", name);
}

}  // namespace

KernelOp kernel_op(const std::string& name, const OpParameters& parameters) {
  return with_parameters(op_named(name), parameters);
}

std::vector<Shape> output_shapes(const KernelOp& op, const Dims& dims) {
  return op.outputs.empty() ? std::vector<Shape>{op.output(dims)} : op.output_shapes(dims);
}

DType output_dtype(const KernelOp& op, std::size_t output, DType first) {
  if (output >= op.outputs.size()) return first;
  const OutputSpec& spec = op.outputs[output];
  return spec.dtype ? *spec.dtype : spec.wide ? promote_types(first, kFloat32) : first;
}

DType operand_dtype(const KernelOp& op, std::size_t operand, DType dtype) {
  if (const auto own = op.operand_dtypes.find(operand); own != op.operand_dtypes.end()) {
    return own->second;
  }
  switch (op.operands({})[operand].kind) {
    case OperandSpec::Kind::index:
      return kInt64;
    case OperandSpec::Kind::boolean:
      return kBool;
    case OperandSpec::Kind::number:
      break;
  }
  return dtype;
}

bool has_columns(const KernelOp& op) {
  if (!op.any_dims) return false;
  const Specs one = op.operands({1, 1, 1}), two = op.operands({1, 1, 1, 2});
  return !std::equal(one.begin(), one.end(), two.begin(),
                     [](const OperandSpec& a, const OperandSpec& b) { return a.sizes == b.sizes; });
}

std::string of_output(const KernelOp& op, std::size_t output) {
  return output < op.outputs.size() ? " of " + op.outputs[output].name : std::string();
}

std::vector<bool> elements_that_matter(const KernelOp& op, std::size_t output,
                                       const std::vector<Values>& operands, std::size_t count) {
  if (output >= op.outputs.size() || !op.outputs[output].matters) return {};
  std::vector<bool> matters = op.outputs[output].matters(operands);
  if (matters.size() != count) {
    halfgrad::detail::fail(op.name, "expected matters to give {} elements{}, got {}", count,
                           of_output(op, output), matters.size());
  }
  return matters;
}

void expect_dims(const KernelOp& op, const Dims& dims) {
  const std::int64_t m = op.least.m, n = op.least.n, k = op.least.k;
  if (dims.m >= m && dims.n >= n && dims.k >= k) return expect_memory(op, dims);
  halfgrad::detail::fail(op.name,
                         "expected m, n and k of at least {}, {} and {}, got {}, {} and {}", m, n,
                         k, dims.m, dims.n, dims.k);
}

Dims dims_of(const KernelOp& op, const std::vector<Values>& operands) {
  std::set<std::int64_t> sizes = {1};
  std::string shapes;
  for (const Values& operand : operands) {
    sizes.insert(operand.sizes.begin(), operand.sizes.end());
    shapes += (shapes.empty() ? "" : ", ") + to_string(operand.sizes);
  }
  const auto fits = [&](const Dims& dims) {
    const Specs specs = op.operands(dims);
    return std::equal(
        specs.begin(), specs.end(), operands.begin(), operands.end(),
        [](const OperandSpec& spec, const Values& x) { return spec.sizes == x.sizes; });
  };
  std::vector<Dims> candidates;
  for (const std::int64_t m : sizes) {
    for (const std::int64_t n : sizes) {
      for (const std::int64_t k : sizes) candidates.push_back({m, n, k});
    }
  }
  if (has_columns(op)) {
    for (const Dims& d : std::vector<Dims>(candidates)) {
      for (const std::int64_t columns : sizes) candidates.push_back({d.m, d.n, d.k, columns});
    }
  }
  for (const Dims& dims : candidates) {
    if (!fits(dims)) continue;
    expect_dims(op, dims);
    expect_indices(op, dims, operands);
    return dims;
  }
  halfgrad::detail::fail(op.name, "expected operands {}, got {}", op.signature, shapes);
}

std::vector<std::string> composite_kernel_ops() { return names_of(composites()); }
std::vector<std::string> formula_kernel_ops() { return names_of(formulas()); }

}  // namespace halfgrad::testing
