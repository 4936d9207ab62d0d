#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

/// The table of all ops: what they are called, what 16-bit numbers do to them, how exact they are,
/// and examples with an independent reference. The tests, docs/ops.md, autocast's documentation and
/// the kernel checker all read it.
namespace halfgrad {

/// Plain numbers with a shape: what references compute on.
struct Values {
  Shape sizes;
  std::vector<double> data;  // row-major
};

/// An operand of an example. Random in [low, high], unless it is integer-valued.
struct OperandSpec {
  enum class Kind : std::uint8_t { number, index, boolean };

  Shape sizes;
  double low = -2;
  double high = 2;
  Kind kind = Kind::number;  ///< number: in the dtype under test; index: int64 in [low, high]
  bool differentiable = true;
};

struct OpExample {
  std::string name;  ///< what is special about it: "2-D by vector", "dim 0"
  std::vector<OperandSpec> operands;
  std::function<Tensor(const std::vector<Tensor>&)> run;
  /// The obvious double computation, sharing no code with the op.
  std::function<Values(const std::vector<Values>&)> reference;
};

/// The method and the in-place form of an op of one tensor, which Tensor inherits.
using UnaryMethod = Tensor (detail::UnaryMethods::*)() const;
using UnaryInPlaceMethod = Tensor& (detail::UnaryMethods::*)() const;

struct OpEntry {
  std::string name;
  Precision precision = Precision::any;
  double roundoffs = 4;  ///< how many roundoffs of max(1, |expected|) the value may be off
  bool differentiable = true;
  bool elementwise = false;  ///< also tested on edge values, strides and broadcasting
  std::vector<OpExample> examples;
  UnaryMethod method = nullptr;  ///< x.exp() and x.exp_(), if Tensor has them
  UnaryInPlaceMethod in_place = nullptr;
};

/// Every op, in the order of ops.h; what is composed of them is left out.
const std::vector<OpEntry>& all_ops();

}  // namespace halfgrad
