#pragma once

#include <array>
#include <functional>
#include <utility>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/op_table.h>

/// Parts of linear that linear_relu and linear_gelu share.
namespace halfgrad::detail {

/// Returns whether rounding_product() should compute X W^T: for a float32 X that needs no gradient,
/// as the batch of a network's first layer, if the cast rule would round X and W to 16 bits.
bool rounds_input(const char* op, const Tensor& x, const Tensor& w);

/// Applies `op`, whose operands are X, W and b, and which has a member `rounds_input`.
///
/// The product rounds X as it loads it, so no pass casts the batch. X is cast by an op all the same
/// if an observer must see it, or if backward could not save X. The kernel of the product is the
/// same one then, so an observer changes no bit.
template <class Op>
Tensor apply_linear(Op op, const Tensor& x, const Tensor& w, const Tensor& b) {
  op.rounds_input = rounds_input(Op::name, x, w);
  if (!op.rounds_input || op_observer != nullptr || x.is_inference()) {
    return apply(std::move(op), x, w, b);
  }
  std::array parameters{w, b};
  cast_operands(Op::name, Op::precision, parameters);
  const CastRuleScope no_casts(nullptr);
  return apply(std::move(op), x, parameters[0], parameters[1]);
}

/// Reshapes [..., n] to a matrix [rows, n].
Array as_matrix(const Array& x);

/// Allocates the output of X W^T + b. Throws std::invalid_argument, in the name of `op`, for
/// operands of other shapes or dtypes. If `rounds_input`, X may be float32 beside 16-bit operands.
Array linear_output(const char* op, const Array& x, const Array& w, const Array& bias,
                    bool rounds_input = false);

/// Expands the bias, [out], [1] or [], to [out]; returns an undefined bias as it is.
Array bias_row(const Array& bias, const Array& w);

/// Sets the gradients that `node`, whose operands are X, W and b, needs, given dY:
///     dX = dY W,  dW = dY^T X,  db = sum of the rows of dY
/// X is rounded to the dtype of dY if it is wider.
void set_linear_gradients(const Backward<3>& node, const Tensor& dy);

using LinearFunction =
    std::function<Tensor(const Tensor& input, const Tensor& weight, const Tensor& bias)>;

using ActivationReference = std::function<Bounded(const AnyArithmetic&, Bounded)>;

/// The table entry of f, which applies `activation` to each element of linear's result.
OpEntry linear_entry(const char* name, const LinearFunction& f,
                     const ActivationReference& activation);

}  // namespace halfgrad::detail
