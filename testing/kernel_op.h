#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>
#include <halfgrad/testing/error_bound.h>
#include <halfgrad/testing/op_parameters.h>

namespace halfgrad::testing {

enum class Hostile : std::uint8_t;

/// Sizes of a kernel's problem; an op ignores those that it does not have.
struct Dims {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t columns = 0;  ///< c of a batched product; 0 for c = n

  friend bool operator==(const Dims&, const Dims&) = default;
};

/// One of several outputs of an op.
struct OutputSpec {
  std::string name;  ///< for messages: "dx"
  /// Stored in float32 at least, as the logsumexp of an attention in 16 bits.
  bool wide = false;
  std::optional<DType> dtype = {};  ///< its own dtype, whatever that of the others is
  /// True for the elements that matter; the kernel may leave the others as they were. If empty, all
  /// elements matter.
  std::function<std::vector<bool>(const std::vector<Values>& operands)> matters = {};
};

/// A case whose operands have been drawn.
struct DrawnCase {
  Hostile kind;
  Dims dims;
  DType dtype;  ///< the dtype of operands without their own
};

/// An op as kernels compute it: its operands, its result, and the error bound of the result.
struct KernelOp {
  std::string name;
  /// For messages: "[m, k], [k, n] -> [m, n]".
  std::string signature;
  /// Shapes and kinds of the operands, and the range in which random values are harmless.
  std::function<std::vector<OperandSpec>(const Dims&)> operands;
  std::function<Shape(const Dims&)> output;
  /// Names of several outputs, in the order in which a kernel gets them; empty if there is one.
  std::vector<OutputSpec> outputs;
  /// Shapes of several outputs, the first of which is `output`.
  std::function<std::vector<Shape>(const Dims&)> output_shapes;
  /// The result's dtype for operands of the given dtype.
  std::function<DType(DType)> output_dtype;
  /// The exact result with error bounds, for kernels whose intermediate results are of dtype
  /// `accumulate`; where a kernel may store them, of dtype `output`. Several outputs follow each
  /// other.
  std::function<std::vector<Bounded>(const std::vector<Values>&, DType accumulate, DType output,
                                     const Leniency&)>
      bounded;
  /// The same maths with every operation rounded to a format of up to 32 bits.
  std::function<std::vector<double>(const std::vector<Values>&, const NumberFormat&)> rounded;
  /// Maps a random value x to one that the operand admits; empty if it admits every x.
  std::function<double(std::size_t operand, double x)> admitted;
  /// Shapes in which operands are drawn, if not those of `operands`; `adjusted` then changes them.
  std::function<std::vector<OperandSpec>(const Dims&)> drawn;
  /// Changes drawn operands to ones that are hostile to this op. They are rounded afterwards.
  std::function<void(const DrawnCase&, std::vector<Values>&)> adjusted;
  /// The value of an output's element that stores a code; empty if it stores the value.
  std::function<double(double)> decoded;
  /// True for operands of which every result is exact; empty if `bitwise` says it for all.
  std::function<bool(const std::vector<Values>&)> exact_for;
  /// Tells for each output whether its sums of these operands are exact in any order, in dtype
  /// `accumulate`: only storing the result rounds. Empty if a right kernel may scale terms first.
  std::function<std::vector<bool>(const std::vector<Values>&, DType accumulate)> exact_sums;
  std::map<std::size_t, DType> operand_dtypes;  ///< dtypes of operands that have their own
  /// The op with another eps or reduction; empty if it has none.
  std::function<KernelOp(double)> with_eps;
  std::function<KernelOp(Reduction)> with_reduction;
  bool takes_dim = false;    ///< goes along the rows of matrices [m, k], of which weights are [k]
  OpParameters parameters;   ///< the argument of with_parameters()
  Dims least = {0, 0, 0};    ///< the smallest dims for which the op is defined
  bool elementwise = false;  ///< every operand and the result are [m, n]
  bool any_dims = true;      ///< false: the shapes are those of the table's example
  bool bitwise = false;      ///< the op does not round: its result is exact
  bool moves = false;        ///< the op copies elements, with every bit
  bool signs_zeros = false;  ///< a result of 0 must have the sign of the formula's
  bool may_work_in_place = false;  ///< the output may be the first input
};

/// The op of that name. Dims m, n and k are free for elementwise ops and for
///
///   sum, mean, prod, var, std, norm, amax, amin, argmax, argmin, all, any, logsumexp
///                                     [m, k] -> [m]
///   cumsum, softmax, log_softmax, argsort
///                                     [m, k] -> [m, k]
///   layer_norm, rms_norm              [m, k], weight [k] (, bias [k]) -> [m, k], eps = 1e-5
///   batch_norm                        [m, n, k], weight [n], bias [n] -> [m, n, k], eps = 1e-5
///   group_norm                        [m, 2 n, k], weight [2 n], bias [2 n] -> [m, 2 n, k],
///                                     in 2 groups, eps = 1e-5
///   rope                              [m, 2 k] -> [m, 2 k], in halves
///   mm, matmul                        [m, k], [k, n] -> [m, n]
///   bmm                               [m, n, k], [m, k, c] -> [m, n, c], c = n unless dims say so
///   mv                                [m, k], [k] -> [m]
///   dot                               [k], [k] -> []
///   outer                             [m], [n] -> [m, n]
///   linear, linear_relu, linear_gelu  [m, k], [n, k], [n] -> [m, n]
///   mlp                               [m, k], weights [16, k], [16, 16], [n, 16],
///                                     biases [16], [16], [n] -> [m, n]
///   addmm                             [n], [m, k], [k, n] -> [m, n]
///   baddbmm                           [c], [m, n, k], [m, k, c] -> [m, n, c]
///   cross_entropy, nll_loss           [m, k], classes [m] -> []
///   the other losses                  [m, k], [m, k] -> []
///   transpose                         [m, n] -> [n, m]
///   cat                               [m, k], [m, n] -> [m, k + n]
///   stack                             [m, k], [m, k] -> [m, 2, k]
///   gather                            [m, k], indices [m, n] -> [m, n]
///   scatter_add                       [m, k], indices [m, n], [m, n] -> [m, k]
///   index_select, embedding           [k, n], indices [m] -> [m, n]
///   masked_fill                       [m, k], mask [m, k] -> [m, k]
///
///   softmax_backward, log_softmax_backward
///                                     grad_output [m, k], output [m, k] -> [m, k]
///   layer_norm_backward               grad_output [m, k], input [m, k], mean [m], rstd [m],
///                                     weight [k] -> dx [m, k], dw [k], db [k]
///   rms_norm_backward                 grad_output [m, k], input [m, k], rstd [m], weight [k]
///                                     -> dx [m, k], dw [k]
///   cross_entropy_backward            grad_output [], logits [m, k], classes [m] -> [m, k]
///   linear_backward                   input [m, k], grad_output [m, n], weight [n, k]
///                                     -> dx [m, k], dw [n, k], db [n]
///   gelu_backward                     grad_output [m, n], input [m, n] -> [m, n]
///   embedding_backward                grad_output [m, n], indices [m], weight [k, n] -> [k, n]
///   gemm                              c [m, n], a [m, k], b [k, n] -> 1.5 a b + 0.75 c [m, n]
///   scaled_dot_product_attention, scaled_dot_product_attention_causal
///                                     query [2, m, k], key [2, n, k], value [2, n, k]
///                                     -> output [2, m, k], logsumexp [2, m]
///   scaled_dot_product_attention_backward
///                                     grad_output [2, m, k], query [2, m, k], key [2, n, k],
///                                     value [2, n, k], output [2, m, k], logsumexp [2, m]
///                                     -> dq [2, m, k], dk [2, n, k], dv [2, n, k]
///   quantize_float8_e4m3fn, quantize_float8_e5m2
///                                     [m, k], scale [] -> uint8 codes [m, k]
///   dequantize_float8_e4m3fn, dequantize_float8_e5m2
///                                     uint8 codes [m, k], scale [] -> [m, k]
///   quantize_rows_float8_e4m3fn, ...  the same four with a scale [m], one for each row
///   sgd_step                          param, grad, momentum_buffer [m], inv_scale []
///                                     -> param, momentum_buffer [m]
///   adam_step, adamw_step             param, grad, exp_avg, exp_avg_sq [m], inv_scale []
///                                     -> param, exp_avg, exp_avg_sq [m]
///   fused_sgd_step                    param, grad, momentum_buffer [m], grad_scale [],
///                                     found_inf [] -> param, momentum_buffer [m]
///   fused_adam_step, fused_adamw_step param, grad, exp_avg, exp_avg_sq [m], step [],
///                                     grad_scale [], found_inf []
///                                     -> param, exp_avg, exp_avg_sq [m], step []
///
/// with the default parameters of ops.h, so losses are means. All other ops of the table only move
/// elements, and take the shapes and the parameters of their first example. Throws
/// std::invalid_argument for an unknown name.
KernelOp kernel_op(const std::string& name, const OpParameters& parameters = {});

/// The op with these parameters. Along `dim` an operand has the size k: with 2 dimensions it is
/// [m, k] or [k, m], with 3 it is [k, m, n], [m, k, n] or [m, n, k]. Throws std::invalid_argument
/// for a parameter that the op does not have, with the names of those that have it, and for a value
/// out of range.
KernelOp with_parameters(const KernelOp& op, const OpParameters& parameters);

/// The dtype of an operand, where those without their own are of `dtype`: int64 for indices and
/// bool for masks.
DType operand_dtype(const KernelOp& op, std::size_t operand, DType dtype);

/// The shapes of all outputs.
std::vector<Shape> output_shapes(const KernelOp& op, const Dims& dims);
/// The dtype of an output, where the first is of dtype `first`.
DType output_dtype(const KernelOp& op, std::size_t output, DType first);
/// True for a batched product, whose columns may be others than n.
bool has_columns(const KernelOp& op);
/// For messages: " of dx"; empty for an op with one output.
std::string of_output(const KernelOp& op, std::size_t output);

/// The elements of an output that matter; empty if all do. Throws std::invalid_argument unless
/// `matters` gives `count` of them.
std::vector<bool> elements_that_matter(const KernelOp& op, std::size_t output,
                                       const std::vector<Values>& operands, std::size_t count);

/// Throws std::invalid_argument for dims that are negative, below op.least, or so large that a
/// check would not fit in this machine's memory.
void expect_dims(const KernelOp& op, const Dims& dims);

/// The dims for which the op's operands have these shapes. Throws std::invalid_argument, with the
/// op's signature, if there are none; also for dims below op.least, and for indices that are not
/// integers or out of range, PyTorch's ignore_index of -100 included.
Dims dims_of(const KernelOp& op, const std::vector<Values>& operands);

/// The names of the ops with free dims, without the elementwise ones.
std::vector<std::string> composite_kernel_ops();
/// The names of backward kernels, attention and steps of optimizers, which are stated as formulas.
std::vector<std::string> formula_kernel_ops();

}  // namespace halfgrad::testing
