#include <stdexcept>
#include <string>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace {

// [n, m], true where column - row >= diagonal.
Tensor on_or_above(const Tensor& self, std::int64_t diagonal, const char* op) {
  if (self.dim() < 2) {
    throw std::invalid_argument(std::string(op) + ": expected matrices [..., n, m], got shape " +
                                to_string(self.sizes()));
  }
  const Tensor rows = arange(self.size(-2), {.device = self.device()});
  const Tensor columns = arange(self.size(-1), {.device = self.device()});
  return columns - unsqueeze(rows, 1) >= diagonal;
}

}  // namespace

Tensor triu(const Tensor& self, std::int64_t diagonal) {
  return masked_fill(self, ~on_or_above(self, diagonal, "triu"), 0);
}
Tensor tril(const Tensor& self, std::int64_t diagonal) {
  return masked_fill(self, on_or_above(self, diagonal + 1, "tril"), 0);
}

Tensor flip(const Tensor& self, const Shape& dims) {
  Tensor result = self;
  unsigned flipped = 0;
  for (const std::int64_t dim : dims) {
    const int d = wrap_dim(dim, static_cast<int>(self.dim()), "flip");
    if ((flipped >> d & 1U) != 0) {
      throw std::invalid_argument("flip: expected each dimension once, got " + to_string(dims));
    }
    flipped |= 1U << d;
    if (self.dim() == 0) continue;
    result = index_select(result, d, arange(self.size(d) - 1, -1, -1, {.device = self.device()}));
  }
  return result.is_same(self) ? clone(self) : result;
}

Tensor repeat(const Tensor& self, const Shape& repeats) {
  const int added = repeats.size() - static_cast<int>(self.dim());
  if (added < 0) {
    throw std::invalid_argument("repeat: expected a number for each dimension of " +
                                to_string(self.sizes()) + ", got " + to_string(repeats));
  }
  Shape sizes;
  for (int i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) {
      throw std::invalid_argument("repeat: expected no negative number, got " + to_string(repeats));
    }
    sizes.push_back(i < added ? 1 : self.size(i - added));
  }
  Tensor result = reshape(self, sizes);
  for (int i = 0; i < repeats.size(); ++i) {
    if (repeats[i] == 1) continue;
    Shape copies = sizes;
    copies.insert(i, repeats[i]);
    sizes[i] *= repeats[i];
    result = reshape(expand(unsqueeze(result, i), copies), sizes);
  }
  return result.array().storage() == self.array().storage() ? clone(result) : result;
}

}  // namespace halfgrad
