#pragma once

#include <concepts>
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
#include <halfgrad/autograd/tensor_impl.h>
#include <halfgrad/core/array.h>

namespace halfgrad {

/// Takes a hook away again.
class HookHandle {
 public:
  explicit HookHandle(std::function<void()> remove) : remove_(std::move(remove)) {}
  void remove() {
    if (remove_) std::exchange(remove_, nullptr)();
  }

 private:
  std::function<void()> remove_;
};

/// Numbers with a gradient: PyTorch's Tensor. A handle; copies are the same tensor.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Array array) : impl_(std::make_shared<detail::TensorImpl>(std::move(array))) {
    impl_->is_inference = detail::modes.inference;
  }
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  /// As all that asks for its numbers or its place in the graph: throws std::runtime_error when the
  /// tensor is undefined.
  const Array& array() const { return existing().array; }
  const std::shared_ptr<detail::TensorImpl>& impl() const { return impl_; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  const Shape& sizes() const { return array().sizes(); }
  const Shape& strides() const { return array().strides(); }
  std::int64_t size(std::int64_t dim) const { return array().size(dim); }
  std::int64_t dim() const { return array().ndim(); }
  std::int64_t numel() const { return array().numel(); }
  DType dtype() const { return array().dtype(); }
  DType scalar_type() const { return dtype(); }
  Device device() const { return array().device(); }
  bool is_contiguous() const { return array().is_contiguous(); }
  bool is_floating_point() const { return halfgrad::is_floating_point(dtype()); }

  /// Address of the first element. Throws std::invalid_argument unless T stores this dtype.
  template <class T>
  T* data_ptr() const {
    check_dtype(dtype_of<std::remove_const_t<T>>(), "data_ptr");
    return array().data_as<T>();
  }
  /// The only element, converted. Throws std::invalid_argument unless numel() is 1 and T can hold
  /// the number.
  template <class T = double>
  T item() const {
    return array().item<T>();
  }
  /// All elements in row-major order, converted.
  template <class T>
  std::vector<T> to_vector() const;

  bool requires_grad() const { return existing().requires_grad || grad_fn() != nullptr; }
  /// Throws std::invalid_argument for a dtype without gradients, or for false on a non-leaf.
  Tensor& requires_grad_(bool requires_grad = true);
  bool is_leaf() const { return grad_fn() == nullptr; }
  /// The node of the graph that made this tensor, null for a leaf.
  const std::shared_ptr<detail::Node>& grad_fn() const {
    if (existing().view_of != nullptr) detail::follow_base(*impl_);
    return impl_->grad_fn;
  }
  bool is_inference() const { return existing().is_inference; }
  /// Name of the op that made this tensor, "" for a leaf.
  std::string grad_fn_name() const;
  /// The accumulated gradient; undefined if there is none.
  Tensor grad() const { return existing().grad ? Tensor(impl_->grad) : Tensor(); }
  void set_grad(const Tensor& grad);
  /// Keeps the gradient of a non-leaf too.
  void retain_grad();
  /// Counts in-place changes of the storage.
  std::uint32_t _version() const { return array().storage()->version(); }

  /// Gradients of this tensor (scalar, or with `gradient` of the same shape) with respect to every
  /// leaf that requires one, added to its grad(). See autograd::backward.
  void backward(const Tensor& gradient = {}, bool retain_graph = false,
                bool create_graph = false) const;
  /// Calls `hook` with the complete gradient during backward; what it returns, if defined, replaces
  /// the gradient.
  HookHandle register_hook(std::function<Tensor(const Tensor&)> hook) const;

  /// The same numbers (shared), outside the graph.
  Tensor detach() const;
  Tensor& detach_();

  // The ops as methods: each does what the function of that name in ops.h does; a name ending in _
  // works in place, keeps this tensor's dtype, and returns it.
  Tensor to(DType dtype) const;
  Tensor to(Device device) const;
  Tensor clone() const;
  Tensor contiguous() const;
  Tensor reshape(const Shape& sizes) const;
  /// reshape() without a copy. Throws std::runtime_error where the strides do not allow that.
  Tensor view(const Shape& sizes) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  /// Of a matrix its transpose, of fewer dimensions the tensor itself.
  Tensor t() const;
  Tensor permute(const Shape& dims) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t dim) const;
  Tensor unsqueeze(std::int64_t dim) const;
  Tensor expand(const Shape& sizes) const;
  Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
               std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1) const;
  Tensor select(std::int64_t dim, std::int64_t index) const;
  Tensor operator[](std::int64_t index) const { return select(0, index); }
  Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const;

  Tensor sum(std::optional<DType> dtype = std::nullopt) const;
  Tensor sum(const Shape& dim, bool keepdim = false,
             std::optional<DType> dtype = std::nullopt) const;
  template <std::integral T>
  Tensor sum(T dim, bool keepdim = false, std::optional<DType> dtype = std::nullopt) const {
    return sum(Shape{static_cast<std::int64_t>(dim)}, keepdim, dtype);
  }
  Tensor mean(std::optional<DType> dtype = std::nullopt) const;
  Tensor mean(const Shape& dim, bool keepdim = false,
              std::optional<DType> dtype = std::nullopt) const;
  template <std::integral T>
  Tensor mean(T dim, bool keepdim = false, std::optional<DType> dtype = std::nullopt) const {
    return mean(Shape{static_cast<std::int64_t>(dim)}, keepdim, dtype);
  }
  Tensor max() const;
  Tensor min() const;
  Tensor argmax(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor argmin(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor norm(Scalar p = 2) const;
  Tensor all() const;
  Tensor any() const;

  Tensor abs() const;
  Tensor exp() const;
  Tensor log() const;
  Tensor sqrt() const;
  Tensor pow(Scalar exponent) const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor clamp(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) const;
  Tensor softmax(std::int64_t dim) const;
  Tensor log_softmax(std::int64_t dim) const;
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor eq(const Tensor& other) const;

  Tensor& add_(const Tensor& other, Scalar alpha = 1);
  Tensor& sub_(const Tensor& other, Scalar alpha = 1);
  Tensor& mul_(const Tensor& other);
  Tensor& div_(const Tensor& other);
  Tensor& add_(Scalar other);
  Tensor& sub_(Scalar other);
  Tensor& mul_(Scalar other);
  Tensor& div_(Scalar other);
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
  Tensor& operator/=(const Tensor& other) { return div_(other); }
  Tensor& operator+=(Scalar other) { return add_(other); }
  Tensor& operator-=(Scalar other) { return sub_(other); }
  Tensor& operator*=(Scalar other) { return mul_(other); }
  Tensor& operator/=(Scalar other) { return div_(other); }
  Tensor& exp_();
  Tensor& relu_();
  Tensor& sigmoid_();
  Tensor& tanh_();
  Tensor& clamp_(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt);
  Tensor& copy_(const Tensor& source);
  Tensor& fill_(Scalar value);
  Tensor& zero_() { return fill_(0); }

 private:
  detail::TensorImpl& existing() const {
    if (impl_ == nullptr) detail::refuse_undefined();
    return *impl_;
  }
  void check_dtype(DType wanted, const char* op) const;

  std::shared_ptr<detail::TensorImpl> impl_;
};

/// Numbers with their nesting, as NumPy prints them, to four decimals; then, in parentheses, what
/// they do not show: the dtype unless it is float32, int64 or bool, the shape if elements are
/// missing, requires_grad, and the op that made them:
///
///   [[1.0000, 2.5000],
///    [3.0000, 4.0000]] (dtype=float16, grad_fn=<mul>)
///
/// Of more than 1000 elements the first and last three along each dimension are shown, with "..."
/// between.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace halfgrad
