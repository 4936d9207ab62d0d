#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

using ViewFunction = std::function<Tensor(const Tensor&)>;

// What a view of `self` shows of self's base.
std::unique_ptr<ViewOf> seen_through(const Tensor& self, ViewFunction again) {
  const auto& impl = self.impl();
  if (!impl->is_view) return std::make_unique<ViewOf>(impl, std::move(again));
  if (impl->view_of == nullptr) return nullptr;
  auto composed = [first = impl->view_of->replay, again = std::move(again)](const Tensor& base) {
    return again(first(base));
  };
  return std::make_unique<ViewOf>(impl->view_of->base, std::move(composed));
}

// Records a view: shares the storage, and its gradient goes back through `backward`. `again` is the
// same view of another tensor.
template <class Again, class F>
Tensor view(const char* name, const Tensor& self, Array result, Again again, F backward) {
  Tensor output = record(name, std::move(result), std::span(&self, 1),
                         [backward](const Tensor& grad, std::span<Tensor> grad_inputs) {
                           grad_inputs[0] = backward(grad);
                         });
  TensorImpl& impl = *output.impl();
  impl.is_view = output.array().storage() == self.array().storage();
  if (impl.is_view && GradMode::is_enabled()) impl.view_of = seen_through(self, again);
  if (impl.is_view && self.is_inference()) impl.is_inference = true;
  return output;
}

// Puts a gradient back where a slice was taken: zeros everywhere else.
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
}  // namespace detail

using detail::view;

Tensor reshape(const Tensor& self, const Shape& sizes) {
  return view(
      "reshape", self, self.array().reshape(sizes),
      [sizes](const Tensor& x) { return reshape(x, sizes); },
      [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  const auto swap = [=](const Tensor& x) { return transpose(x, dim0, dim1); };
  return view("transpose", self, self.array().transpose(dim0, dim1), swap, swap);
}

Tensor permute(const Tensor& self, const Shape& dims) {
  Array result = self.array().permute(dims);
  Shape inverse = dims;
  for (int i = 0; i < dims.size(); ++i) inverse[wrap_dim(dims[i], dims.size(), "permute")] = i;
  return view(
      "permute", self, std::move(result), [dims](const Tensor& x) { return permute(x, dims); },
      [inverse](const Tensor& g) { return permute(g, inverse); });
}

Tensor squeeze(const Tensor& self) {
  Shape sizes;
  for (const std::int64_t size : self.sizes()) {
    if (size != 1) sizes.push_back(size);
  }
  return view(
      "squeeze", self, self.array().reshape(sizes), [](const Tensor& x) { return squeeze(x); },
      [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor squeeze(const Tensor& self, std::int64_t dim) {
  return view(
      "squeeze", self, self.array().squeeze(dim),
      [dim](const Tensor& x) { return squeeze(x, dim); },
      [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor unsqueeze(const Tensor& self, std::int64_t dim) {
  return view(
      "unsqueeze", self, self.array().unsqueeze(dim),
      [dim](const Tensor& x) { return unsqueeze(x, dim); },
      [from = self.sizes()](const Tensor& g) { return reshape(g, from); });
}

Tensor expand(const Tensor& self, const Shape& sizes) {
  return view(
      "expand", self, self.array().expand(sizes),
      [sizes](const Tensor& x) { return expand(x, sizes); },
      [from = self.sizes()](const Tensor& g) { return sum_to_size(g, from); });
}

Tensor slice(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step) {
  const std::int64_t from = start.value_or(0);
  const std::int64_t to = end.value_or(std::numeric_limits<std::int64_t>::max());
  return view(
      "slice", self, self.array().slice(dim, from, to, step),
      [=](const Tensor& x) { return slice(x, dim, from, to, step); },
      [=, sizes = self.sizes()](const Tensor& g) {
        return detail::slice_backward(g, sizes, dim, from, to, step);
      });
}

Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) {
  Array result = self.array().select(dim, index);
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "select");
  const std::int64_t i = index < 0 ? index + self.size(d) : index;
  return view(
      "select", self, std::move(result), [=](const Tensor& x) { return select(x, d, i); },
      [=, sizes = self.sizes()](const Tensor& g) {
        return detail::slice_backward(unsqueeze(g, d), sizes, d, i, i + 1, 1);
      });
}

Tensor flatten(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) {
  const int start = wrap_dim(start_dim, static_cast<int>(self.dim()), "flatten");
  const int end = wrap_dim(end_dim, static_cast<int>(self.dim()), "flatten");
  if (start > end) throw std::invalid_argument("flatten: expected start_dim <= end_dim");
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
