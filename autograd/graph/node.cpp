#include <halfgrad/autograd/graph/node.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

std::uint64_t next_sequence() {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

// The nodes that the outermost release() of this thread has yet to free. A plain pointer, because
// tensors may outlive the thread's other variables.
thread_local constinit std::vector<std::shared_ptr<Node>>* waiting = nullptr;

}  // namespace

Node::Node(std::span<Edge> edges) : edges_(edges), sequence_(next_sequence()) {}

std::uint32_t Node::add_output(const Tensor& tensor) {
  const OutputInfo info{tensor.sizes(), tensor.dtype(), tensor.device()};
  if (!has_output_) {
    output_ = info;
    has_output_ = true;
    return 0;
  }
  more_outputs_.push_back(info);
  return static_cast<std::uint32_t>(more_outputs_.size());
}

void run_hooks(const std::vector<Hook>& hooks, std::uint32_t output, Tensor& gradient) {
  if (hooks.empty()) return;
  for (const Hook& hook : std::vector(hooks)) {  // a copy: hooks may remove themselves
    if (hook.output != output) continue;
    Tensor replacement = (*hook.function)(gradient);
    if (!replacement.defined()) continue;
    if (replacement.sizes() != gradient.sizes() || replacement.dtype() != gradient.dtype() ||
        replacement.device() != gradient.device()) {
      const auto text = [](const Tensor& tensor) {
        return "shape " + to_string(tensor.sizes()) + " in " + std::string(name(tensor.dtype())) +
               " on " + tensor.device().str();
      };
      throw halfgrad::detail::Raised<std::runtime_error>(
          "register_hook: expected a hook that returns a gradient of " + text(gradient) + ", got " +
          text(replacement));
    }
    gradient = std::move(replacement);
  }
}

void refuse_undefined() {
  throw halfgrad::detail::Raised<std::runtime_error>(
      "Tensor: expected a tensor, got an undefined one, as Tensor() is, or the grad() of a tensor "
      "that no backward() has reached");
}

void release(std::shared_ptr<Node> node) noexcept {
  if (node == nullptr || node.use_count() > 1) return;
  if (waiting != nullptr) {
    waiting->push_back(std::move(node));
    return;
  }
  std::vector<std::shared_ptr<Node>> nodes;
  waiting = &nodes;
  while (node != nullptr) {
    if (node.use_count() == 1) {
      for (Edge& edge : node->edges()) release(std::move(edge.node));
    }
    node.reset();  // may add to nodes
    if (nodes.empty()) break;
    node = std::move(nodes.back());
    nodes.pop_back();
  }
  waiting = nullptr;
}

TensorImpl::~TensorImpl() { release(std::move(grad_fn)); }

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const auto& impl = tensor.impl();
  if (tensor.grad_fn() != nullptr) return {impl->grad_fn, nullptr, impl->output};
  if (impl->requires_grad) return {nullptr, impl, 0};
  return {};
}

void SavedTensor::save_input(const Tensor& tensor) {
  if (!tensor.defined()) return;
  if (tensor.is_inference()) {
    throw halfgrad::detail::Raised<std::runtime_error>(
        "save for backward: expected a tensor made outside InferenceMode, got one made inside; "
        "clone() it outside first");
  }
  impl_ = tensor.impl();
  storage_ = tensor.array().storage();
  version_ = tensor._version();
  state_ = State::input;
}

void SavedTensor::save_output(const Tensor& tensor) {
  save_input(tensor);
  impl_ = std::make_shared<TensorImpl>(tensor.array());
  output_ = tensor.impl()->output;
  state_ = State::output;
}

namespace {

// Out of line, because the checks run for every saved tensor.
[[noreturn]] void refuse_freed(const Node& saver) {
  fail<std::runtime_error>(
      "backward",
      "expected the tensors saved by '{}', got a graph that an earlier backward "
      "has freed; pass retain_graph = true to the earlier one",
      saver.name());
}

[[noreturn]] void refuse_replaced(const Node& saver, const Array& array) {
  fail<std::runtime_error>("backward",
                           "expected the elements that '{}' saved, got a tensor of shape {} whose "
                           "data has been replaced since, as set_data(), resize_() and "
                           "Module::to() do",
                           saver.name(), array.sizes());
}

[[noreturn]] void refuse_changed(const Node& saver, const Array& array, std::uint32_t version) {
  fail<std::runtime_error>("backward",
                           "expected the tensor of shape {} as '{}' saved it at version {}, got "
                           "version {}: it has been modified by an in-place operation since",
                           array.sizes(), saver.name(), version, array.storage()->version());
}

}  // namespace

const Array& SavedTensor::array(const Node& saver) const {
  if (state_ == State::freed) refuse_freed(saver);
  if (impl_->deferred != nullptr) impl_->deferred->settle();
  const Array& saved = impl_->array;
  const std::shared_ptr<Storage>& storage = saved.storage();
  if (storage.owner_before(storage_) || storage_.owner_before(storage)) {
    refuse_replaced(saver, saved);
  }
  if (storage->version() != version_) refuse_changed(saver, saved, version_);
  return saved;
}

Tensor SavedTensor::unpack(Node& saver) const {
  if (state_ == State::never) return {};
  const Array& saved = array(saver);
  if (state_ == State::input) return Tensor(impl_);
  Tensor tensor(saved);
  tensor.impl()->grad_fn = saver.shared_from_this();
  tensor.impl()->output = output_;
  return tensor;
}

void SavedTensor::reset() {
  if (state_ == State::never) return;
  // A Scalar stays, as in PyTorch: backward may run twice through x * 2.
  if (state_ == State::input && impl_->is_scalar) return;
  impl_.reset();
  storage_.reset();
  state_ = State::freed;
}

}  // namespace halfgrad::detail
