#include <halfgrad/compat/assembly.h>

#include <algorithm>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Returns a copy of `self` whose view part_of(copy) has the elements of `src`.
template <class F>
Tensor with_part(const char* op, const Tensor& self, const Tensor& src, const F& part_of) {
  const Tensor copy = self.clone();
  const Tensor part = part_of(copy);
  if (part.sizes() != src.sizes()) {
    detail::fail(op, "expected a src of shape {}, got {}", part.sizes(), src.sizes());
  }
  part.copy_(src);
  return copy;
}

}  // namespace

Tensor vander(const Tensor& x, std::optional<std::int64_t> N, bool increasing) {
  if (x.dim() != 1) detail::fail("vander", "expected a vector, got shape {}", x.sizes());
  const std::int64_t columns = N.value_or(x.size(0));
  if (columns < 0) detail::fail("vander", "expected N of at least 0, got {}", columns);
  const Tensor base = x.dtype() == kBool ? x.to(kLong) : x;
  const Tensor exponents = arange(columns, {.dtype = kLong, .device = x.device()});
  return pow(unsqueeze(base, 1), increasing ? exponents : flip(exponents, {0}));
}

Tensor block_diag(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> rows;
  std::int64_t width = 0, left = 0;
  std::vector<Tensor> blocks;
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() > 2) {
      detail::fail("block_diag", "expected matrices, got shape {}", tensor.sizes());
    }
    blocks.push_back(tensor.dim() == 2 ? tensor : tensor.reshape({1, -1}));
    width += blocks.back().size(1);
  }
  if (blocks.empty()) return empty({1, 0});
  for (const Tensor& block : blocks) {
    const std::int64_t height = block.size(0), right = width - left - block.size(1);
    const Tensor before = zeros({height, left}, block.options());
    const Tensor after = zeros({height, right}, block.options());
    rows.push_back(cat({before, block, after}, 1));
    left += block.size(1);
  }
  return cat(rows, 0);
}

Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index) {
  return with_part("select_scatter", self, src,
                   [&](const Tensor& copy) { return copy.select(dim, index); });
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim,
                     std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step) {
  return with_part("slice_scatter", self, src,
                   [&](const Tensor& copy) { return copy.slice(dim, start, end, step); });
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, std::int64_t offset,
                        std::int64_t dim1, std::int64_t dim2) {
  return with_part("diagonal_scatter", self, src,
                   [&](const Tensor& copy) { return copy.diagonal(offset, dim1, dim2); });
}

Tensor utils::flatten_dense_tensors(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) {
    halfgrad::detail::fail("flatten_dense_tensors", "expected at least one tensor, got none");
  }
  std::vector<Tensor> flat;
  for (const Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}));
  return cat(flat);
}

std::vector<Tensor> utils::unflatten_dense_tensors(const Tensor& flat,
                                                   const std::vector<Tensor>& tensors) {
  std::int64_t begin = 0;
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) {
    const std::int64_t end = begin + tensor.numel();
    if (end > flat.numel()) break;
    parts.push_back(flat.slice(0, begin, end).view(tensor.sizes()));
    begin = end;
  }
  if (flat.dim() != 1 || parts.size() != tensors.size() || begin != flat.numel()) {
    halfgrad::detail::fail("unflatten_dense_tensors",
                           "expected a vector of as many elements as all tensors have, got {}",
                           flat.sizes());
  }
  return parts;
}

Tensor nn::utils::rnn::pad_sequence(const std::vector<Tensor>& sequences, bool batch_first,
                                    double padding_value, std::string_view padding_side) {
  using halfgrad::detail::fail;
  if (sequences.empty()) fail("pad_sequence", "expected at least one sequence, got none");
  const bool is_left = padding_side == "left";
  if (!is_left && padding_side != "right") {
    fail("pad_sequence", "expected padding_side \"right\" or \"left\", got \"{}\"", padding_side);
  }
  std::int64_t longest = 0;
  for (const Tensor& sequence : sequences) longest = std::max(longest, sequence.size(0));
  std::vector<Tensor> padded;
  for (const Tensor& sequence : sequences) {
    Shape missing = sequence.sizes();
    missing[0] = longest - sequence.size(0);
    const Tensor padding = full(missing, padding_value, sequence.options());
    padded.push_back(is_left ? cat({padding, sequence}) : cat({sequence, padding}));
  }
  return stack(padded, batch_first ? 0 : 1);
}

}  // namespace halfgrad
