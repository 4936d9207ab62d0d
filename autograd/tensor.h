#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/tensor_impl.h>
#include <halfgrad/autograd/tensor/hook_handle.h>
#include <halfgrad/autograd/tensor/tensor_accessor.h>
#include <halfgrad/autograd/tensor/tensor_methods.h>
#include <halfgrad/core/array.h>

namespace halfgrad {

/// An array with a gradient: PyTorch's Tensor. It is a handle: copies refer to the same tensor, and
/// methods that change it are const, as in libtorch. Ops are methods too: see tensor_methods.h.
class Tensor : public detail::TensorMethods {
 public:
  Tensor() = default;
  explicit Tensor(Array array) : impl_(std::make_shared<detail::TensorImpl>(std::move(array))) {
    impl_->is_inference = detail::modes.inference;
  }
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  /// Assignment to a temporary copies into its elements: `x[0] = y` is `x[0].copy_(y)`, recorded by
  /// autograd, and `x[0] = 3` is `x[0].fill_(3)`. Throws std::invalid_argument if nothing else
  /// refers to these elements, as in `x.index({mask}) = y`: the assignment would be lost.
  Tensor& operator=(const Tensor& source) &&;
  Tensor& operator=(Scalar value) &&;

  bool defined() const { return impl_ != nullptr; }
  /// Makes this handle undefined; other handles of the tensor keep it.
  void reset() { impl_.reset(); }
  /// The elements. Throws std::runtime_error if the tensor is undefined, as do all functions below
  /// that need its elements or its grad_fn.
  const Array& array() const {
    const detail::TensorImpl& impl = existing();
    if (impl.deferred != nullptr) impl.deferred->settle();
    return metadata();
  }
  const std::shared_ptr<detail::TensorImpl>& impl() const { return impl_; }
  detail::TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  /// The number of handles of this tensor, those that the graph holds included.
  std::size_t use_count() const { return static_cast<std::size_t>(impl_.use_count()); }

