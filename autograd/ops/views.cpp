#include <limits>
#include <memory>
#include <utility>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// dx = zeros, with dy in the slice
Tensor slice_backward(const Tensor& grad, const Shape& sizes, std::int64_t dim, std::int64_t start,
                      std::int64_t end, std::int64_t step) {
  Array whole = Array::full(sizes, 0, grad.dtype(), grad.device());
  whole.slice(dim, start, end, step).copy_(grad.array());
  return record("slice_backward", std::move(whole), std::span(&grad, 1),
                [=](const Tensor& again, std::span<Tensor> grad_inputs) {
                  grad_inputs[0] = slice(again, dim, start, end, step);
                });
}

}  // namespace

void follow_base_of(const Tensor& self, const Tensor& output) {
  const TensorImpl& seen = *self.impl();
  TensorImpl& view = *output.impl();
  view.is_view = view.array.storage() == seen.array.storage();
  if (!view.is_view) return;
  view.is_inference = seen.is_inference;  // in every grad mode
  if (!GradMode::is_enabled()) return;
  const bool is_variable = seen.requires_grad && self.is_leaf();
  if (!seen.is_view || is_variable) {
    view.view_of = std::make_unique<ViewOf>(self.impl());
  } else if (seen.view_of != nullptr) {
    view.view_of = std::make_unique<ViewOf>(seen.view_of->base);
  }
}

Tensor unsafe_view(const Tensor& temporary, const Shape& sizes) {
  return record("reshape", temporary.array().reshape(sizes), std::span(&temporary, 1),
                [from = temporary.sizes()](const Tensor& grad, std::span<Tensor> grad_inputs) {
                  grad_inputs[0] = reshape(grad, from);
                });
}

}  // namespace detail

using detail::record_view;

// y is x with other sizes and strides; dx is dy seen through the inverse view. expand repeats
// elements of x, so there dx = the sum of dy over the repeated dimensions.

Tensor reshape(const Tensor& self, const Shape& sizes) {
  return record_view("reshape", self, self.array().reshape(sizes),
                     [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  return record_view("transpose", self, self.array().transpose(dim0, dim1),
                     [=](const Tensor& g) { return transpose(g, dim0, dim1); });
}

Tensor permute(const Tensor& self, const Shape& dims) {
  Array result = self.array().permute(dims);
  Shape inverse = dims;
  for (int i = 0; i < dims.size(); ++i) inverse[wrap_dim(dims[i], dims.size(), "permute")] = i;
  return record_view("permute", self, std::move(result),
                     [inverse](const Tensor& g) { return permute(g, inverse); });
}

Tensor squeeze(const Tensor& self) {
  Shape sizes;
  for (const std::int64_t size : self.sizes()) {
    if (size != 1) sizes.push_back(size);
  }
  return record_view("squeeze", self, self.array().reshape(sizes),
                     [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor squeeze(const Tensor& self, std::int64_t dim) {
  return record_view("squeeze", self, self.array().squeeze(dim),
                     [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor unsqueeze(const Tensor& self, std::int64_t dim) {
  return record_view("unsqueeze", self, self.array().unsqueeze(dim),
                     [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor expand(const Tensor& self, const Shape& sizes) {
  return record_view("expand", self, self.array().expand(sizes),
                     [from = self.sizes()](const Tensor& g) { return sum_to_size(g, from); });
}

Tensor slice(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step) {
  const std::int64_t from = start.value_or(0);
  const std::int64_t to = end.value_or(std::numeric_limits<std::int64_t>::max());
  return record_view("slice", self, self.array().slice(dim, from, to, step),
                     [=, sizes = self.sizes()](const Tensor& g) {
                       return detail::slice_backward(g, sizes, dim, from, to, step);
                     });
}

Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) {
  Array result = self.array().select(dim, index);
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "select");
  const std::int64_t i = index < 0 ? index + self.size(d) : index;
  return record_view("select", self, std::move(result), [=, sizes = self.sizes()](const Tensor& g) {
    return detail::slice_backward(unsqueeze(g, d), sizes, d, i, i + 1, 1);
  });
}

Tensor flatten(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) {
  const int start = wrap_dim(start_dim, static_cast<int>(self.dim()), "flatten");
  const int end = wrap_dim(end_dim, static_cast<int>(self.dim()), "flatten");
  if (start > end) {
    detail::fail("flatten", "expected start_dim <= end_dim, got {} and {}", start_dim, end_dim);
  }
  Shape sizes;
  std::int64_t merged = 1;
  for (int i = 0; i < self.dim(); ++i) {
    if (i < start || i > end) {
      sizes.push_back(self.size(i));
    } else {
      merged *= self.size(i);
      if (i == end) sizes.push_back(merged);
    }
  }
  return reshape(self, self.dim() == 0 ? Shape{1} : sizes);
}

}  // namespace halfgrad
