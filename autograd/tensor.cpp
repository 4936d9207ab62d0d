#include <halfgrad/autograd/tensor.h>

#include <algorithm>
#include <stdexcept>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/graph/post_accumulate.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Whether anything besides `impl` refers to these elements: another handle, a view, the base of
// this view, or the owner of external memory.
bool is_seen_elsewhere(const std::shared_ptr<detail::TensorImpl>& impl) {
  const std::shared_ptr<Storage>& storage = impl->array.storage();
  if (impl.use_count() > 1 || storage->block().owner == nullptr) return true;
  if (impl->view_of == nullptr) return storage.use_count() > 1;
  return impl->view_of->base.use_count() > 1 || storage.use_count() > 2;
}

}  // namespace

void Tensor::expect_seen_elsewhere() const {
  static_cast<void>(existing());
  if (is_seen_elsewhere(impl_)) return;
  throw halfgrad::detail::Raised<std::invalid_argument>(
      "operator=: expected a view of a tensor, got a temporary of shape " + to_string(sizes()) +
      " whose elements nothing else refers to, so the assignment would be lost; to assign at an "
      "index tensor, use index_put_()");
}

// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): copy_() of the tensor itself changes nothing
Tensor& Tensor::operator=(const Tensor& source) && {
  expect_seen_elsewhere();
  return copy_(source);
}

Tensor& Tensor::operator=(Scalar value) && {
  expect_seen_elsewhere();
  return fill_(value);
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  std::vector<T> values(static_cast<std::size_t>(numel()));
  const Array flat = array().to(dtype_of<T>()).to(Device()).contiguous();
  std::copy_n(flat.data_as<T>(), numel(), values.begin());
  return values;
}

template std::vector<double> Tensor::to_vector() const;
template std::vector<float> Tensor::to_vector() const;
template std::vector<std::int64_t> Tensor::to_vector() const;
template std::vector<std::int32_t> Tensor::to_vector() const;
template std::vector<std::int16_t> Tensor::to_vector() const;
template std::vector<std::int8_t> Tensor::to_vector() const;
template std::vector<std::uint8_t> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;

Tensor& Tensor::requires_grad_(bool requires_grad) const {
  if (requires_grad && !is_floating_point()) {
    detail::fail("requires_grad_", "expected a floating-point tensor, got {}", dtype());
  }
  if (requires_grad && is_inference() && !InferenceMode::is_enabled()) {
    throw halfgrad::detail::Raised<std::runtime_error>(
        "requires_grad_: expected a tensor made outside InferenceMode, got one made inside; "
        "clone() it first");
  }
  if (!is_leaf() && !requires_grad) {
    throw halfgrad::detail::Raised<std::invalid_argument>(
        "requires_grad_: expected a leaf to switch off, got a tensor with history; use detach()");
  }
  if (is_leaf()) impl_->requires_grad = requires_grad;
  return const_cast<Tensor&>(*this);
}

std::string Tensor::grad_fn_name() const { return is_leaf() ? "" : grad_fn()->name(); }

void Tensor::set_grad(const Tensor& grad) const {
  if (grad.defined() && (grad.sizes() != sizes() || grad.dtype() != dtype())) {
    detail::fail("set_grad", "expected a gradient of shape {} and dtype {}, got {} and {}", sizes(),
                 dtype(), grad.sizes(), grad.dtype());
  }
  if (grad.defined() && grad.device() != device()) {
    detail::fail("set_grad", "expected a gradient on {}, got {}", device(), grad.device());
  }
  detail::TensorImpl& own = existing();
  if (grad.is_same(*this)) {
    throw halfgrad::detail::Raised<std::invalid_argument>(
        "set_grad: expected another tensor, got the tensor itself");
  }
  own.grad = grad.impl();
}

void Tensor::retain_grad() const {
  if (!requires_grad()) {
    throw halfgrad::detail::Raised<std::runtime_error>(
        "retain_grad: expected a tensor that requires grad");
  }
  if (is_leaf()) return;
  auto& retained = impl_->grad_fn->retained;
  const auto is_this = [this](const auto& known) { return known.second.lock() == impl_; };
  if (std::none_of(retained.begin(), retained.end(), is_this)) {
    retained.emplace_back(impl_->output, impl_);
  }
}

bool Tensor::retains_grad() const {
  if (is_leaf()) return false;
  const auto is_this = [this](const auto& known) { return known.second.lock() == impl_; };
  const auto& retained = impl_->grad_fn->retained;
  return std::any_of(retained.begin(), retained.end(), is_this);
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph,
                      bool create_graph) const {
  const std::span<const Tensor> gradients(&gradient, gradient.defined() ? 1 : 0);
  autograd::backward(std::span(this, 1), gradients,
                     {retain_graph.value_or(create_graph), create_graph});
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      const std::vector<Tensor>& inputs) const {
  const std::vector<Tensor> given(gradient.defined() ? 1 : 0, gradient);
  autograd::backward({*this}, given, retain_graph, create_graph, inputs);
}

