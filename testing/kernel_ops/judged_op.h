#pragma once

#include <string>
#include <utility>
#include <vector>

#include <halfgrad/testing/kernel_op.h>

/// The functions with which the lists of ops in this folder are written.
namespace halfgrad::testing::detail {

using Specs = std::vector<OperandSpec>;

/// The bounded_reference of the op in all_ops(). Throws std::logic_error if it has none.
BoundedReference reference_of(const std::string& name);

/// The values without their bounds.
std::vector<double> values_of(const Elements& elements);

/// Maps a drawn x to a scale: positive, with an exponent from `lowest` to `lowest` + `exponents` -
/// 1, half of the time a power of two.
double scale_from(double x, int lowest, int exponents);

/// Gives an op the bounds that follow from reference_of() its name.
void judge_by_reference(KernelOp& op);

/// For an op that does not round: its result is f(operands), rounded to the dtype of the output.
template <class F>
void judge_exactly(KernelOp& op, const F& f) {
  op.bitwise = true;
  op.bounded = [f](const std::vector<Values>& in, DType, DType, const Leniency&) {
    Elements out;
    for (const double y : f(in)) out.push_back({y, 0});
    return out;
  };
  op.rounded = [f](const std::vector<Values>& in, const NumberFormat& format) {
    std::vector<double> out = f(in);
    for (double& y : out) y = rounded_to(format, y);
    return out;
  };
}

template <class Operands, class Output>
KernelOp op_of(std::string name, std::string signature, const Operands& operands,
               const Output& output) {
  KernelOp op;
  op.name = std::move(name);
  op.signature = std::move(signature);
  op.operands = operands;
  op.output = output;
  op.output_dtype = [](DType dtype) { return dtype; };
  return op;
}

template <class Operands, class Output>
KernelOp judged(std::string name, std::string signature, const Operands& operands,
                const Output& output) {
  KernelOp op = op_of(std::move(name), std::move(signature), operands, output);
  judge_by_reference(op);
  return op;
}

/// Requires at least one element per row: the op is undefined for empty rows.
inline KernelOp needs_rows(KernelOp op) {
  op.least.k = 1;
  return op;
}

inline KernelOp in_place(KernelOp op) {
  op.may_work_in_place = true;
  return op;
}

/// The op goes along rows, and may go along another dimension (with_parameters()).
inline KernelOp takes_dim(KernelOp op) {
  op.takes_dim = true;
  return op;
}

inline OperandSpec indices_below(std::int64_t size, const Shape& sizes) {
  return {.sizes = sizes,
          .low = 0,
          .high = static_cast<double>(size - 1),
          .kind = OperandSpec::Kind::index};
}

inline Specs one_matrix(const Dims& d) { return {{.sizes = {d.m, d.k}}}; }
inline Specs two_alike(const Dims& d) { return {{.sizes = {d.m, d.k}}, {.sizes = {d.m, d.k}}}; }
inline Shape row_results(const Dims& d) { return {d.m}; }
inline Shape same_matrix(const Dims& d) { return {d.m, d.k}; }
inline Shape product_shape(const Dims& d) { return {d.m, d.n}; }
inline Shape scalar(const Dims&) { return {}; }

/// The lists, one per file.
std::vector<KernelOp> row_ops();
std::vector<KernelOp> product_ops();
std::vector<KernelOp> loss_ops();
std::vector<KernelOp> index_ops();
std::vector<KernelOp> backward_ops();
std::vector<KernelOp> attention_ops();
std::vector<KernelOp> optimizer_ops();
std::vector<KernelOp> fused_optimizer_ops();
std::vector<KernelOp> float8_ops();

}  // namespace halfgrad::testing::detail
