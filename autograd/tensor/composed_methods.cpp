#include <halfgrad/autograd/tensor/composed_methods.h>

#include <algorithm>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

// Gives `self` the array of the view that make_view() returns.
template <class F>
Tensor& become_view(const Tensor& self, const char* op, const F& make_view) {
  if (self.requires_grad()) {
    fail(op,
         "expected a tensor that does not require grad, got one that does; assign the result of "
         "the function without _");
  }
  self.set_data(make_view());
  return const_cast<Tensor&>(self);  // as in libtorch: the handle itself does not change
}

}  // namespace

Tensor ComposedMethods::movedim(const Shape& source, const Shape& destination) const {
  return halfgrad::movedim(self(), source, destination);
}
Tensor ComposedMethods::movedim(std::int64_t source, std::int64_t destination) const {
  return halfgrad::movedim(self(), source, destination);
}
Tensor ComposedMethods::moveaxis(const Shape& source, const Shape& destination) const {
  return halfgrad::moveaxis(self(), source, destination);
}
Tensor ComposedMethods::moveaxis(std::int64_t source, std::int64_t destination) const {
  return halfgrad::moveaxis(self(), source, destination);
}
Tensor ComposedMethods::swapaxes(std::int64_t axis0, std::int64_t axis1) const {
  return halfgrad::swapaxes(self(), axis0, axis1);
}
Tensor ComposedMethods::swapdims(std::int64_t dim0, std::int64_t dim1) const {
  return halfgrad::swapdims(self(), dim0, dim1);
}
Tensor ComposedMethods::unflatten(std::int64_t dim, const Shape& sizes) const {
  return halfgrad::unflatten(self(), dim, sizes);
}
Tensor ComposedMethods::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const {
  return halfgrad::unfold(self(), dimension, size, step);
}
Tensor ComposedMethods::fliplr() const { return halfgrad::fliplr(self()); }
Tensor ComposedMethods::flipud() const { return halfgrad::flipud(self()); }
Tensor ComposedMethods::rot90(std::int64_t k, const Dims& dims) const {
  return halfgrad::rot90(self(), k, dims);
}
std::vector<Tensor> ComposedMethods::tensor_split(std::int64_t sections, std::int64_t dim) const {
  return halfgrad::tensor_split(self(), sections, dim);
}
std::vector<Tensor> ComposedMethods::tensor_split(const std::vector<std::int64_t>& indices,
                                                  std::int64_t dim) const {
  return halfgrad::tensor_split(self(), indices, dim);
}
std::vector<Tensor> ComposedMethods::hsplit(std::int64_t sections) const {
  return halfgrad::hsplit(self(), sections);
}
std::vector<Tensor> ComposedMethods::hsplit(const std::vector<std::int64_t>& indices) const {
  return halfgrad::hsplit(self(), indices);
}
std::vector<Tensor> ComposedMethods::vsplit(std::int64_t sections) const {
  return halfgrad::vsplit(self(), sections);
}
std::vector<Tensor> ComposedMethods::vsplit(const std::vector<std::int64_t>& indices) const {
  return halfgrad::vsplit(self(), indices);
}
std::vector<Tensor> ComposedMethods::dsplit(std::int64_t sections) const {
  return halfgrad::dsplit(self(), sections);
}
std::vector<Tensor> ComposedMethods::dsplit(const std::vector<std::int64_t>& indices) const {
  return halfgrad::dsplit(self(), indices);
}
Tensor ComposedMethods::ravel() const { return self().reshape({-1}); }
Tensor ComposedMethods::broadcast_to(const Shape& sizes) const {
  return halfgrad::broadcast_to(self(), sizes);
}
Tensor ComposedMethods::tile(const Shape& dims) const { return halfgrad::tile(self(), dims); }
Tensor ComposedMethods::repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim,
                                          std::optional<std::int64_t> output_size) const {
  return halfgrad::repeat_interleave(self(), repeats, dim, output_size);
}
Tensor ComposedMethods::repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim,
                                          std::optional<std::int64_t> output_size) const {
  return halfgrad::repeat_interleave(self(), repeats, dim, output_size);
}
Tensor ComposedMethods::diag_embed(std::int64_t offset, std::int64_t dim1,
                                   std::int64_t dim2) const {
  return halfgrad::diag_embed(self(), offset, dim1, dim2);
}
Tensor ComposedMethods::diagflat(std::int64_t offset) const {
  return halfgrad::diagflat(self(), offset);
}
Tensor ComposedMethods::take(const Tensor& index) const { return halfgrad::take(self(), index); }
Tensor ComposedMethods::take_along_dim(const Tensor& indices,
                                       std::optional<std::int64_t> dim) const {
  return halfgrad::take_along_dim(self(), indices, dim);
}
Tensor ComposedMethods::scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return halfgrad::scatter(self(), dim, index, src);
}
Tensor ComposedMethods::scatter(std::int64_t dim, const Tensor& index, Scalar value) const {
  return halfgrad::scatter(self(), dim, index, value);
}
Tensor ComposedMethods::index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                                  Scalar alpha) const {
  return halfgrad::index_add(self(), dim, index, source, alpha);
}
Tensor ComposedMethods::index_copy(std::int64_t dim, const Tensor& index,
                                   const Tensor& source) const {
  return halfgrad::index_copy(self(), dim, index, source);
}
Tensor ComposedMethods::index_fill(std::int64_t dim, const Tensor& index, Scalar value) const {
  return halfgrad::index_fill(self(), dim, index, value);
}
Tensor ComposedMethods::index_fill(std::int64_t dim, const Tensor& index,
                                   const Tensor& value) const {
  return halfgrad::index_fill(self(), dim, index, value);
}
Tensor ComposedMethods::masked_scatter(const Tensor& mask, const Tensor& source) const {
  return halfgrad::masked_scatter(self(), mask, source);
}
Tensor& ComposedMethods::scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return run_in_place(self(), "scatter_",
                      [&] { return halfgrad::scatter(self(), dim, index, src); });
}
Tensor& ComposedMethods::scatter_(std::int64_t dim, const Tensor& index, Scalar value) const {
  return run_in_place(self(), "scatter_",
                      [&] { return halfgrad::scatter(self(), dim, index, value); });
}
Tensor& ComposedMethods::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                    Scalar alpha) const {
  return run_in_place(self(), "index_add_",
                      [&] { return halfgrad::index_add(self(), dim, index, source, alpha); });
}
Tensor& ComposedMethods::index_copy_(std::int64_t dim, const Tensor& index,
                                     const Tensor& source) const {
  return run_in_place(self(), "index_copy_",
                      [&] { return halfgrad::index_copy(self(), dim, index, source); });
}
Tensor& ComposedMethods::index_fill_(std::int64_t dim, const Tensor& index, Scalar value) const {
  return run_in_place(self(), "index_fill_",
                      [&] { return halfgrad::index_fill(self(), dim, index, value); });
}
Tensor& ComposedMethods::index_fill_(std::int64_t dim, const Tensor& index,
                                     const Tensor& value) const {
  return run_in_place(self(), "index_fill_",
                      [&] { return halfgrad::index_fill(self(), dim, index, value); });
}
Tensor& ComposedMethods::masked_scatter_(const Tensor& mask, const Tensor& source) const {
  return run_in_place(self(), "masked_scatter_",
                      [&] { return halfgrad::masked_scatter(self(), mask, source); });
}
Tensor& ComposedMethods::fill_diagonal_(Scalar fill_value, bool wrap) const {
  const Shape& sizes = self().sizes();
  const auto differs = [&](std::int64_t size) { return size != sizes[0]; };
  if (sizes.size() < 2 || (sizes.size() > 2 && std::ranges::any_of(sizes, differs))) {
    fail("fill_diagonal_", "expected a matrix, or more dimensions of equal size, got shape {}",
         sizes);
  }
  const std::int64_t rows = sizes[0], block = wrap && sizes.size() == 2 ? sizes[1] + 1 : rows;
  for (std::int64_t row = 0; row < rows; row += block) {
    Tensor diagonal = self().slice(0, row);
    while (diagonal.dim() > 1) diagonal = diagonal.diagonal(0, 0, -1);
    diagonal.fill_(fill_value);
  }
  return const_cast<Tensor&>(self());  // as in libtorch: the handle itself does not change
}
Tensor ComposedMethods::median() const { return halfgrad::median(self()); }
std::tuple<Tensor, Tensor> ComposedMethods::median(std::int64_t dim, bool keepdim) const {
  return halfgrad::median(self(), dim, keepdim);
}
std::tuple<Tensor, Tensor> ComposedMethods::mode(std::int64_t dim, bool keepdim) const {
  return halfgrad::mode(self(), dim, keepdim);
}
std::tuple<Tensor, Tensor> ComposedMethods::kthvalue(std::int64_t k, std::int64_t dim,
                                                     bool keepdim) const {
  return halfgrad::kthvalue(self(), k, dim, keepdim);
}
Tensor ComposedMethods::quantile(double q, std::optional<std::int64_t> dim, bool keepdim) const {
  return halfgrad::quantile(self(), q, dim, keepdim);
}
Tensor ComposedMethods::quantile(const Tensor& q, std::optional<std::int64_t> dim,
                                 bool keepdim) const {
  return halfgrad::quantile(self(), q, dim, keepdim);
}
Tensor ComposedMethods::nansum() const { return halfgrad::nansum(self()); }
Tensor ComposedMethods::nansum(const Dims& dim, bool keepdim) const {
  return halfgrad::nansum(self(), dim, keepdim);
}
Tensor ComposedMethods::nanmean() const { return halfgrad::nanmean(self()); }
Tensor ComposedMethods::nanmean(const Dims& dim, bool keepdim) const {
  return halfgrad::nanmean(self(), dim, keepdim);
}
std::tuple<Tensor, Tensor> ComposedMethods::aminmax(std::optional<std::int64_t> dim,
                                                    bool keepdim) const {
  return halfgrad::aminmax(self(), dim, keepdim);
}
Tensor ComposedMethods::count_nonzero() const { return halfgrad::count_nonzero(self()); }
Tensor ComposedMethods::count_nonzero(const Dims& dim) const {
  return halfgrad::count_nonzero(self(), dim);
}
Tensor ComposedMethods::dist(const Tensor& other, Scalar p) const {
  const auto compute = [p](const Tensor& a, const Tensor& b) { return halfgrad::norm(a - b, p); };
  return composite("dist", Precision::wide_range, compute, self(), other);
}
Tensor ComposedMethods::cumprod(std::int64_t dim, std::optional<DType> dtype) const {
  return halfgrad::cumprod(self(), dim, dtype);
}
std::tuple<Tensor, Tensor> ComposedMethods::cummax(std::int64_t dim) const {
  return halfgrad::cummax(self(), dim);
}
std::tuple<Tensor, Tensor> ComposedMethods::cummin(std::int64_t dim) const {
  return halfgrad::cummin(self(), dim);
}
Tensor ComposedMethods::logcumsumexp(std::int64_t dim) const {
  return halfgrad::logcumsumexp(self(), dim);
}
Tensor ComposedMethods::diff(std::int64_t n, std::int64_t dim) const {
  return halfgrad::diff(self(), n, dim);
}

Tensor& ComposedMethods::squeeze_() const {
  return become_view(self(), "squeeze_", [&] { return self().squeeze(); });
}
Tensor& ComposedMethods::squeeze_(std::int64_t dim) const {
  return become_view(self(), "squeeze_", [&] { return self().squeeze(dim); });
}
Tensor& ComposedMethods::unsqueeze_(std::int64_t dim) const {
  return become_view(self(), "unsqueeze_", [&] { return self().unsqueeze(dim); });
}
Tensor& ComposedMethods::transpose_(std::int64_t dim0, std::int64_t dim1) const {
  return become_view(self(), "transpose_", [&] { return self().transpose(dim0, dim1); });
}
Tensor& ComposedMethods::t_() const {
  return become_view(self(), "t_", [&] { return self().t(); });
}

}  // namespace halfgrad::detail