HookHandle Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  if (!requires_grad()) {
    throw halfgrad::detail::Raised<std::runtime_error>(
        "register_hook: expected a tensor that requires grad");
  }
  const std::uint64_t id = detail::next_hook_id();
  const auto number = static_cast<unsigned>(id);
  const auto remove_from = [id](auto& hooks) {
    std::erase_if(hooks, [id](const auto& known) { return known.id == id; });
  };
  auto shared = std::make_shared<const std::function<Tensor(const Tensor&)>>(std::move(hook));
  if (is_leaf()) {
    impl_->hooks.push_back({0, id, std::move(shared)});
    return HookHandle(
        [weak = std::weak_ptr(impl_), remove_from] {
          if (const auto impl = weak.lock()) remove_from(impl->hooks);
        },
        number);
  }
  impl_->grad_fn->hooks.push_back({impl_->output, id, std::move(shared)});
  return HookHandle(
      [weak = std::weak_ptr(impl_->grad_fn), remove_from] {
        if (const auto node = weak.lock()) remove_from(node->hooks);
      },
      number);
}

void Tensor::remove_hook(unsigned number) const {
  const auto is_meant = [number](const auto& known) {
    return static_cast<unsigned>(known.id) == number;
  };
  auto& hooks = is_leaf() ? existing().hooks : impl_->grad_fn->hooks;
  if (std::erase_if(hooks, is_meant) == 0) {
    detail::fail("remove_hook", "expected the number of a hook of this tensor, got {}", number);
  }
}

Tensor Tensor::detach() const {
  Tensor result(array());
  result.impl_->is_inference = impl_->is_inference;
  return result;
}

Tensor& Tensor::detach_() const {
  if (existing().is_view) {
    detail::fail<std::runtime_error>(
        "detach_", "expected a tensor that owns its elements, got a view; use detach()");
  }
  detail::release(std::move(impl_->grad_fn));
  impl_->grad_fn = nullptr;
  impl_->requires_grad = false;
  return const_cast<Tensor&>(*this);
}

void Tensor::set_data(const Tensor& data) const {
  if (data.dtype() != dtype()) {
    detail::fail("set_data", "expected a tensor of {}, got {}", dtype(), data.dtype());
  }
  const Array& array = data.array();
  const Array& old = this->array();
  const bool is_other_view = array.storage() == old.storage() &&
                             (array.sizes() != old.sizes() || array.strides() != old.strides() ||
                              array.storage_offset() != old.storage_offset());
  impl_->array = array;
  // Backward must not read the elements that another view of the same memory had.
  if (is_other_view) array.storage()->bump_version();
}

Tensor& Tensor::resize_(const Shape& new_sizes) const {
  if (requires_grad()) {
    throw halfgrad::detail::Raised<std::invalid_argument>(
        "resize_: expected a tensor that does not require grad, got one that does");
  }
  const Array& old = array();
  const auto bytes = static_cast<std::size_t>((old.storage_offset() + halfgrad::numel(new_sizes)) *
                                              element_size());
  if (bytes <= old.storage()->bytes()) {
    const Shape strides = contiguous_strides(new_sizes);
    set_data(Tensor(old.as_strided(new_sizes, strides, old.storage_offset())));
    return const_cast<Tensor&>(*this);
  }
  if (is_view()) {
    detail::fail("resize_",
                 "expected a tensor that owns its elements, got a view of {} to grow to {}",
                 sizes(), new_sizes);
  }
  const Array grown = Array::empty(new_sizes, dtype(), device());
  // All that are in memory, whatever the strides.
  const Shape count{static_cast<std::int64_t>(old.storage()->bytes()) / element_size() -
                    old.storage_offset()};
  const auto first = [&](const Array& of) {
    return of.as_strided(count, {1}, of.storage_offset());
  };
  first(grown).copy_(first(old));
  impl_->array = grown;
  return const_cast<Tensor&>(*this);
}

void Tensor::check_dtype(DType wanted, const char* op) const {
  if (wanted != dtype()) {
    detail::fail(op, "expected a tensor of {}, got {}", wanted, dtype());
  }
}

std::byte* Tensor::address(bool is_const) const {
  if (!is_const) array().storage()->expose();
  return array().data();
}

void Tensor::check_accessor(DType wanted, std::size_t dims) const {
  check_dtype(wanted, "accessor");
  if (sizes().size() != static_cast<int>(dims)) {
    detail::fail("accessor", "expected a tensor of {} dimensions, got shape {}", dims, sizes());
  }
  if (!is_cpu()) {
    detail::fail("accessor", "expected a tensor on the CPU, got one on {}; .cpu() copies it",
                 device());
  }
}

}  // namespace halfgrad
