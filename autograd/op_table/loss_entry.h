#pragma once

#include <functional>
#include <string>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>

/// The table's entry of a loss of two tensors (ops/shared/loss.h).
namespace halfgrad::detail {

using LossFunction = std::function<Tensor(const Tensor& x, const Tensor& target, Reduction)>;
using LossReference = std::function<Bounded(const AnyArithmetic&, Bounded x, Bounded target)>;

/// The losses f of all elements. A kernel may store each in the dtype of the output before it takes
/// the mean, as PyTorch's kernels do.
inline Elements losses_of(const LossReference& f, const AnyArithmetic& a,
                          const std::vector<Values>& in) {
  Elements losses;
  losses.reserve(in[0].data.size());
  for (std::size_t i = 0; i < in[0].data.size(); ++i) {
    losses.push_back(a.stored(f(a, a.number(in[0].data[i]), a.number(in[1].data[i]))));
  }
  return losses;
}

inline BoundedReference mean_loss(const LossReference& f) {
  return [f](const AnyArithmetic& a, const std::vector<Values>& in) {
    return Elements{mean_of(a, losses_of(f, a, in))};
  };
}

/// An entry with an example for every reduction. `run` computes the loss, and operands are in
/// [low, high]. The mean of f bounds the errors of kernels: unless `run` has the default parameters
/// of the op, set bounded_reference to the mean with these.
template <class F>
OpEntry loss_entry(const LossFunction& run, const LossReference& f, double low = -2,
                   double high = 2) {
  OpEntry entry{.name = F::name,
                .precision = F::precision,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = mean_loss(f)};
  const OperandSpec operand{.sizes = {3, 4}, .low = low, .high = high};
  const BoundedReference each = [f](const AnyArithmetic& a, const std::vector<Values>& in) {
    return losses_of(f, a, in);
  };
  const BoundedReference sum = [f](const AnyArithmetic& a, const std::vector<Values>& in) {
    return Elements{a.sum(losses_of(f, a, in))};
  };
  for (const Reduction reduction : {kNone, kMean, kSum}) {
    entry.examples.push_back(
        {"reduction " + std::to_string(static_cast<int>(reduction)),
         {operand, operand},
         [=](const std::vector<Tensor>& in) { return run(in[0], in[1], reduction); },
         reduction == kNone   ? in_double({3, 4}, each)
         : reduction == kMean ? in_double({}, mean_loss(f))
                              : in_double({}, sum)});
  }
  return entry;
}

}  // namespace halfgrad::detail
