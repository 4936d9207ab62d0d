#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <halfgrad/autograd/op_table/arithmetic.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

/// The table of all ops: their names, precision classes, tolerances, and examples with an
/// independent reference. The tests, docs/ops.md and the kernel checker read it.
namespace halfgrad {

/// Elements in double with a shape: the operands and results of references.
struct Values {
  Shape sizes;
  std::vector<double> data;  // row-major
};

/// An operand of an example, drawn at random from [low, high].
struct OperandSpec {
  enum class Kind : std::uint8_t { number, index, boolean };

  Shape sizes;
  double low = -2;
  double high = 2;
  Kind kind = Kind::number;  ///< number: in the dtype under test; index: int64 in [low, high]
  bool differentiable = true;
};

/// A reference stated for any arithmetic: the elements of the result, in row-major order.
using BoundedReference = std::function<Elements(const AnyArithmetic&, const std::vector<Values>&)>;

/// A call of an op, with its operands and its expected result.
struct OpExample {
  std::string name;  ///< its special feature: "2-D by vector", "dim 0"
  std::vector<OperandSpec> operands;
  std::function<Tensor(const std::vector<Tensor>&)> run;
  /// The obvious computation in double, which shares no code with the op.
  std::function<Values(const std::vector<Values>&)> reference;
};

/// The method and the in-place form of an op of one tensor, which Tensor inherits.
using UnaryMethod = Tensor (detail::UnaryMethods::*)() const;
using UnaryInPlaceMethod = Tensor& (detail::UnaryMethods::*)() const;

/// An entry of the table: one op.
struct OpEntry {
  std::string name;
  Precision precision = Precision::any;
  double roundoffs = 4;  ///< largest error of the value, in roundoffs of max(1, |expected|)
  bool differentiable = true;
  bool elementwise = false;  ///< also tested on edge values, strides and broadcasting
  std::vector<OpExample> examples;
  /// The reference by which the kernel checker bounds errors; empty if the op does not round. It
  /// takes operands of any shapes that testing/kernel_op.h lists, and the default parameters of
  /// ops.h: losses are means.
  BoundedReference bounded_reference = nullptr;
  UnaryMethod method = nullptr;  ///< x.exp() and x.exp_(), if Tensor has them
  UnaryInPlaceMethod in_place = nullptr;
};

/// Every op except compositions of others, in the order of ops.h.
const std::vector<OpEntry>& all_ops();

}  // namespace halfgrad
