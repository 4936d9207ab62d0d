#include <halfgrad/testing/kernel_op.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

#include <halfgrad/testing/formulas.h>
#include <halfgrad/testing/op_example.h>

namespace halfgrad::testing {
namespace {

using Specs = std::vector<OperandSpec>;

template <class Formula>
void judge_by(KernelOp& op) {
  op.bounded = [](const std::vector<Values>& in, DType accumulate) {
    return Formula{}(BoundedArithmetic(accumulate), in);
  };
  op.rounded = [](const std::vector<Values>& in, const NumberFormat& format) {
    return Formula{}(RoundedArithmetic(format), in);
  };
}

template <class Formula, class Operands, class Output>
KernelOp composite(std::string name, std::string signature, const Operands& operands,
                   const Output& output) {
  KernelOp op;
  op.name = std::move(name);
  op.signature = std::move(signature);
  op.operands = operands;
  op.output = output;
  op.output_dtype = [](DType dtype) { return dtype; };
  judge_by<Formula>(op);
  return op;
}

Specs one_matrix(const Dims& d) { return {{.sizes = {d.m, d.k}}}; }
Shape row_results(const Dims& d) { return {d.m}; }
Shape same_matrix(const Dims& d) { return {d.m, d.k}; }
Shape scalar(const Dims&) { return {}; }
Shape product_shape(const Dims& d) { return {d.m, d.n}; }
Specs two_matrices(const Dims& d) { return {{.sizes = {d.m, d.k}}, {.sizes = {d.k, d.n}}}; }

std::vector<KernelOp> composites() {
  namespace f = formulas;
  const std::string to_rows = "[m, k] -> [m]", same = "[m, k] -> [m, k]";
  const std::string product = "[m, k], [k, n] -> [m, n]";
  return {
      composite<f::Rows<f::Sum>>("sum", to_rows, one_matrix, row_results),
      composite<f::Rows<f::Mean>>("mean", to_rows, one_matrix, row_results),
      composite<f::Rows<f::Norm>>("norm", to_rows, one_matrix, row_results),
      composite<f::Rows<f::LogSumExp>>("logsumexp", to_rows, one_matrix, row_results),
      composite<f::Rows<f::Softmax>>("softmax", same, one_matrix, same_matrix),
      composite<f::Rows<f::LogSoftmax>>("log_softmax", same, one_matrix, same_matrix),
      composite<f::Rows<f::Normalize<true>>>(
          "layer_norm", "[m, k], [k], [k] -> [m, k]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.k}}, {.sizes = {d.k}}};
          },
          same_matrix),
      composite<f::Rows<f::Normalize<false>>>(
          "rms_norm", "[m, k], [k] -> [m, k]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.k}}};
          },
          same_matrix),
      composite<f::Matmul>("mm", product, two_matrices, product_shape),
      composite<f::Matmul>("matmul", product, two_matrices, product_shape),
      composite<f::Matmul>(
          "mv", "[m, k], [k] -> [m]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.k}}};
          },
          row_results),
      composite<f::Matmul>(
          "dot", "[k], [k] -> []",
          [](const Dims& d) {
            return Specs{{.sizes = {d.k}}, {.sizes = {d.k}}};
          },
          scalar),
      composite<f::Linear>(
          "linear", "[m, k], [n, k], [n] -> [m, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.n, d.k}}, {.sizes = {d.n}}};
          },
          product_shape),
      composite<f::Addmm>(
          "addmm", "[n], [m, k], [k, n] -> [m, n]",
          [](const Dims& d) {
            return Specs{{.sizes = {d.n}}, {.sizes = {d.m, d.k}}, {.sizes = {d.k, d.n}}};
          },
          product_shape),
      composite<f::CrossEntropy>(
          "cross_entropy", "[m, k], classes [m] -> []",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}},
                         {.sizes = {d.m},
                          .low = 0,
                          .high = static_cast<double>(d.k - 1),
                          .kind = OperandSpec::Kind::index}};
          },
          scalar),
      composite<f::MseLoss>(
          "mse_loss", "[m, k], [m, k] -> []",
          [](const Dims& d) {
            return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.m, d.k}}};
          },
          scalar),
  };
}

/// Elementwise ops whose every result, however small, is good to a few roundoffs of itself. The
/// others are good to roundoffs of max(1, |y|): they add to 1 on the way, as sigmoid does.
bool is_relative(std::string_view name) {
  constexpr std::string_view names[] = {
      "add",    "sub",        "mul",  "div",   "neg",        "abs",   "sqrt",    "rsqrt",
      "square", "reciprocal", "relu", "where", "leaky_relu", "clamp", "maximum", "minimum"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// An op by its reference in the table.
KernelOp from_table(const OpEntry& entry) {
  const OpExample example = entry.examples.front();
  KernelOp op;
  op.name = entry.name;
  op.elementwise = entry.elementwise;
  op.any_dims = entry.elementwise;
  op.bitwise = entry.roundoffs == 0;
  op.signature =
      entry.elementwise ? "[m, n], ... -> [m, n]" : "as the example \"" + example.name + '"';
  op.operands = [example, free = entry.elementwise](const Dims& d) {
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
  op.bounded = [example, roundoffs = entry.roundoffs, relative = is_relative(entry.name)](
                   const std::vector<Values>& in, DType accumulate) {
    std::vector<Bounded> out;
    for (const double y : example.reference(in).data) {
      const double scale = relative ? std::fabs(y) : std::fmax(1, std::fabs(y));
      const double error = roundoffs * limits_of(accumulate).roundoff * scale;
      out.push_back({y, std::isfinite(y) ? error : 0});
    }
    return out;
  };
  op.rounded = [example](const std::vector<Values>& in, const NumberFormat& format) {
    std::vector<double> out = example.reference(in).data;
    for (double& y : out) y = rounded_to(format, y);
    return out;
  };
  return op;
}

}  // namespace

KernelOp kernel_op(const std::string& name) {
  for (KernelOp& op : composites()) {
    if (op.name != name) continue;
    op.empty_rows = name != "logsumexp" && name != "cross_entropy";
    return std::move(op);
  }
  for (const OpEntry& entry : all_ops()) {
    if (entry.name != name) continue;
    KernelOp op = from_table(entry);
    if (name == "lerp") judge_by<formulas::Lerp>(op);
    return op;
  }
  throw std::invalid_argument("kernel_op: expected the name of an op in docs/ops.md, got " + name);
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
  for (const std::int64_t m : sizes) {
    for (const std::int64_t n : sizes) {
      for (const std::int64_t k : sizes) {
        if (fits({m, n, k})) return {m, n, k};
      }
    }
  }
  throw std::invalid_argument(op.name + ": expected operands " + op.signature + ", got " + shapes);
}

std::vector<std::string> composite_kernel_ops() {
  std::vector<std::string> names;
  for (const KernelOp& op : composites()) names.push_back(op.name);
  return names;
}

}  // namespace halfgrad::testing
