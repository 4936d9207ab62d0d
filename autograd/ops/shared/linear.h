#pragma once

#include <functional>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/op_table.h>

/// Parts of linear that linear_relu and linear_gelu share.
namespace halfgrad::detail {

/// Allocates the output of X W^T + b. Throws std::invalid_argument, in the name of `op`, for
/// operands of other shapes or dtypes.
Array linear_output(const char* op, const Array& x, const Array& w, const Array& bias);

/// Expands the bias, [out], [1] or [], to [out]; returns an undefined bias as it is.
Array bias_row(const Array& bias, const Array& w);

/// Sets the gradients that `node`, whose operands are X, W and b, needs, given dY:
///     dX = dY W,  dW = dY^T X,  db = sum of the rows of dY
void set_linear_gradients(const Backward<3>& node, const Tensor& dy);

using LinearFunction =
    std::function<Tensor(const Tensor& input, const Tensor& weight, const Tensor& bias)>;

using ActivationReference = std::function<Bounded(const AnyArithmetic&, Bounded)>;

/// The table entry of f, which applies `activation` to each element of linear's result.
OpEntry linear_entry(const char* name, const LinearFunction& f,
                     const ActivationReference& activation);

}  // namespace halfgrad::detail
