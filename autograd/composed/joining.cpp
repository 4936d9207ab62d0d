#include <algorithm>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

Tensor joined_along(const char* op, const std::vector<Tensor>& tensors, std::int64_t dim) {
  if (tensors.empty()) detail::fail(op, "expected at least one tensor, got none");
  return detail::with_op_name(op, "cat", [&] { return cat(tensors, dim); });
}

// Returns the size along `dim` of a tensor of at least `dims` dimensions.
std::int64_t size_to_part(const char* op, const Tensor& self, std::int64_t dim, int dims) {
  if (self.dim() < dims) {
    detail::fail(op, "expected a tensor of at least {} dimensions, got shape {}", dims,
                 self.sizes());
  }
  return self.size(wrap_dim(dim, static_cast<int>(self.dim()), op));
}

std::vector<Tensor> equal_parts(const char* op, const Tensor& self, std::int64_t sections,
                                std::int64_t dim, int dims) {
  const std::int64_t size = size_to_part(op, self, dim, dims);
  if (sections < 1 || size % sections != 0) {
    detail::fail(op, "expected sections that divide the size {}, got {}", size, sections);
  }
  return tensor_split(self, sections, dim);
}

std::vector<Tensor> parts_between(const char* op, const Tensor& self,
                                  const std::vector<std::int64_t>& indices, std::int64_t dim,
                                  int dims) {
  const std::int64_t size = size_to_part(op, self, dim, dims);
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t index : indices) {
    parts.push_back(slice(self, dim, start, index));
    start = index;
  }
  parts.push_back(slice(self, dim, start, size));
  return parts;
}

std::int64_t horizontal(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }

}  // namespace

Tensor hstack(const std::vector<Tensor>& tensors) {
  const std::vector<Tensor> parts = atleast_1d(tensors);
  return joined_along("hstack", parts, !parts.empty() && parts[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(const std::vector<Tensor>& tensors) {
  return joined_along("vstack", atleast_2d(tensors), 0);
}
Tensor row_stack(const std::vector<Tensor>& tensors) {
  return joined_along("row_stack", atleast_2d(tensors), 0);
}

Tensor dstack(const std::vector<Tensor>& tensors) {
  return joined_along("dstack", atleast_3d(tensors), 2);
}

Tensor column_stack(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    parts.push_back(t.dim() < 2 ? reshape(t, {t.numel(), 1}) : t);
  }
  return joined_along("column_stack", parts, 1);
}

std::vector<Tensor> tensor_split(const Tensor& self, std::int64_t sections, std::int64_t dim) {
  const std::int64_t size = size_to_part("tensor_split", self, dim, 1);
  if (sections < 1) {
    detail::fail("tensor_split", "expected at least 1 section, got {}", sections);
  }
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t end = start + size / sections + (i < size % sections ? 1 : 0);
    parts.push_back(slice(self, dim, start, end));
    start = end;
  }
  return parts;
}
std::vector<Tensor> tensor_split(const Tensor& self, const std::vector<std::int64_t>& indices,
                                 std::int64_t dim) {
  return parts_between("tensor_split", self, indices, dim, 1);
}

std::vector<Tensor> hsplit(const Tensor& self, std::int64_t sections) {
  return equal_parts("hsplit", self, sections, horizontal(self), 1);
}
std::vector<Tensor> hsplit(const Tensor& self, const std::vector<std::int64_t>& indices) {
  return parts_between("hsplit", self, indices, horizontal(self), 1);
}
std::vector<Tensor> vsplit(const Tensor& self, std::int64_t sections) {
  return equal_parts("vsplit", self, sections, 0, 2);
}
std::vector<Tensor> vsplit(const Tensor& self, const std::vector<std::int64_t>& indices) {
  return parts_between("vsplit", self, indices, 0, 2);
}
std::vector<Tensor> dsplit(const Tensor& self, std::int64_t sections) {
  return equal_parts("dsplit", self, sections, 2, 3);
}
std::vector<Tensor> dsplit(const Tensor& self, const std::vector<std::int64_t>& indices) {
  return parts_between("dsplit", self, indices, 2, 3);
}

}  // namespace halfgrad
