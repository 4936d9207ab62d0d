#include <string>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

void expect_grid_vectors(const char* op, const std::vector<Tensor>& tensors, std::int64_t min_dim) {
  if (tensors.empty()) detail::fail(op, "expected at least one tensor, got none");
  const Tensor& first = tensors.front();
  for (const Tensor& t : tensors) {
    if (t.dim() > 1 || t.dim() < min_dim) {
      detail::fail(op, "expected vectors, got shape {}", t.sizes());
    }
    if (t.dtype() != first.dtype()) {
      detail::fail(op, "expected one dtype, got {} and {}", first.dtype(), t.dtype());
    }
    if (t.device() != first.device()) {
      detail::fail(op, "expected one device, got {} and {}", first.device(), t.device());
    }
  }
}

// Returns the choices of r positions in [0, n), r >= 1, one after the other.
std::vector<std::int64_t> choices(std::int64_t n, std::int64_t r, bool with_replacement) {
  std::vector<std::int64_t> all;
  if (n == 0 || (!with_replacement && r > n)) return all;
  std::vector<std::int64_t> choice;
  for (std::int64_t i = 0; i < r; ++i) choice.push_back(with_replacement ? 0 : i);
  while (true) {
    all.insert(all.end(), choice.begin(), choice.end());
    std::int64_t i = r - 1;
    const auto largest = [&] { return with_replacement ? n - 1 : n - r + i; };
    while (i >= 0 && choice[static_cast<std::size_t>(i)] == largest()) --i;
    if (i < 0) return all;
    std::int64_t next = ++choice[static_cast<std::size_t>(i)];
    while (++i < r) choice[static_cast<std::size_t>(i)] = with_replacement ? next : ++next;
  }
}

}  // namespace

Tensor broadcast_to(const Tensor& self, const Shape& sizes) { return expand(self, sizes); }

std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors) {
  Shape sizes;
  for (const Tensor& t : tensors) sizes = broadcast_shapes(sizes, t.sizes(), "broadcast_tensors");
  std::vector<Tensor> expanded;
  for (const Tensor& t : tensors) expanded.push_back(expand(t, sizes));
  return expanded;
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing) {
  expect_grid_vectors("meshgrid", tensors, 0);
  if (indexing != "ij" && indexing != "xy") {
    detail::fail("meshgrid", "expected indexing \"ij\" or \"xy\", got \"{}\"",
                 std::string(indexing));
  }
  Shape sizes, ones;
  for (const Tensor& t : tensors) {
    sizes.push_back(t.numel());
    ones.push_back(1);
  }
  std::vector<Tensor> grids;
  for (int i = 0; i < sizes.size(); ++i) {
    Shape along = ones;
    along[i] = sizes[i];
    const Tensor grid = expand(reshape(tensors[static_cast<std::size_t>(i)], along), sizes);
    grids.push_back(indexing == "xy" && sizes.size() > 1 ? transpose(grid, 0, 1) : grid);
  }
  return grids;
}

Tensor cartesian_prod(const std::vector<Tensor>& tensors) {
  expect_grid_vectors("cartesian_prod", tensors, 1);
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& grid : meshgrid(tensors)) columns.push_back(flatten(grid));
  return stack(columns, 1);
}

Tensor combinations(const Tensor& self, std::int64_t r, bool with_replacement) {
  if (self.dim() != 1) {
    detail::fail("combinations", "expected a vector, got shape {}", self.sizes());
  }
  if (r < 0) detail::fail("combinations", "expected r >= 0, got {}", r);
  if (r == 0) return zeros({0}, self.options());
  const std::vector<std::int64_t> all = choices(self.numel(), r, with_replacement);
  const Tensor picked = index_select(self, 0, tensor(all, {.device = self.device()}));
  return detail::unsafe_view(picked, {std::ssize(all) / r, r});
}

}  // namespace halfgrad
