#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>
#include <halfgrad/autograd/ops.h>

/// The table's entry of a loss of two tensors (ops/shared/loss.h).
namespace halfgrad::detail {

using LossFunction = std::function<Tensor(const Tensor& x, const Tensor& target, Reduction)>;
using LossReference = std::function<double(double x, double target)>;

/// An entry with an example for every reduction. `run` computes the loss, and operands are in
/// [low, high].
template <class F>
OpEntry loss_entry(const LossFunction& run, const LossReference& f, double low = -2,
                   double high = 2) {
  OpEntry entry{.name = F::name, .precision = F::precision, .roundoffs = 16, .examples = {}};
  for (const Reduction reduction : {kNone, kMean, kSum}) {
    entry.examples.push_back(
        {"reduction " + std::to_string(static_cast<int>(reduction)),
         {{.sizes = {3, 4}, .low = low, .high = high}, {.sizes = {3, 4}, .low = low, .high = high}},
         [=](const std::vector<Tensor>& in) { return run(in[0], in[1], reduction); },
         [=](const std::vector<Values>& in) {
           Values losses{{3, 4}, {}};
           double sum = 0;
           for (std::size_t i = 0; i < 12; ++i) {
             losses.data.push_back(f(in[0].data[i], in[1].data[i]));
             sum += losses.data.back();
           }
           if (reduction == kNone) return losses;
           return Values{{}, {reduction == kMean ? sum / 12 : sum}};
         }});
  }
  return entry;
}

}  // namespace halfgrad::detail
