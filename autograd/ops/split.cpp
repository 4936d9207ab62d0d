#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/ops.h>

// Parts of a tensor along one dimension: all of them views.
namespace halfgrad {
namespace {

int dim_to_split(const Tensor& self, std::int64_t dim, const char* op) {
  if (self.dim() == 0) {
    throw std::invalid_argument(std::string(op) +
                                ": expected a tensor with dimensions, got one without");
  }
  return wrap_dim(dim, static_cast<int>(self.dim()), op);
}

}  // namespace

Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const int d = dim_to_split(self, dim, "narrow");
  const std::int64_t size = self.size(d);
  const std::int64_t from = start < 0 ? start + size : start;
  if (from < 0 || length < 0 || from > size || length > size - from) {
    throw std::invalid_argument("narrow: expected a part of the size " + std::to_string(size) +
                                ", got start " + std::to_string(start) + " and length " +
                                std::to_string(length));
  }
  return slice(self, d, from, from + length);
}

std::vector<Tensor> split(const Tensor& self, const std::vector<std::int64_t>& split_sizes,
                          std::int64_t dim) {
  const int d = dim_to_split(self, dim, "split");
  if (std::reduce(split_sizes.begin(), split_sizes.end()) != self.size(d)) {
    throw std::invalid_argument(
        "split: expected sizes that add up to " + std::to_string(self.size(d)) + ", got a sum of " +
        std::to_string(std::reduce(split_sizes.begin(), split_sizes.end())));
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
    throw std::invalid_argument("split: expected a positive size, got " +
                                std::to_string(split_size));
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
  if (chunks < 1) {
    throw std::invalid_argument("chunk: expected at least 1 chunk, got " + std::to_string(chunks));
  }
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
