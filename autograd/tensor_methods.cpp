#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

Tensor Tensor::to(DType dtype) const { return halfgrad::to(*this, dtype); }
Tensor Tensor::to(Device device) const { return halfgrad::to(*this, device); }
Tensor Tensor::clone() const { return halfgrad::clone(*this); }
Tensor Tensor::contiguous() const { return halfgrad::contiguous(*this); }
Tensor Tensor::reshape(const Shape& sizes) const { return halfgrad::reshape(*this, sizes); }
Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return halfgrad::transpose(*this, dim0, dim1);
}
Tensor Tensor::permute(const Shape& dims) const { return halfgrad::permute(*this, dims); }
Tensor Tensor::squeeze() const { return halfgrad::squeeze(*this); }
Tensor Tensor::squeeze(std::int64_t dim) const { return halfgrad::squeeze(*this, dim); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return halfgrad::unsqueeze(*this, dim); }
Tensor Tensor::expand(const Shape& sizes) const { return halfgrad::expand(*this, sizes); }
Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start,
                     std::optional<std::int64_t> end, std::int64_t step) const {
  return halfgrad::slice(*this, dim, start, end, step);
}
Tensor Tensor::select(std::int64_t dim, std::int64_t index) const {
  return halfgrad::select(*this, dim, index);
}
Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
  return halfgrad::flatten(*this, start_dim, end_dim);
}
Tensor Tensor::mean(std::optional<DType> dtype) const { return halfgrad::mean(*this, dtype); }
Tensor Tensor::mean(const Shape& dim, bool keepdim, std::optional<DType> dtype) const {
  return halfgrad::mean(*this, dim, keepdim, dtype);
}
Tensor Tensor::max() const { return halfgrad::max(*this); }
Tensor Tensor::min() const { return halfgrad::min(*this); }
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
  return halfgrad::argmax(*this, dim, keepdim);
}
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
  return halfgrad::argmin(*this, dim, keepdim);
}
Tensor Tensor::norm(Scalar p) const { return halfgrad::norm(*this, p); }
Tensor Tensor::all() const { return halfgrad::all(*this); }
Tensor Tensor::any() const { return halfgrad::any(*this); }
Tensor Tensor::softmax(std::int64_t dim) const { return halfgrad::softmax(*this, dim); }
Tensor Tensor::log_softmax(std::int64_t dim) const { return halfgrad::log_softmax(*this, dim); }
Tensor Tensor::matmul(const Tensor& other) const { return halfgrad::matmul(*this, other); }
Tensor Tensor::mm(const Tensor& other) const { return halfgrad::mm(*this, other); }
Tensor Tensor::sum(std::optional<DType> dtype) const { return halfgrad::sum(*this, dtype); }
Tensor Tensor::sum(const Shape& dim, bool keepdim, std::optional<DType> dtype) const {
  return halfgrad::sum(*this, dim, keepdim, dtype);
}

}  // namespace halfgrad
