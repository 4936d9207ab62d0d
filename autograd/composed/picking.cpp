#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

void expect_index_dtype(const char* op, const Tensor& index) {
  if (index.dtype() != kLong && index.dtype() != kInt) {
    detail::fail(op, "expected indices of int64 or int32, got {}", index.dtype());
  }
}

}  // namespace

Tensor nonzero(const Tensor& self) {
  const Array flags = self.to(kBool).to(Device()).array().contiguous();
  const Shape strides = contiguous_strides(self.sizes());
  std::vector<std::int64_t> places;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < flags.numel(); ++i) {
    if (!flags.data_as<bool>()[i]) continue;
    ++count;
    for (int d = 0; d < strides.size(); ++d) places.push_back(i / strides[d] % self.size(d));
  }
  return tensor(places, {count, self.dim()}, {.device = self.device()});
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  if (mask.dtype() != kBool) {
    detail::fail("masked_select", "expected a mask of bool, got {}", mask.dtype());
  }
  const Shape sizes = broadcast_shapes(self.sizes(), mask.sizes(), "masked_select");
  return self.expand(sizes).index({mask.expand(sizes)});
}

// y[i] = flatten(x)[index[i]]
Tensor take(const Tensor& self, const Tensor& index) {
  expect_index_dtype("take", index);
  const std::int64_t count = self.numel();
  const Tensor given = index.to(kLong);
  const Tensor from_start = where((given < 0) & (given >= -count), given + count, given);
  const Tensor flat(detail::checked_indices("take", from_start.array(), count));
  const Tensor picked = index_select(flatten(self), 0, flatten(flat));
  return detail::unsafe_view(picked, index.sizes());
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<std::int64_t> dim) {
  expect_index_dtype("take_along_dim", indices);
  if (!dim) return gather(flatten(self), 0, flatten(indices));
  if (self.dim() != indices.dim()) {
    detail::fail("take_along_dim", "expected as many dimensions of both tensors, got {} and {}",
                 self.sizes(), indices.sizes());
  }
  const int d = wrap_dim(*dim, static_cast<int>(self.dim()), "take_along_dim");
  if (self.dim() == 0) return gather(self, 0, indices);
  Shape sizes = self.sizes();
  sizes[d] = indices.size(d);
  const Shape picked = broadcast_shapes(sizes, indices.sizes(), "take_along_dim");
  sizes = picked;
  sizes[d] = self.size(d);
  return gather(expand(self, sizes), d, expand(indices, picked));
}

}  // namespace halfgrad
