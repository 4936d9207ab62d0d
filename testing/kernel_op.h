#pragma once

#include <functional>
#include <string>
#include <vector>

#include <halfgrad/autograd/op_table.h>
#include <halfgrad/testing/error_bound.h>

namespace halfgrad::testing {

/// Sizes of a kernel's problem; an op uses those that it has.
struct Dims {
  std::int64_t m = 1, n = 1, k = 1;

  friend bool operator==(const Dims&, const Dims&) = default;
};

/// An op as kernels compute it: what goes in and out, and how far off the result may be.
struct KernelOp {
  std::string name;
  /// For people: "[m, k], [k, n] -> [m, n]".
  std::string signature;
  /// Shapes and kinds of the operands, and where random numbers for them are harmless.
  std::function<std::vector<OperandSpec>(const Dims&)> operands;
  std::function<Shape(const Dims&)> output;
  /// The result's dtype for operands of this one.
  std::function<DType(DType)> output_dtype;
  /// The exact result with bounds, for kernels whose intermediate results are of that dtype.
  std::function<std::vector<Bounded>(const std::vector<Values>&, DType accumulate)> bounded;
  /// The same maths with every operation rounded to a format of up to 32 bits.
  std::function<std::vector<double>(const std::vector<Values>&, const NumberFormat&)> rounded;
  bool elementwise = false;  ///< may work in place
  bool any_dims = true;      ///< false: it has the shapes of the table's example, whatever the dims
  bool empty_rows = true;    ///< defined for k = 0
  bool bitwise = false;      ///< no rounding: the result is exact, or the exact one rounded once
};

/// The op of that name. Dims m, n and k are free for elementwise ops and for
///
///   sum, mean, norm, logsumexp     [m, k] -> [m]
///   softmax, log_softmax           [m, k] -> [m, k]
///   layer_norm, rms_norm           [m, k], weight [k] (, bias [k]) -> [m, k], eps = 1e-5
///   mm, matmul                     [m, k], [k, n] -> [m, n]
///   mv, dot                        [m, k], [k] -> [m]; [k], [k] -> []
///   linear, addmm                  [m, k], [n, k], [n] -> [m, n]; [n], [m, k], [k, n] -> [m, n]
///   cross_entropy, mse_loss        [m, k], classes [m] -> []; [m, k], [m, k] -> []
///
/// All other ops of the table take the shapes and the parameters of their first example, and are
/// judged by the table's roundoffs, of the result's dtype, of max(1, |y|). Throws
/// std::invalid_argument for an unknown name.
KernelOp kernel_op(const std::string& name);

/// The dims for which the op's operands have these shapes. Throws std::invalid_argument, with the
/// op's signature, if there are none.
Dims dims_of(const KernelOp& op, const std::vector<Values>& operands);

/// The names that kernel_op knows with free dims, elementwise ones left out.
std::vector<std::string> composite_kernel_ops();

}  // namespace halfgrad::testing
