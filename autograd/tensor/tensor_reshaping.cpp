#include <stdexcept>
#include <string>

#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/fail.h>

// Methods that change the shape: views, rearranging, reductions, and row-wise ops.
namespace halfgrad::detail {

Tensor TensorMethods::reshape(const Shape& sizes) const { return halfgrad::reshape(self(), sizes); }
Tensor TensorMethods::reshape_as(const Tensor& other) const {
  return with_op_name("reshape_as", "reshape", [&] { return reshape(other.sizes()); });
}
Tensor TensorMethods::view(const Shape& sizes) const {
  const Tensor& x = self();
  Tensor result = with_op_name("view", "reshape", [&] { return reshape(sizes); });
  if (x.numel() > 0 && result.array().storage() != x.array().storage()) {
    throw halfgrad::detail::Raised<std::runtime_error>(
        "view: expected strides that allow shape " + to_string(result.sizes()) +
        " without a copy, got shape " + to_string(x.sizes()) + " with strides " +
        to_string(x.strides()) + "; use reshape()");
  }
  return result;
}
Tensor TensorMethods::view(std::same_as<DType> auto dtype) const {
  return Tensor(self().array().view(dtype));
}
template Tensor TensorMethods::view(DType dtype) const;
Tensor TensorMethods::view_as(const Tensor& other) const {
  return with_op_name("view_as", "view", [&] { return view(other.sizes()); });
}
Tensor TensorMethods::expand(const Shape& sizes) const { return halfgrad::expand(self(), sizes); }
Tensor TensorMethods::expand_as(const Tensor& other) const {
  return with_op_name("expand_as", "expand", [&] { return expand(other.sizes()); });
}
Tensor TensorMethods::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return halfgrad::transpose(self(), dim0, dim1);
}
Tensor TensorMethods::t() const {
  const std::int64_t dim = self().dim();
  if (dim > 2) {
    throw halfgrad::detail::Raised<std::invalid_argument>("t: expected at most 2 dimensions, got " +
                                                          std::to_string(dim));
  }
  return dim < 2 ? self() : transpose(0, 1);
}
Tensor TensorMethods::mT() const {  // NOLINT(readability-identifier-naming)
  if (self().dim() < 2) {
    detail::fail("mT", "expected at least 2 dimensions, got {}", self().dim());
  }
  return transpose(-2, -1);
}
bool TensorMethods::is_same_size(const Tensor& other) const {
  return self().sizes() == other.sizes();
}
Tensor TensorMethods::permute(const Shape& dims) const { return halfgrad::permute(self(), dims); }
Tensor TensorMethods::squeeze() const { return halfgrad::squeeze(self()); }
Tensor TensorMethods::squeeze(std::int64_t dim) const { return halfgrad::squeeze(self(), dim); }
Tensor TensorMethods::unsqueeze(std::int64_t dim) const { return halfgrad::unsqueeze(self(), dim); }
Tensor TensorMethods::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
  return halfgrad::flatten(self(), start_dim, end_dim);
}
Tensor TensorMethods::as_strided(const Shape& size, const Shape& stride,
                                 std::optional<std::int64_t> storage_offset) const {
  return halfgrad::as_strided(self(), size, stride, storage_offset);
}
Tensor TensorMethods::operator[](std::int64_t index) const { return select(0, index); }
Tensor TensorMethods::select(std::int64_t dim, std::int64_t index) const {
  return halfgrad::select(self(), dim, index);
}
Tensor TensorMethods::slice(std::int64_t dim, std::optional<std::int64_t> start,
                            std::optional<std::int64_t> end, std::int64_t step) const {
  return halfgrad::slice(self(), dim, start, end, step);
}
Tensor TensorMethods::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return halfgrad::narrow(self(), dim, start, length);
}
std::vector<Tensor> TensorMethods::split(std::int64_t split_size, std::int64_t dim) const {
  return halfgrad::split(self(), split_size, dim);
}
std::vector<Tensor> TensorMethods::split(const std::vector<std::int64_t>& split_sizes,
                                         std::int64_t dim) const {
  return halfgrad::split(self(), split_sizes, dim);
}
std::vector<Tensor> TensorMethods::split_with_sizes(const std::vector<std::int64_t>& split_sizes,
                                                    std::int64_t dim) const {
  return halfgrad::split_with_sizes(self(), split_sizes, dim);
}
std::vector<Tensor> TensorMethods::chunk(std::int64_t chunks, std::int64_t dim) const {
  return halfgrad::chunk(self(), chunks, dim);
}
std::vector<Tensor> TensorMethods::unbind(std::int64_t dim) const {
  return halfgrad::unbind(self(), dim);
}
Tensor TensorMethods::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return halfgrad::diagonal(self(), offset, dim1, dim2);
}
Tensor TensorMethods::diag(std::int64_t diagonal) const { return halfgrad::diag(self(), diagonal); }
Tensor TensorMethods::trace() const { return halfgrad::trace(self()); }
Tensor TensorMethods::flip(const Dims& dims) const { return halfgrad::flip(self(), dims); }
Tensor TensorMethods::roll(const Dims& shifts, const Dims& dims) const {
  return halfgrad::roll(self(), shifts, dims);
}
Tensor TensorMethods::repeat(const Dims& repeats) const {
  return halfgrad::repeat(self(), repeats);
}
Tensor TensorMethods::tril(std::int64_t diagonal) const { return halfgrad::tril(self(), diagonal); }
Tensor TensorMethods::triu(std::int64_t diagonal) const { return halfgrad::triu(self(), diagonal); }

