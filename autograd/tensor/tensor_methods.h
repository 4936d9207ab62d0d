#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <halfgrad/autograd/compat/tensor_options.h>
#include <halfgrad/autograd/dims.h>
#include <halfgrad/autograd/tensor/libtorch_methods.h>
#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/numbers/scalar.h>
#include <halfgrad/core/shape.h>

namespace halfgrad {

class Tensor;
class MutableGrad;  // compat/mutable_grad.h
namespace indexing {
class TensorIndex;
}

namespace detail {

/// The ops as methods of Tensor: each calls the function of the same name in ops.h. unary_ops.h has
/// those of ops of one tensor.
class TensorMethods : public LibtorchMethods {
 public:
  // --- Creation: with this tensor's dtype and device unless the options name others ---
  Tensor new_empty(const Shape& sizes, const CreationOptions& options = {}) const;
  Tensor new_zeros(const Shape& sizes, const CreationOptions& options = {}) const;
  Tensor new_ones(const Shape& sizes, const CreationOptions& options = {}) const;
  Tensor new_full(const Shape& sizes, Scalar value, const CreationOptions& options = {}) const;
  Tensor new_empty(const Shape& sizes, OneOption auto option) const;
  Tensor new_zeros(const Shape& sizes, OneOption auto option) const;
  Tensor new_ones(const Shape& sizes, OneOption auto option) const;
  Tensor new_full(const Shape& sizes, Scalar value, OneOption auto option) const;

  // --- Arithmetic ---
  Tensor add(const Tensor& other, Scalar alpha = 1) const;
  Tensor sub(const Tensor& other, Scalar alpha = 1) const;
  Tensor mul(const Tensor& other) const;
  Tensor div(const Tensor& other) const;
  Tensor add(Scalar other, Scalar alpha = 1) const;
  Tensor sub(Scalar other, Scalar alpha = 1) const;
  Tensor mul(Scalar other) const;
  Tensor div(Scalar other) const;
  Tensor div(const Tensor& other, std::optional<std::string_view> rounding_mode) const;
  Tensor div(Scalar other, std::optional<std::string_view> rounding_mode) const;
  Tensor floor_divide(const Tensor& other) const;
  Tensor floor_divide(Scalar other) const;
  Tensor remainder(const Tensor& other) const;
  Tensor remainder(Scalar other) const;
  Tensor fmod(const Tensor& other) const;
  Tensor fmod(Scalar other) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor pow(Scalar exponent) const;
  Tensor maximum(const Tensor& other) const;
  Tensor minimum(const Tensor& other) const;
  Tensor clamp(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) const;
  Tensor clamp(const Tensor& min) const;
  Tensor clamp(const Tensor& min, const Tensor& max) const;
  /// clamp() by NumPy's name.
  Tensor clip(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) const;
  Tensor clamp_min(Scalar min) const;
  Tensor clamp_max(Scalar max) const;
  Tensor clamp_min(const Tensor& min) const;
  Tensor clamp_max(const Tensor& max) const;
  Tensor lerp(const Tensor& end, const Tensor& weight) const;
  Tensor lerp(const Tensor& end, Scalar weight) const;
  Tensor addcmul(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1) const;
  Tensor addcdiv(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1) const;
  /// The elements of this tensor where `condition` is true, else those of `other`.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, Scalar other) const;

  // --- Comparisons and logic ---
  Tensor eq(const Tensor& other) const;
  Tensor ne(const Tensor& other) const;
  Tensor lt(const Tensor& other) const;
  Tensor le(const Tensor& other) const;
  Tensor gt(const Tensor& other) const;
  Tensor ge(const Tensor& other) const;
  Tensor eq(Scalar other) const;
  Tensor ne(Scalar other) const;
  Tensor lt(Scalar other) const;
  Tensor le(Scalar other) const;
  Tensor gt(Scalar other) const;
  Tensor ge(Scalar other) const;
  Tensor logical_and(const Tensor& other) const;
  Tensor logical_or(const Tensor& other) const;
  Tensor logical_xor(const Tensor& other) const;
  Tensor logical_not() const;
  Tensor isfinite() const;
  Tensor isinf() const;
  Tensor isnan() const;
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                 bool equal_nan = false) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false) const;
  bool equal(const Tensor& other) const;

