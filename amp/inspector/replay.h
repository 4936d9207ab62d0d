#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/autograd/op_observer.h>

namespace halfgrad::detail {

/// One forward and backward pass of a step, observed: where its first inf or NaN appeared. Each
/// replay of a batch has the same calls in the same order, whatever the scale is.
class Replay : public OpObserver {
 public:
  /// Runs the pass. The parameters' gradients stay as they were.
  Replay(const amp::NamedModel& model, const std::function<Tensor()>& loss, double scale);

  bool loss_is_finite() const { return loss_is_finite_; }
  bool is_finite() const { return loss_is_finite_ && !origin_; }
  /// Returns op, module, what and ranges of the first inf or NaN: the forward pass's if the loss is
  /// not finite, else the backward pass's.
  amp::Overflow origin() const;
  /// The largest finite magnitude at the place where the backward pass of `other` has its origin.
  double largest_at_origin_of(const Replay& other) const;

  void ran(const OpCall& call) override;
  void ran_backward(const BackwardCall& call) override;
  void received(const Tensor& leaf, const Tensor& gradient) override;

 private:
  struct Call {
    std::string op;
    std::string module = {};
    std::vector<std::string> names = {};  // names of the operands
    std::vector<Tensor> operands = {};
    Tensor result = {};
  };

  void notice(const Tensor& gradient, bool comes_from_finite, const Call& call, std::string what,
              const std::vector<amp::OperandRange>& ranges);
  Call call_of(const Node& node) const;
  const Call& forward_origin() const;

  const amp::NamedModel& model_;
  std::vector<Call> calls_;
  std::unordered_map<const Node*, std::size_t> call_of_node_;
  bool loss_is_finite_ = true;
  std::vector<double> largest_;  // finite magnitudes of the gradients, in the order of notice()
  std::size_t place_ = 0;        // index in largest_ of the origin
  std::optional<amp::Overflow> origin_;
};

}  // namespace halfgrad::detail
