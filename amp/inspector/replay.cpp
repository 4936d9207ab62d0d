#include <halfgrad/amp/inspector/replay.h>

#include <algorithm>
#include <span>

#include <halfgrad/amp/inspector/exponent_histogram.h>
#include <halfgrad/amp/inspector/source_line.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

amp::ExponentHistogram histogram(const Tensor& tensor) {
  amp::ExponentHistogram numbers;
  if (tensor.defined() && tensor.is_floating_point()) numbers.add(tensor.array());
  return numbers;
}

bool all_finite(std::span<const Tensor> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Tensor& x) { return histogram(x).nonfinite() == 0; });
}

amp::OperandRange range_of(std::string name, const Tensor& tensor) {
  const amp::ExponentHistogram numbers = histogram(tensor);
  return {std::move(name), tensor.dtype(), numbers.largest(), numbers.nonfinite()};
}

std::vector<Tensor> trained(const amp::NamedModel& model) {
  std::vector<Tensor> parameters;
  for (const auto& [name, parameter] : model.parameters()) {
    if (parameter.requires_grad()) parameters.push_back(parameter);
  }
  if (parameters.empty()) {
    fail("find_overflow", "expected a model with parameters that require grad, got none");
  }
  return parameters;
}

// Ops that put given values into their result: an infinity there is wanted, as in a mask.
bool fills(const std::string& op) { return op == "masked_fill" || op == "where"; }

}  // namespace

Replay::Replay(const amp::NamedModel& model, const std::function<Tensor()>& loss, double scale)
    : model_(model) {
  const std::vector<Tensor> parameters = trained(model);
  const EnableGradGuard enable_grad;
  const OpObserverPause hides_the_replay;
  const OpObserverGuard guard(*this);
  const Tensor value = loss();
  if (value.numel() != 1) {
    fail("find_overflow", "expected a loss of one element, got shape {}", value.sizes());
  }
  loss_is_finite_ = all_finite({&value, 1});
  if (!loss_is_finite_) return;
  const Tensor factor(Array::full({}, scale, kFloat, value.device()));
  const Tensor scaled = mul(value, factor);
  calls_.back().op = "scale";
  static_cast<void>(autograd::grad({scaled}, parameters, {}, {.allow_unused = true}));
}

void Replay::ran(const OpCall& call) {
  if (call.in_backward) return;
  Call record{call.op, model_.running_module(), {}, {}, {}, call.result, calls_.size()};
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (!call.operands[i].defined()) continue;
    const std::string name = model_.name_of(call.inputs[i]);
    const std::string place = "operand " + std::to_string(i);
    record.names.push_back(name.empty() ? place : name + " (" + place + ")");
    record.operands.push_back(call.operands[i]);
    record.is_parameter.push_back(!name.empty());
  }
  if (call.result.requires_grad() && !call.result.is_leaf()) {
    call_of_node_[call.result.grad_fn().get()] = calls_.size();
  }
  calls_.push_back(std::move(record));
}

Replay::Call Replay::call_of(const Node& node) const {
  const auto known = call_of_node_.find(&node);
  return known != call_of_node_.end() ? calls_[known->second] : Call{.op = node.name()};
}

void Replay::ran_backward(const BackwardCall& call) {
  const Call forward = call_of(call.node);
  std::vector<amp::OperandRange> ranges;
  for (std::size_t i = 0; i < forward.operands.size(); ++i) {
    ranges.push_back(range_of(forward.names[i], forward.operands[i]));
  }
  for (const Tensor& grad : call.grads) {
    if (!grad.defined()) continue;
    ranges.push_back(range_of("the gradient of the result", grad));
    notice(grad, true, forward, "the sum of the gradients of the result of " + forward.op, ranges);
  }
  const bool finite = all_finite(call.grads);
  for (std::size_t i = 0; i < call.grad_inputs.size(); ++i) {
    const std::string name =
        i < forward.names.size() ? forward.names[i] : "operand " + std::to_string(i);
    notice(call.grad_inputs[i], finite, forward, "the gradient of " + name, ranges);
  }
}

void Replay::received(const Tensor& leaf, const Tensor& gradient) {
  notice(gradient, true, Call{.op = "accumulate"},
         "the sum of the gradients of " + model_.name_of(leaf), {});
}

void Replay::notice(const Tensor& gradient, bool comes_from_finite, const Call& call,
                    std::string what, const std::vector<amp::OperandRange>& ranges) {
  const amp::ExponentHistogram numbers = histogram(gradient);
  largest_.push_back(numbers.largest());
  if (origin_ || numbers.nonfinite() == 0 || !comes_from_finite) return;
  place_ = largest_.size() - 1;
  origin_call_ = call.index;
  origin_ = amp::Overflow{
      .op = call.op, .module = call.module, .what = std::move(what), .ranges = ranges};
}

double Replay::largest_at_origin_of(const Replay& other) const { return largest_[other.place_]; }

// In the order of the calls, finds the one from which the inf or NaN of each result came. An
// infinity that was filled in, or given to the model, is wanted until an op turns it into a NaN;
// one in a parameter never is.
const Replay::Call& Replay::forward_origin() const {
  std::unordered_map<const TensorImpl*, const Call*> origin_of;
  const auto origin = [&](const Call& call) -> const Call* {
    const amp::ExponentHistogram result = histogram(call.result);
    if (result.nonfinite() == 0) return nullptr;
    bool given_infinity = false, given_nan = false, has_bad_parameter = false;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const Tensor& operand = call.operands[i];
      const auto known = origin_of.find(operand.impl().get());
      if (known != origin_of.end()) return known->second;
      const amp::ExponentHistogram numbers = histogram(operand);
      given_infinity |= numbers.infinities() > 0;
      given_nan |= numbers.nans() > 0;
      has_bad_parameter |= call.is_parameter[i] && numbers.nonfinite() > 0;
    }
    const bool is_wanted = (given_infinity || fills(call.op)) && result.nans() == 0;
    return is_wanted && !given_nan && !has_bad_parameter ? nullptr : &call;
  };
  const Call* last = &calls_.back();
  for (const Call& call : calls_) {
    if (const Call* first = origin(call)) {
      origin_of[call.result.impl().get()] = first;
      last = first;
    }
  }
  const auto of_loss = origin_of.find(calls_.back().result.impl().get());
  return of_loss != origin_of.end() ? *of_loss->second : *last;
}

amp::Overflow Replay::origin() const {
  if (loss_is_finite_) return origin_.value_or(amp::Overflow{});
  const Call& call = forward_origin();
  amp::Overflow found{.op = call.op, .module = call.module, .what = "the result"};
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    found.ranges.push_back(range_of(call.names[i], call.operands[i]));
  }
  found.ranges.push_back(range_of("the result", call.result));
  return found;
}

std::optional<std::size_t> Replay::call_of_origin() const {
  return loss_is_finite_ ? origin_call_ : forward_origin().index;
}

SourceSearch::SourceSearch(const std::function<Tensor()>& loss, std::size_t index,
                           const std::function<std::string()>& source)
    : index_(index), outer_(call_stack().size()), source_(source) {
  const EnableGradGuard enable_grad;
  const OpObserverPause hides_the_replay;
  const OpObserverGuard guard(*this);
  static_cast<void>(loss());
  if (!source_) found_ = source_line(stack_, outer_);
}

void SourceSearch::ran(const OpCall& call) {
  if (call.in_backward || calls_++ != index_) return;
  if (source_) {
    found_ = source_();
  } else {
    stack_ = call_stack();
  }
}

}  // namespace halfgrad::detail
