#include <algorithm>
#include <numeric>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

// Parts of a tensor along one dimension. All are views; slice() and select() define the gradients.
namespace halfgrad {
namespace {

int dim_to_split(const Tensor& self, std::int64_t dim, const char* op) {
  if (self.dim() == 0) {
    detail::fail(op, "expected a tensor of one dimension or more, got a 0-dimensional one");
  }
  return wrap_dim(dim, static_cast<int>(self.dim()), op);
}

}  // namespace

// y[..., i, ...] = x[..., start + i, ...],  0 <= i < length
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const int d = dim_to_split(self, dim, "narrow");
  const std::int64_t size = self.size(d);
  const std::int64_t from = start < 0 ? start + size : start;
  if (from < 0 || length < 0 || from > size || length > size - from) {
    detail::fail("narrow", "expected a part of the size {}, got start {} and length {}", size,
                 start, length);
  }
  return slice(self, d, from, from + length);
}

std::vector<Tensor> split_with_sizes(const Tensor& self,
                                     const std::vector<std::int64_t>& split_sizes,
                                     std::int64_t dim) {
  return split(self, split_sizes, dim);
}

std::vector<Tensor> split(const Tensor& self, const std::vector<std::int64_t>& split_sizes,
                          std::int64_t dim) {
  const int d = dim_to_split(self, dim, "split");
  if (std::reduce(split_sizes.begin(), split_sizes.end()) != self.size(d)) {
    detail::fail("split", "expected sizes that add up to {}, got a sum of {}", self.size(d),
                 std::reduce(split_sizes.begin(), split_sizes.end()));
  }
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t size : split_sizes) {
    parts.push_back(narrow(self, d, start, size));
    start += size;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& self, std::int64_t split_size, std::int64_t dim) {
  const int d = dim_to_split(self, dim, "split");
  const std::int64_t size = self.size(d);
  if (split_size < 0 || (split_size == 0 && size > 0)) {
    detail::fail("split", "expected a positive size, got {}", split_size);
  }
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  do {  // an empty tensor is one part
    const std::int64_t length = std::min(split_size, size - start);
    parts.push_back(narrow(self, d, start, length));
    start += length;
  } while (start < size);
  return parts;
}

std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  const int d = dim_to_split(self, dim, "chunk");
  if (chunks < 1) detail::fail("chunk", "expected at least 1 chunk, got {}", chunks);
  if (self.size(d) == 0) return split(self, std::vector<std::int64_t>(chunks, 0), d);
  return split(self, (self.size(d) - 1) / chunks + 1, d);
}

std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim) {
  const int d = dim_to_split(self, dim, "unbind");
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < self.size(d); ++i) parts.push_back(select(self, d, i));
  return parts;
}

}  // namespace halfgrad
