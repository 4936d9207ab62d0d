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
  /// Number of forward calls before the op of origin(); empty if that op was not called forward, as
  /// one that a checkpoint ran again.
  std::optional<std::size_t> call_of_origin() const;
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
    std::vector<bool> is_parameter = {};  // by operand
    Tensor result = {};
    std::optional<std::size_t> index = {};  // number of calls before it
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
  std::optional<std::size_t> origin_call_;
};

/// A forward pass that asks for the line of the user's code while call number `index` of it runs.
class SourceSearch : public OpObserver {
 public:
  SourceSearch(const std::function<Tensor()>& loss, std::size_t index,
               const std::function<std::string()>& source);
  const std::string& found() const { return found_; }
  void ran(const OpCall& call) override;

 private:
  std::size_t index_;
  std::size_t calls_ = 0;
  std::size_t outer_;  // depth of the call stack before the pass
  const std::function<std::string()>& source_;
  std::vector<void*> stack_;  // inside the call
  std::string found_;
};

}  // namespace halfgrad::detail
