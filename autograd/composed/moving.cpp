#include <halfgrad/autograd/composed/moving.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

using EachTensor = Tensor (*)(const Tensor&);

std::vector<Tensor> of_each(const std::vector<Tensor>& tensors, EachTensor f) {
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) results.push_back(f(t));
  return results;
}

// Returns the parts of a dimension of this size, with the size that fits for a -1.
Shape unflattened_sizes(std::int64_t size, const Shape& sizes) {
  Shape parts = sizes;
  int inferred = -1;
  std::int64_t known = 1;
  bool fits = !sizes.empty();
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && inferred < 0) {
      inferred = i;
    } else {
      fits = fits && sizes[i] >= 0 && !__builtin_mul_overflow(known, sizes[i], &known);
    }
  }
  if (fits && inferred >= 0) {
    fits = known > 0 && size % known == 0;
    if (fits) parts[inferred] = size / known;
  } else {
    fits = fits && known == size;
  }
  if (!fits) {
    detail::fail("unflatten", "expected sizes whose product is {}, one of them -1 at most, got {}",
                 size, sizes);
  }
  return parts;
}

}  // namespace

Tensor movedim(const Tensor& self, const Shape& source, const Shape& destination) {
  if (source.size() != destination.size()) {
    detail::fail("movedim", "expected a destination for each source, got {} and {}", source,
                 destination);
  }
  const int ndim = static_cast<int>(self.dim());
  Shape order = self.sizes();
  unsigned moved = 0, placed = 0;
  for (int i = 0; i < source.size(); ++i) {
    const int from = wrap_dim(source[i], ndim, "movedim");
    const int to = wrap_dim(destination[i], ndim, "movedim");
    if (((moved >> from | placed >> to) & 1U) != 0) {
      detail::fail("movedim", "expected each dimension once, got {} and {}", source, destination);
    }
    moved |= 1U << from;
    placed |= 1U << to;
    if (ndim > 0) order[to] = from;
  }
  int next = 0;
  for (int to = 0; to < ndim; ++to) {
    if ((placed >> to & 1U) != 0) continue;
    while ((moved >> next & 1U) != 0) ++next;
    order[to] = next++;
  }
  return permute(self, order);
}
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination) {
  return movedim(self, Shape{source}, Shape{destination});
}
Tensor moveaxis(const Tensor& self, const Shape& source, const Shape& destination) {
  return movedim(self, source, destination);
}
Tensor moveaxis(const Tensor& self, std::int64_t source, std::int64_t destination) {
  return movedim(self, source, destination);
}

Tensor swapaxes(const Tensor& self, std::int64_t axis0, std::int64_t axis1) {
  return transpose(self, axis0, axis1);
}
Tensor swapdims(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  return transpose(self, dim0, dim1);
}

Tensor unflatten(const Tensor& self, std::int64_t dim, const Shape& sizes) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "unflatten");
  if (self.dim() == 0) {
    detail::fail("unflatten",
                 "expected a tensor of one dimension or more, got a 0-dimensional one");
  }
  const Shape parts = unflattened_sizes(self.size(d), sizes);
  Shape all = self.sizes();
  all.erase(d);
  for (int i = 0; i < parts.size(); ++i) all.insert(d + i, parts[i]);
  return reshape(self, all);
}

Tensor unfold(const Tensor& self, std::int64_t dimension, std::int64_t size, std::int64_t step) {
  const int d = wrap_dim(dimension, static_cast<int>(self.dim()), "unfold");
  const Tensor x = atleast_1d(self);
  if (size < 0 || size > x.size(d) || step < 1) {
    detail::fail("unfold", "expected 0 <= size <= {} and step >= 1, got size {} and step {}",
                 x.size(d), size, step);
  }
  Shape sizes = x.sizes(), strides = x.strides();
  const std::int64_t stride = strides[d];
  sizes[d] = (x.size(d) - size) / step + 1;
  // One window has no neighbour: its stride is never used, and step * stride could overflow.
  if (sizes[d] > 1) strides[d] = step * stride;
  if (self.dim() == 0) sizes = strides = {};
  sizes.push_back(size);
  strides.push_back(stride);
  return as_strided(self, sizes, strides);
}

Tensor atleast_1d(const Tensor& self) { return self.dim() < 1 ? reshape(self, {1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  return self.dim() < 2 ? unsqueeze(atleast_1d(self), 0) : self;
}
Tensor atleast_3d(const Tensor& self) {
  return self.dim() < 3 ? unsqueeze(atleast_2d(self), -1) : self;
}
std::vector<Tensor> atleast_1d(const std::vector<Tensor>& tensors) {
  return of_each(tensors, atleast_1d);
}
std::vector<Tensor> atleast_2d(const std::vector<Tensor>& tensors) {
  return of_each(tensors, atleast_2d);
}
std::vector<Tensor> atleast_3d(const std::vector<Tensor>& tensors) {
  return of_each(tensors, atleast_3d);
}

Tensor fliplr(const Tensor& self) {
  if (self.dim() < 2) {
    detail::fail("fliplr", "expected at least two dimensions, got shape {}", self.sizes());
  }
  return flip(self, 1);
}
Tensor flipud(const Tensor& self) {
  if (self.dim() < 1) {
    detail::fail("flipud", "expected at least one dimension, got shape {}", self.sizes());
  }
  return flip(self, 0);
}

// y_ij = x_j(n-1-i) for one quarter turn of x [m, n]
Tensor rot90(const Tensor& self, std::int64_t k, const Dims& dims) {
  if (dims.size() != 2 || self.dim() < 2) {
    detail::fail("rot90", "expected two dimensions of a tensor, got dims {} of shape {}", dims,
                 self.sizes());
  }
  const int first = wrap_dim(dims[0], static_cast<int>(self.dim()), "rot90");
  const int second = wrap_dim(dims[1], static_cast<int>(self.dim()), "rot90");
  if (first == second) detail::fail("rot90", "expected two different dimensions, got {}", dims);
  switch (k % 4 + (k % 4 < 0 ? 4 : 0)) {
    case 1:
      return transpose(flip(self, second), first, second);
    case 2:
      return flip(self, {first, second});
    case 3:
      return transpose(flip(self, first), first, second);
    default:
      return clone(self);
  }
}

}  // namespace halfgrad