Tensor TensorMethods::sum(std::optional<DType> dtype) const { return halfgrad::sum(self(), dtype); }
Tensor TensorMethods::sum(const Dims& dim, bool keepdim, std::optional<DType> dtype) const {
  return halfgrad::sum(self(), dim, keepdim, dtype);
}
Tensor TensorMethods::sum_to_size(const Shape& sizes) const {
  return halfgrad::sum_to_size(self(), sizes);
}
Tensor TensorMethods::mean(std::optional<DType> dtype) const {
  return halfgrad::mean(self(), dtype);
}
Tensor TensorMethods::mean(const Dims& dim, bool keepdim, std::optional<DType> dtype) const {
  return halfgrad::mean(self(), dim, keepdim, dtype);
}
Tensor TensorMethods::prod(std::optional<DType> dtype) const {
  return halfgrad::prod(self(), dtype);
}
Tensor TensorMethods::prod(std::int64_t dim, bool keepdim, std::optional<DType> dtype) const {
  return halfgrad::prod(self(), dim, keepdim, dtype);
}
Tensor TensorMethods::var(const Dims& dim, std::optional<Scalar> correction, bool keepdim) const {
  return halfgrad::var(self(), dim, correction, keepdim);
}
Tensor TensorMethods::std(const Dims& dim, std::optional<Scalar> correction, bool keepdim) const {
  return halfgrad::std(self(), dim, correction, keepdim);
}
Tensor TensorMethods::max() const { return halfgrad::max(self()); }
Tensor TensorMethods::min() const { return halfgrad::min(self()); }
Tensor TensorMethods::max(const Tensor& other) const { return halfgrad::max(self(), other); }
Tensor TensorMethods::min(const Tensor& other) const { return halfgrad::min(self(), other); }
std::tuple<Tensor, Tensor> TensorMethods::max(std::int64_t dim, bool keepdim) const {
  return halfgrad::max(self(), dim, keepdim);
}
std::tuple<Tensor, Tensor> TensorMethods::min(std::int64_t dim, bool keepdim) const {
  return halfgrad::min(self(), dim, keepdim);
}
Tensor TensorMethods::amax(const Dims& dim, bool keepdim) const {
  return halfgrad::amax(self(), dim, keepdim);
}
Tensor TensorMethods::amin(const Dims& dim, bool keepdim) const {
  return halfgrad::amin(self(), dim, keepdim);
}
Tensor TensorMethods::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
  return halfgrad::argmax(self(), dim, keepdim);
}
Tensor TensorMethods::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
  return halfgrad::argmin(self(), dim, keepdim);
}
Tensor TensorMethods::norm(Scalar p) const { return halfgrad::norm(self(), p); }
Tensor TensorMethods::norm(Scalar p, const Dims& dim, bool keepdim) const {
  return halfgrad::norm(self(), p, dim, keepdim);
}
Tensor TensorMethods::logsumexp(const Dims& dim, bool keepdim) const {
  return halfgrad::logsumexp(self(), dim, keepdim);
}
Tensor TensorMethods::all() const { return halfgrad::all(self()); }
Tensor TensorMethods::all(std::int64_t dim, bool keepdim) const {
  return halfgrad::all(self(), dim, keepdim);
}
Tensor TensorMethods::any() const { return halfgrad::any(self()); }
Tensor TensorMethods::any(std::int64_t dim, bool keepdim) const {
  return halfgrad::any(self(), dim, keepdim);
}
Tensor TensorMethods::softmax(std::int64_t dim, std::optional<DType> dtype) const {
  return halfgrad::softmax(self(), dim, dtype);
}
Tensor TensorMethods::log_softmax(std::int64_t dim, std::optional<DType> dtype) const {
  return halfgrad::log_softmax(self(), dim, dtype);
}

}  // namespace halfgrad::detail