  // --- Shapes ---
  Tensor reshape(const Shape& sizes) const;
  Tensor reshape_as(const Tensor& other) const;
  /// reshape() without a copy. Throws std::runtime_error if the strides do not allow it.
  Tensor view(const Shape& sizes) const;
  /// The same memory as elements of another dtype (Array::view()), outside the graph.
  Tensor view(std::same_as<DType> auto dtype) const;
  Tensor view_as(const Tensor& other) const;
  Tensor expand(const Shape& sizes) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  /// The transpose of a matrix; a tensor of fewer dimensions is returned itself.
  Tensor t() const;
  /// The transpose of each matrix: the last two dimensions exchanged.
  Tensor mT() const;  // NOLINT(readability-identifier-naming): libtorch's name
  bool is_same_size(const Tensor& other) const;
  Tensor permute(const Shape& dims) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t dim) const;
  Tensor unsqueeze(std::int64_t dim) const;
  Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const;
  Tensor as_strided(const Shape& size, const Shape& stride,
                    std::optional<std::int64_t> storage_offset = std::nullopt) const;
  Tensor operator[](std::int64_t index) const;
  Tensor select(std::int64_t dim, std::int64_t index) const;
  Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
               std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1) const;
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  std::vector<Tensor> split(std::int64_t split_size, std::int64_t dim = 0) const;
  std::vector<Tensor> split(const std::vector<std::int64_t>& split_sizes,
                            std::int64_t dim = 0) const;
  std::vector<Tensor> split_with_sizes(const std::vector<std::int64_t>& split_sizes,
                                       std::int64_t dim = 0) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  std::vector<Tensor> unbind(std::int64_t dim = 0) const;
  Tensor diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1) const;
  Tensor diag(std::int64_t diagonal = 0) const;
  Tensor trace() const;
  Tensor flip(const Dims& dims) const;
  Tensor roll(const Dims& shifts, const Dims& dims = {}) const;
  Tensor repeat(const Dims& repeats) const;
  Tensor tril(std::int64_t diagonal = 0) const;
  Tensor triu(std::int64_t diagonal = 0) const;

  // --- Conversion ---
  Tensor to(DType dtype) const;
  Tensor to(Device device) const;
  Tensor to(Device device, DType dtype) const;
  /// libtorch's further arguments. The host waits for a copy only where it must, for either value
  /// of `non_blocking`; `copy` makes a copy even if nothing has to be converted.
  Tensor to(DType dtype, bool non_blocking, bool copy = false) const;
  Tensor to(Device device, bool non_blocking, bool copy = false) const;
  Tensor to(Device device, DType dtype, bool non_blocking, bool copy = false) const;
  /// Converts to the dtype and the device of the options. Throws std::invalid_argument for options
  /// with requires_grad.
  Tensor to(const TensorOptions& options) const;
  /// Converts to the device and the dtype of `other`.
  Tensor to(const Tensor& other) const;
  Tensor type_as(const Tensor& other) const;
  Tensor toType(DType dtype) const;  // NOLINT(readability-identifier-naming): libtorch's name
  bool is_signed() const;            ///< whether the dtype has negative values
  bool is_complex() const { return false; }
  bool is_sparse() const { return false; }
  bool is_quantized() const { return false; }
  /// Whether the only element differs from 0. Throws std::invalid_argument unless numel() is 1.
  bool is_nonzero() const;
  /// Prints the tensor on std::cout.
  void print() const;
  std::int64_t itemsize() const;    ///< element_size()
  std::int64_t get_device() const;  ///< the index of the GPU, or -1 on the CPU
  Layout layout() const { return kStrided; }
  /// libtorch's names: data_ptr<const T>() and data_ptr<T>().
  template <class T>
  const T* const_data_ptr() const {
    return as_tensor<T>().template data_ptr<const T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return as_tensor<T>().template data_ptr<T>();
  }
  /// libtorch's spelling of set_grad(): `x.mutable_grad() = g`.
  MutableGrad mutable_grad() const;
  Tensor cpu() const;
  Tensor cuda() const;
  Tensor clone(MemoryFormat memory_format = MemoryFormat::Contiguous) const;
  Tensor contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const;

  // --- Indexing ---
  /// x[...] in Python: a view if `indices` (indexing.h) hold no tensor, else a copy. With masks and
  /// 0-dimensional tensors the host waits for the device. Throws std::out_of_range for indices out
  /// of range and for too many of them.
  Tensor index(const std::vector<indexing::TensorIndex>& indices) const;
  Tensor nonzero() const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor gather(std::int64_t dim, const Tensor& index) const;
  Tensor scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor index_select(std::int64_t dim, const Tensor& index) const;
  Tensor masked_fill(const Tensor& mask, Scalar value) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const;

  // --- Sorting, running sums, draws ---
  std::tuple<Tensor, Tensor> sort(std::int64_t dim = -1, bool descending = false) const;
  std::tuple<Tensor, Tensor> sort(std::same_as<bool> auto stable, std::int64_t dim = -1,
                                  bool descending = false) const;
  Tensor argsort(std::int64_t dim = -1, bool descending = false) const;
  Tensor argsort(std::same_as<bool> auto stable, std::int64_t dim = -1,
                 bool descending = false) const;
  std::tuple<Tensor, Tensor> topk(std::int64_t k, std::int64_t dim = -1, bool largest = true,
                                  bool sorted = true) const;
  Tensor cumsum(std::int64_t dim, std::optional<DType> dtype = std::nullopt) const;
  Tensor multinomial(std::int64_t num_samples, bool replacement = false) const;

  // --- Reductions ---
  Tensor sum(std::optional<DType> dtype = std::nullopt) const;
  Tensor sum(const Dims& dim, bool keepdim = false,
             std::optional<DType> dtype = std::nullopt) const;
  Tensor sum_to_size(const Shape& sizes) const;
  Tensor mean(std::optional<DType> dtype = std::nullopt) const;
  Tensor mean(const Dims& dim, bool keepdim = false,
              std::optional<DType> dtype = std::nullopt) const;
  Tensor prod(std::optional<DType> dtype = std::nullopt) const;
  Tensor prod(std::int64_t dim, bool keepdim = false,
              std::optional<DType> dtype = std::nullopt) const;
  Tensor var(const Dims& dim = {}, std::optional<Scalar> correction = std::nullopt,
             bool keepdim = false) const;
  Tensor std(const Dims& dim = {}, std::optional<Scalar> correction = std::nullopt,
             bool keepdim = false) const;
  template <std::same_as<bool> T>
  Tensor var(T unbiased) const;
  template <std::same_as<bool> T>
  Tensor std(T unbiased) const;
  Tensor max() const;
  Tensor min() const;
  Tensor max(const Tensor& other) const;
  Tensor min(const Tensor& other) const;
  std::tuple<Tensor, Tensor> max(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> min(std::int64_t dim, bool keepdim = false) const;
  Tensor amax(const Dims& dim = {}, bool keepdim = false) const;
  Tensor amin(const Dims& dim = {}, bool keepdim = false) const;
  Tensor argmax(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor argmin(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor norm(Scalar p = 2) const;
  Tensor norm(Scalar p, const Dims& dim, bool keepdim = false) const;
  Tensor logsumexp(const Dims& dim, bool keepdim = false) const;
  Tensor all() const;
  Tensor all(std::int64_t dim, bool keepdim = false) const;
  Tensor any() const;
  Tensor any(std::int64_t dim, bool keepdim = false) const;
  Tensor softmax(std::int64_t dim, std::optional<DType> dtype = std::nullopt) const;
  Tensor log_softmax(std::int64_t dim, std::optional<DType> dtype = std::nullopt) const;

  // --- Products ---
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& mat2) const;
  Tensor bmm(const Tensor& mat2) const;
  Tensor mv(const Tensor& vec) const;
  Tensor dot(const Tensor& tensor) const;
  Tensor outer(const Tensor& vec2) const;
  Tensor cross(const Tensor& other, std::optional<std::int64_t> dim = std::nullopt) const;
  Tensor addmm(const Tensor& mat1, const Tensor& mat2, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor baddbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
                 Scalar alpha = 1) const;

 protected:
  TensorMethods() = default;

 private:
  // Tensor is complete when T is known.
  template <class T>
  const auto& as_tensor() const {
    return static_cast<const std::conditional_t<std::is_void_v<T>, T, Tensor>&>(*this);
  }
};

}  // namespace detail
}  // namespace halfgrad
