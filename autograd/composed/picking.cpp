#include <algorithm>
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
  const auto* const flag = flags.data_as<bool>();
  const std::int64_t count = std::count(flag, flag + flags.numel(), true);
  // Writes every position, and goes on after those to keep. A branch would be slow for random
  // flags. One more element takes the positions after the last one to keep.
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count) + 1);
  std::int64_t* position = positions.data();
  for (std::int64_t i = 0; i < flags.numel(); ++i) {
    *position = i;
    position += flag[i] ? 1 : 0;
  }
  positions.pop_back();
  const Shape strides = contiguous_strides(self.sizes());
  std::vector<std::int64_t> places;
  places.reserve(positions.size() * static_cast<std::size_t>(self.dim()));
  for (std::int64_t rest : positions) {
    for (int d = 0; d < strides.size() - 1; ++d) {
      places.push_back(rest / strides[d]);
      rest %= strides[d];
    }
    if (!strides.empty()) places.push_back(rest);  // the last stride is 1
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
  // Indices count modulo the size, as in PyTorch, so -1 is the last element.
  const Tensor places = self.size(d) == 0 ? indices : remainder(indices, self.size(d));
  return gather(expand(self, sizes), d, expand(places, picked));
}

}  // namespace halfgrad
