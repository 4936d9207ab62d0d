#include <utility>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

constexpr char kInterleave[] = "repeat_interleave";

// Returns the tensor whose elements are repeated, and the dimension.
std::pair<Tensor, int> to_interleave(const Tensor& self, std::optional<std::int64_t> dim) {
  if (!dim) return {flatten(self), 0};
  const int d = wrap_dim(*dim, static_cast<int>(self.dim()), kInterleave);
  if (self.dim() == 0) {
    detail::fail(kInterleave, "expected no dim for a 0-dimensional tensor, got {}", *dim);
  }
  return {self, d};
}

void expect_output_size(std::optional<std::int64_t> given, std::int64_t size) {
  if (given && *given != size) {
    detail::fail(kInterleave, "expected an output_size of {}, got {}", size, *given);
  }
}

[[noreturn]] void refuse_repeats_of(std::int64_t size) {
  detail::fail(kInterleave, "expected repeats of a total below 2^60, got more for the size {}",
               size);
}

std::vector<std::int64_t> counts_of(const Tensor& repeats) {
  if (repeats.dtype() != kLong && repeats.dtype() != kInt) {
    detail::fail(kInterleave, "expected repeats of int64 or int32, got {}", repeats.dtype());
  }
  std::vector<std::int64_t> counts = repeats.to_vector<std::int64_t>();
  for (const std::int64_t count : counts) {
    if (count < 0) detail::fail(kInterleave, "expected repeats >= 0, got {}", count);
  }
  return counts;
}

// Returns each i counts[i] times.
std::vector<std::int64_t> interleaved(const std::vector<std::int64_t>& counts,
                                      std::optional<std::int64_t> output_size) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;  // a vector cannot hold more indices
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    if (count >= kMost - total) refuse_repeats_of(std::ssize(counts));
    total += count;
  }
  expect_output_size(output_size, total);
  std::vector<std::int64_t> index;
  index.reserve(static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    index.insert(index.end(), static_cast<std::size_t>(counts[i]), static_cast<std::int64_t>(i));
  }
  return index;
}

}  // namespace

Tensor tile(const Tensor& self, const Shape& dims) {
  Shape repeats = dims;
  while (repeats.size() < self.dim()) repeats.insert(0, 1);
  for (const std::int64_t count : repeats) {
    if (count < 0) detail::fail("tile", "expected counts >= 0, got {}", dims);
  }
  return repeat(self, repeats);
}

// x [outer, n, inner] -> y [outer, n * repeats, inner],  y[:, i, :] = x[:, i / repeats, :]
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats, std::optional<std::int64_t> dim,
                         std::optional<std::int64_t> output_size) {
  if (repeats < 0) detail::fail(kInterleave, "expected repeats >= 0, got {}", repeats);
  const auto [x, d] = to_interleave(self, dim);
  const detail::Slabs slabs(x.sizes(), d);
  Shape sizes = x.sizes();
  if (__builtin_mul_overflow(slabs.size, repeats, &sizes[d])) refuse_repeats_of(slabs.size);
  expect_output_size(output_size, sizes[d]);
  if (repeats == 1) return clone(x);
  const Tensor single = reshape(x, {slabs.outer, slabs.size, 1, slabs.inner});
  const Tensor copies = clone(expand(single, {slabs.outer, slabs.size, repeats, slabs.inner}));
  return detail::unsafe_view(copies, sizes);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<std::int64_t> dim,
                         std::optional<std::int64_t> output_size) {
  const auto [x, d] = to_interleave(self, dim);
  if (repeats.dim() > 1 || (repeats.numel() != 1 && repeats.numel() != x.size(d))) {
    detail::fail(kInterleave, "expected one count, or one for each of {} elements, got shape {}",
                 x.size(d), repeats.sizes());
  }
  const std::vector<std::int64_t> counts = counts_of(repeats);
  if (counts.size() == 1) return repeat_interleave(x, counts[0], d, output_size);
  return index_select(x, d, tensor(interleaved(counts, output_size), {.device = x.device()}));
}

Tensor repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> output_size) {
  if (repeats.dim() != 1) {
    detail::fail(kInterleave, "expected repeats [n], got shape {}", repeats.sizes());
  }
  return tensor(interleaved(counts_of(repeats), output_size), repeats.options());
}

}  // namespace halfgrad
