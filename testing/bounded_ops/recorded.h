#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <halfgrad/testing/bounded_array.h>
#include <halfgrad/testing/bounded_ops.h>

/// The means by which the ops of this folder compute and record.
namespace halfgrad::testing::detail {

using Inputs = std::vector<BoundedArray>;
/// The gradients by the inputs of y = f(inputs), for the gradient dy; undefined where there is
/// none.
using Vjp = std::function<Inputs(const Inputs& in, const BoundedArray& y, const BoundedArray& dy)>;

/// The step of a formula that made an array. A variable has no inputs.
struct BoundedNode {
  Inputs inputs;
  Vjp vjp;
};

/// a [..., m, k] and b [..., k, n] of a product.
struct BoundedFactors {
  BoundedArray a, b;
};

struct Recorder {
  using Node = std::shared_ptr<const BoundedNode>;

  /// y with its derivative, which is kept only if an input depends on a variable.
  static BoundedArray recorded(BoundedArray y, Inputs inputs, Vjp vjp) {
    for (const BoundedArray& input : inputs) {
      if (input.node_ == nullptr) continue;
      y.node_ = std::make_shared<const BoundedNode>(BoundedNode{std::move(inputs), std::move(vjp)});
      break;
    }
    return y;
  }
  /// A variable, whose gradient goes on to x if x depends on another variable.
  static BoundedArray variable(const BoundedArray& x) {
    BoundedArray y = x;
    BoundedNode node;
    if (x.node_ != nullptr) {
      node = {{x}, [](const Inputs&, const BoundedArray&, const BoundedArray& dy) {
                return Inputs{dy};
              }};
    }
    y.node_ = std::make_shared<const BoundedNode>(std::move(node));
    return y;
  }
  static const Node& node(const BoundedArray& x) { return x.node_; }
  static BoundedArray product(BoundedArray y, BoundedArray a, BoundedArray b) {
    y.factors_ = std::make_shared<const BoundedFactors>(BoundedFactors{std::move(a), std::move(b)});
    return y;
  }
  static const BoundedFactors* factors(const BoundedArray& x) { return x.factors_.get(); }
};

/// f(a, element) of every element.
template <class F>
BoundedArray mapped(const BoundedArray& x, const F& f, Vjp vjp) {
  const AnyArithmetic& a = x.math();
  Elements out;
  out.reserve(x.elements().size());
  for (const Bounded& each : x.elements()) out.push_back(f(a, each));
  return Recorder::recorded({x.arithmetic(), x.sizes(), std::move(out)}, {x}, std::move(vjp));
}

/// f(a, left, right) of every pair of elements, broadcast.
template <class F>
BoundedArray zipped(const char* op, const BoundedArray& left, const BoundedArray& right, const F& f,
                    Vjp vjp) {
  const AnyArithmetic& a = left.math();
  const Shape sizes = broadcast_shapes(left.sizes(), right.sizes(), op);
  Inputs in = {expand(left, sizes), expand(right, sizes)};
  const Elements &x = in[0].elements(), &y = in[1].elements();
  Elements out;
  out.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back(f(a, x[i], y[i]));
  return Recorder::recorded({left.arithmetic(), sizes, std::move(out)}, std::move(in),
                            std::move(vjp));
}

/// Throws std::invalid_argument, naming the op, for an undefined array.
void expect_defined(const char* op, const BoundedArray& x);

/// a x b + start, where the accumulator may begin with `start`, of the product's shape.
BoundedArray product_from(const BoundedArray& start, const BoundedArray& product);

/// The shape of x after a reduction over `dims` (all, if empty) with keepdim.
Shape kept_sizes(const BoundedArray& x, const Shape& dims, const char* op);

}  // namespace halfgrad::testing::detail
