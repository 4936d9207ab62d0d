#include <map>
#include <set>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Reverse mode over bounded arrays.
namespace halfgrad::testing {
namespace {

using detail::BoundedNode;
using detail::Inputs;
using detail::Recorder;
using halfgrad::detail::fail;

/// All arrays that y depends on and that depend on a variable: inputs before results.
class Steps {
 public:
  void add(const BoundedArray& y) {
    const BoundedNode* const node = Recorder::node(y).get();
    if (node == nullptr || !seen_.insert(node).second) return;
    for (const BoundedArray& input : node->inputs) add(input);
    arrays_.push_back(y);
  }
  std::vector<BoundedArray> results_first() const { return {arrays_.rbegin(), arrays_.rend()}; }

 private:
  std::set<const BoundedNode*> seen_;
  std::vector<BoundedArray> arrays_;
};

class Gradients {
 public:
  void add(const BoundedArray& x, const BoundedArray& dx) {
    const BoundedNode* const node = Recorder::node(x).get();
    if (node == nullptr || !dx.defined()) return;
    const auto [place, is_first] = sums_.try_emplace(node, dx);
    if (!is_first) place->second = place->second + dx;
  }
  BoundedArray of(const BoundedArray& x) const {
    const auto found = sums_.find(Recorder::node(x).get());
    return found == sums_.end() ? BoundedArray() : found->second;
  }

 private:
  std::map<const BoundedNode*, BoundedArray> sums_;
};

}  // namespace

BoundedArray variable(const BoundedArray& x) {
  detail::expect_defined("variable", x);
  return Recorder::variable(x);
}

std::vector<BoundedArray> gradient(const BoundedArrays& y,
                                   const std::vector<BoundedArray>& variables,
                                   const std::vector<BoundedArray>& cotangents) {
  if (y.size() != cotangents.size()) {
    fail("gradient", "expected a cotangent for each of {} results, got {}", y.size(),
         cotangents.size());
  }
  Steps steps;
  Gradients gradients;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!cotangents[i].defined() || cotangents[i].sizes() != y[i].sizes()) {
      fail("gradient", "expected a cotangent of the result's shape, {}, got {}", y[i].sizes(),
           cotangents[i].sizes());
    }
    steps.add(y[i]);
    gradients.add(y[i], cotangents[i]);
  }
  for (const BoundedArray& step : steps.results_first()) {
    const BoundedNode& node = *Recorder::node(step);
    const BoundedArray dy = gradients.of(step);
    if (!dy.defined() || !node.vjp) continue;
    const Inputs from = node.vjp(node.inputs, step, dy);
    for (std::size_t i = 0; i < from.size(); ++i) gradients.add(node.inputs[i], from[i]);
  }
  std::vector<BoundedArray> result;
  for (const BoundedArray& x : variables) {
    if (Recorder::node(x) == nullptr) fail("gradient", "expected arrays from variable()");
    const BoundedArray dx = gradients.of(x);
    result.push_back(dx.defined() ? dx : zeros_like(x));
  }
  return result;
}

std::vector<BoundedArray> gradient(const BoundedArray& y,
                                   const std::vector<BoundedArray>& variables,
                                   const BoundedArray& cotangent) {
  return gradient(BoundedArrays(y), variables, std::vector<BoundedArray>{cotangent});
}

}  // namespace halfgrad::testing
