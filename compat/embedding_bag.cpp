#include <halfgrad/autograd/creation.h>
#include <halfgrad/compat/functional.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn::functional {
namespace {

/// The indices of all bags, one after the other, and where each bag begins and ends.
struct Bags {
  Tensor indices;                     // int64 [n]
  Tensor weights;                     // [n], or undefined
  std::vector<std::int64_t> borders;  // [bags + 1]
};

Bags bags_of(const Tensor& input, const EmbeddingBagFuncOptions& options) {
  const Tensor& weights = options.per_sample_weights();
  if (weights.defined() && weights.sizes() != input.sizes()) {
    halfgrad::detail::fail("embedding_bag", "expected per_sample_weights of shape {}, got {}",
                           input.sizes(), weights.sizes());
  }
  Bags bags{input.flatten(), weights.defined() ? weights.flatten() : Tensor(), {}};
  const Tensor& offsets = options.offsets();
  if (input.dim() == 2 && !offsets.defined()) {
    for (std::int64_t i = 0; i <= input.size(0); ++i) bags.borders.push_back(i * input.size(1));
    return bags;
  }
  if (input.dim() != 1 || !offsets.defined() || offsets.dim() != 1) {
    halfgrad::detail::fail("embedding_bag",
                           "expected indices [bags, n], or [n] and offsets [bags], got {} and {}",
                           input.sizes(), offsets.defined() ? to_string(offsets.sizes()) : "none");
  }
  bags.borders = offsets.to_vector<std::int64_t>();
  const bool is_empty = bags.borders.empty();
  if (!options.include_last_offset()) bags.borders.push_back(input.size(0));
  if (!is_empty && bags.borders[0] != 0) {
    halfgrad::detail::fail("embedding_bag", "expected offsets that begin with 0, got {}",
                           bags.borders[0]);
  }
  std::int64_t last = 0;
  for (const std::int64_t border : bags.borders) {
    if (border < last || border > input.size(0)) {
      halfgrad::detail::fail("embedding_bag",
                             "expected ascending offsets up to {}, got {} after {}", input.size(0),
                             border, last);
    }
    last = border;
  }
  return bags;
}

Tensor combined(const Tensor& rows, const EmbeddingBagMode& mode) {
  if (std::holds_alternative<enumtype::kMax>(mode)) {
    return std::get<0>(max(rows, 0));  // the gradient goes to one index of a tie
  }
  const Tensor total = sum(rows, 0);
  return std::get<Reduction>(mode) == kSum ? total : total / static_cast<double>(rows.size(0));
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options) {
  const Bags bags = bags_of(input, options);
  const bool is_sum = std::holds_alternative<Reduction>(options.mode()) &&
                      std::get<Reduction>(options.mode()) == kSum;
  if (bags.weights.defined() && !is_sum) {
    halfgrad::detail::fail("embedding_bag", "expected mode kSum with per_sample_weights, got {}",
                           "another one");
  }
  std::optional<std::int64_t> padding = options.padding_idx();
  if (padding && *padding < 0) *padding += weight.size(0);
  std::vector<Tensor> outputs;
  for (std::size_t bag = 0; bag + 1 < bags.borders.size(); ++bag) {
    Tensor indices = bags.indices.slice(0, bags.borders[bag], bags.borders[bag + 1]);
    Tensor factors;
    if (bags.weights.defined()) {
      factors = bags.weights.slice(0, bags.borders[bag], bags.borders[bag + 1]);
    }
    if (padding) {
      const Tensor kept = indices != *padding;
      if (factors.defined()) factors = masked_select(factors, kept);
      indices = masked_select(indices, kept);
    }
    if (indices.numel() == 0) {
      outputs.push_back(sum(weight.slice(0, 0, 0), 0));  // zeros
      continue;
    }
    Tensor rows = index_select(weight, 0, indices);
    if (factors.defined()) rows = rows * factors.unsqueeze(1);
    outputs.push_back(combined(rows, options.mode()));
  }
  if (outputs.empty()) return weight.slice(0, 0, 0);
  return stack(outputs);
}

}  // namespace halfgrad::nn::functional