  const Shape& sizes() const { return metadata().sizes(); }
  const Shape& strides() const { return metadata().strides(); }
  std::int64_t size(std::int64_t dim) const { return metadata().size(dim); }
  std::int64_t stride(std::int64_t dim) const { return metadata().stride(dim); }
  std::int64_t storage_offset() const { return metadata().storage_offset(); }
  std::int64_t dim() const { return metadata().ndim(); }
  std::int64_t ndimension() const { return dim(); }
  std::int64_t numel() const { return metadata().numel(); }
  DType dtype() const { return metadata().dtype(); }
  DType scalar_type() const { return dtype(); }
  /// Size of one element in bytes; nbytes() is the size of all.
  std::int64_t element_size() const { return static_cast<std::int64_t>(item_size(dtype())); }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel() * element_size()); }
  Device device() const { return metadata().device(); }
  /// dtype and device: `zeros({2}, x.options())`.
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_contiguous(MemoryFormat /*memory_format*/ = MemoryFormat::Contiguous) const {
    return metadata().is_contiguous();
  }
  bool is_floating_point() const { return halfgrad::is_floating_point(dtype()); }

  void* data_ptr() const { return address(false); }
  /// Address of the first element. Throws std::invalid_argument unless T stores this dtype.
  template <class T>
  T* data_ptr() const {
    check_dtype(dtype_of<std::remove_const_t<T>>(), "data_ptr");
    return reinterpret_cast<T*>(address(std::is_const_v<T>));
  }
  /// The elements by their indices, in this tensor's memory. As with data_ptr, a write is not
  /// recorded in the graph and does not change the version. Throws std::invalid_argument unless T
  /// stores this dtype, the tensor has N dimensions and is on the CPU.
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_accessor(dtype_of<std::remove_const_t<T>>(), N);
    return {reinterpret_cast<T*>(address(std::is_const_v<T>)), sizes().data(), strides().data()};
  }
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() const&& = delete;  // its memory may end with the statement
  /// The only element, converted. Throws std::invalid_argument unless numel() is 1 and T can hold
  /// it. T is double if it is not given; with compat/torch.h it is a Scalar, as in libtorch.
  template <class T = detail::Item>
  T item() const {
    return array().item<T>();
  }
  /// All elements in row-major order, converted.
  template <class T>
  std::vector<T> to_vector() const;

  bool requires_grad() const { return existing().requires_grad || grad_fn() != nullptr; }
  /// Throws std::invalid_argument for a dtype without gradients, or for false on a non-leaf.
  Tensor& requires_grad_(bool requires_grad = true) const;
  Tensor& set_requires_grad(bool requires_grad) const { return requires_grad_(requires_grad); }
  bool is_leaf() const { return grad_fn() == nullptr; }
  /// The node of the graph that made this tensor, null for a leaf.
  const std::shared_ptr<detail::Node>& grad_fn() const {
    if (existing().view_of != nullptr) detail::follow_base(*impl_);
    return impl_->grad_fn;
  }
  bool is_inference() const { return existing().is_inference; }
  /// Name of the op that made this tensor, "" for a leaf.
  std::string grad_fn_name() const;
  /// The accumulated gradient; undefined if there is none. Const, so that `x.grad() = y` does not
  /// compile: set_grad() assigns.
  const Tensor grad() const { return existing().grad ? Tensor(impl_->grad) : Tensor(); }
  void set_grad(const Tensor& grad) const;
  /// Makes backward keep the gradient of this non-leaf.
  void retain_grad() const;
  /// The number of in-place changes of the storage.
  std::uint32_t _version() const { return metadata().storage()->version(); }
  /// Whether backward keeps the gradient of this non-leaf.
  bool retains_grad() const;

  /// Adds the gradient of this tensor with respect to every leaf that requires one to its grad(),
  /// or to grad() of `inputs` only. The tensor has one element, or `gradient` has its shape.
  /// retain_graph is as create_graph when absent. An empty list of inputs is an error.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false) const;
  void backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                const std::vector<Tensor>& inputs) const;
  /// Calls `hook` with the complete gradient in backward. A defined result replaces the gradient.
  HookHandle register_hook(std::function<Tensor(const Tensor&)> hook) const;
  template <class Hook>
  requires std::is_void_v<std::invoke_result_t<Hook, Tensor>> HookHandle register_hook(Hook hook)
  const {
    return register_hook(std::function<Tensor(const Tensor&)>([hook](const Tensor& gradient) {
      hook(gradient);
      return Tensor();
    }));
  }
  void remove_hook(HookHandle hook) const { hook.remove(); }
  /// Removes a hook of this tensor by the number of its handle, as in libtorch.
  void remove_hook(unsigned number) const;

  /// Returns a tensor with the same memory outside the graph.
  Tensor detach() const;
  Tensor& detach_() const;
  /// libtorch's names for detach(). A write to the result counts as one to this tensor: backward
  /// throws if it needs the old elements.
  Tensor data() const { return detach(); }
  Tensor tensor_data() const { return detach(); }
  Tensor variable_data() const { return detach(); }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// Gives this tensor the array of `data`. Throws std::invalid_argument for another dtype.
  void set_data(const Tensor& data) const;
  bool is_view() const { return existing().is_view; }
  /// Whether both tensors are views of one storage.
  bool is_alias_of(const Tensor& other) const {
    return metadata().storage() == other.metadata().storage();
  }
  /// The index of this tensor among the outputs of its grad_fn().
  std::int64_t output_nr() const { return existing().output; }
  /// Changes the shape, and keeps the first elements in memory; new elements have any value. Throws
  /// std::invalid_argument for a tensor that requires grad, and for a view that would grow.
  Tensor& resize_(const Shape& sizes) const;

 private:
  /// The array, whose elements may not have been computed.
  const Array& metadata() const {
    detail::TensorImpl& impl = existing();
    if (impl.is_narrow.load(std::memory_order_acquire)) detail::widen(impl);
    return impl.array;
  }
  detail::TensorImpl& existing() const {
    if (impl_ == nullptr) detail::refuse_undefined();
    return *impl_;
  }
  std::byte* address(bool is_const) const;
  void expect_seen_elsewhere() const;
  void check_dtype(DType wanted, const char* op) const;
  void check_accessor(DType wanted, std::size_t dims) const;

  std::shared_ptr<detail::TensorImpl> impl_;
};

using TensorList = std::vector<Tensor>;  ///< libtorch's name

template <std::same_as<bool> T>
Tensor detail::TensorMethods::var(T unbiased) const {
  return var(Dims(), unbiased);
}
template <std::same_as<bool> T>
Tensor detail::TensorMethods::std(T unbiased) const {
  return std(Dims(), unbiased);
}
std::tuple<Tensor, Tensor> detail::TensorMethods::sort(std::same_as<bool> auto /*stable*/,
                                                       std::int64_t dim, bool descending) const {
  return sort(dim, descending);
}
Tensor detail::TensorMethods::argsort(std::same_as<bool> auto /*stable*/, std::int64_t dim,
                                      bool descending) const {
  return argsort(dim, descending);
}

Tensor detail::TensorMethods::new_empty(const Shape& sizes, OneOption auto option) const {
  return new_empty(sizes, only(option));
}
Tensor detail::TensorMethods::new_zeros(const Shape& sizes, OneOption auto option) const {
  return new_zeros(sizes, only(option));
}
Tensor detail::TensorMethods::new_ones(const Shape& sizes, OneOption auto option) const {
  return new_ones(sizes, only(option));
}
Tensor detail::TensorMethods::new_full(const Shape& sizes, Scalar value,
                                       OneOption auto option) const {
  return new_full(sizes, value, only(option));
}

/// Prints the elements nested as in NumPy, to four decimals. In parentheses: the dtype, unless it
/// is float32, int64 or bool; the shape, if elements are left out; requires_grad; and the op that
/// made the tensor:
///
///   [[1.0000, 2.5000],
///    [3.0000, 4.0000]] (dtype=float16, grad_fn=<mul>)
///
/// If there are more than 1000 elements, prints the first and last three along each dimension, with
/// "..." between.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace halfgrad
