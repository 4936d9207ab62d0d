#include <halfgrad/amp/inspector/timed_ops.h>

#include <algorithm>
#include <string_view>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/launches.h>

namespace halfgrad::amp {
namespace {

constexpr double kMilliseconds = 1e-3;

/// The device whose stream the op uses: a GPU if one of the inputs is there.
Device device_of(std::span<const Tensor> inputs) {
  Device device;
  bool is_known = false;
  for (const Tensor& input : inputs) {
    if (!input.defined()) continue;
    if (!is_known || input.device().is_cuda()) device = input.device();
    is_known = true;
  }
  return device;
}

bool can_time(Device device) {
  return device.is_cpu() ||
         !halfgrad::detail::runtime::is_capturing(device.index(), current_stream(device).native());
}

std::int64_t bytes_of(const Tensor& tensor) { return tensor.numel() * item_size(tensor.dtype()); }

/// Memory that the call allocated for its result: none if it is a view of an operand.
std::int64_t result_bytes(const OpCall& call) {
  const auto& storage = call.result.array().storage();
  const bool is_view =
      std::any_of(call.operands.begin(), call.operands.end(), [&](const Tensor& operand) {
        return operand.defined() && operand.array().storage() == storage;
      });
  return is_view ? 0 : bytes_of(call.result);
}

}  // namespace

Event TimedOps::now_on_cpu() {
  Event event(true);
  event.record(current_stream(kCPU));
  return event;
}

double TimedOps::now() const { return created_.elapsed_time(now_on_cpu()) * kMilliseconds; }

const TimedOps::Maker* TimedOps::maker_of(const detail::Node& node) const {
  const auto found = makers_.find(&node);
  const bool is_known = found != makers_.end() && found->second.sequence == node.sequence();
  return is_known ? &found->second : nullptr;
}

TimedOps::TimedOps(NamedModel model) : model_(std::move(model)) {
  halfgrad::detail::replay_hook = &TimedOps::replay;
}

void TimedOps::replay(const halfgrad::detail::GraphReplay& replay, bool is_queued) {
  for (OpObserver* const observer : halfgrad::detail::op_observers()) {
    auto* const self = dynamic_cast<TimedOps*>(observer);
    if (self == nullptr) continue;
    if (!is_queued) {
      self->begin({kGraphReplay, {}}, replay.device);
      self->open_.push_back(self->tree_.size() - 1);
    } else if (!self->open_.empty()) {
      Pending& pending = self->tree_[self->open_.back()];
      pending.call.launches += replay.launches;
      self->end(pending);
      self->ends();
    }
  }
}

TimedOps::Pending& TimedOps::begin(const OpStart& start, Device device) {
  Pending pending{.device = device};
  TimedCall& call = pending.call;
  call.id = next_id_++;
  call.op = start.op;
  if (!open_.empty()) call.parent = tree_[open_.back()].call.id;
  const Maker* const maker = start.node != nullptr ? maker_of(*start.node) : nullptr;
  if (maker != nullptr) {
    call.module = maker->module;
    call.forward = maker->call;
  } else {
    call.module = model_.running_module();
    if (call.module.empty() && !open_.empty()) call.module = tree_[open_.back()].call.module;
  }
  pending.is_timed = can_time(pending.device);
  if (pending.is_timed) {
    auto [anchor, is_first] = anchors_.try_emplace(pending.device);
    if (is_first) {
      anchor->second.event.record(current_stream(pending.device));
      anchor->second.at = now();
    }
    pending.start.record(current_stream(pending.device));
  }
  call.launches = -halfgrad::detail::launches;
  return tree_.emplace_back(std::move(pending));
}

void TimedOps::starts(const OpStart& start) {
  begin(start, device_of(start.inputs));
  open_.push_back(tree_.size() - 1);
}

void TimedOps::end(Pending& pending) {
  pending.call.launches += halfgrad::detail::launches;
  if (pending.is_timed) pending.end.record(current_stream(pending.device));
  pending.ran = true;
  pending.call.live_bytes = allocator::stats(pending.device).current;
}

void TimedOps::ran(const OpCall& call) {
  const auto is_this = [&](const Pending& open) {
    return !open.ran && std::string_view(open.call.op) == call.op;
  };
  const bool has_started = !open_.empty() && is_this(tree_[open_.back()]);
  Pending& pending =
      has_started ? tree_[open_.back()] : begin({call.op, call.inputs}, device_of(call.inputs));
  end(pending);
  pending.call.dtype = call.result.dtype();
  pending.call.is_backward = call.in_backward;
  pending.call.is_composite = call.is_composite;
  pending.call.result_bytes = result_bytes(call);
  if (const auto& node = call.result.grad_fn(); node != nullptr && !call.is_composite) {
    makers_[node.get()] = {node->sequence(), pending.call.id, pending.call.module};
  }
  if (open_.empty()) ends();
}

void TimedOps::ran_backward(const BackwardCall& call) {
  if (open_.empty()) return;  // the guard was installed inside this call
  Pending& pending = tree_[open_.back()];
  end(pending);
  pending.call.is_backward = pending.call.is_derivative = true;
  for (const Tensor& gradient : call.grads) {
    if (gradient.defined()) pending.call.dtype = gradient.dtype();
  }
  for (const Tensor& gradient : call.grad_inputs) {
    if (gradient.defined()) pending.call.result_bytes += bytes_of(gradient);
  }
}

void TimedOps::ends() {
  if (!open_.empty()) open_.pop_back();
  if (!open_.empty()) return;
  if (!tree_.empty()) ended_.push_back(std::exchange(tree_, {}));
  hand_over(/*waits=*/false);
}

void TimedOps::finish() { hand_over(/*waits=*/true); }

void TimedOps::hand_over(bool waits) {
  for (; !ended_.empty(); ended_.pop_front()) {
    for (const Pending& pending : ended_.front()) {
      if (waits && pending.ran) pending.end.synchronize();
      if (!pending.end.query()) return;
    }
    const std::vector<TimedCall> calls = resolve(ended_.front());
    if (!calls.empty()) timed(calls);
  }
}

std::vector<TimedCall> TimedOps::resolve(const Tree& tree) {
  constexpr std::int64_t kLeftOut = -1;
  std::vector<TimedCall> calls;
  std::vector<std::int64_t> position(tree.size(), kLeftOut);  // in calls; ids in a tree are dense
  const auto index_of = [&](std::int64_t id) {
    return static_cast<std::size_t>(id - tree.front().call.id);
  };
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const Pending& pending = tree[i];
    if (!pending.ran || !pending.is_timed) continue;
    position[i] = std::ssize(calls);
    TimedCall& call = calls.emplace_back(pending.call);
    const Anchor& anchor = anchors_.at(pending.device);
    call.start = anchor.at + anchor.event.elapsed_time(pending.start) * kMilliseconds;
    call.seconds = pending.start.elapsed_time(pending.end) * kMilliseconds;
    call.self_seconds = call.seconds;
    while (call.parent >= 0 && position[index_of(call.parent)] == kLeftOut) {
      call.parent = tree[index_of(call.parent)].call.parent;
    }
    if (call.parent < 0) continue;
    TimedCall& parent = calls[static_cast<std::size_t>(position[index_of(call.parent)])];
    parent.self_seconds -= call.seconds;
    parent.launches -= pending.call.launches;
  }
  return calls;
}

}  // namespace halfgrad::amp
