#pragma once

#include <functional>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/op_table.h>

/// What linear has in common with the ops that go on from it.
namespace halfgrad::detail {

/// Room for X W^T + b. Throws std::invalid_argument, as `op`, for operands that do not fit.
Array linear_room(const char* op, const Array& x, const Array& w, const Array& bias);

/// The bias, [out] or one number, as [out]; undefined without one.
Array bias_row(const Array& bias, const Array& w);

/// The gradients that `node`, of operands x, w and bias, needs, for dY:
/// dX = dY W,  dW = dY^T X,  db = sum over the rows of dY.
void set_linear_gradients(const Backward<3>& node, const Tensor& dy);

using LinearFunction =
    std::function<Tensor(const Tensor& input, const Tensor& weight, const Tensor& bias)>;

/// The table's entry of f, which is `activation` of each number that linear gives.
OpEntry linear_entry(const char* name, const LinearFunction& f,
                     const std::function<double(double)>& activation);

}  // namespace halfgrad::detail
