#include <halfgrad/compat/padding.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

std::string text_of(const std::vector<std::int64_t>& pad) {
  std::string text;
  for (const std::int64_t count : pad) text += (text.empty() ? "" : ", ") + std::to_string(count);
  return '[' + text + ']';
}

void check_pairs(const Tensor& self, const std::vector<std::int64_t>& pad) {
  if (pad.size() % 2 == 0 && static_cast<std::int64_t>(pad.size()) <= 2 * self.dim()) return;
  detail::fail("pad", "expected a pair for each of at most {} dimensions, got {}", self.dim(),
               text_of(pad));
}

// Calls border(x, dim, before, after) for each dimension that grows, after removing the elements
// that negative numbers name.
template <class Border>
Tensor padded(const Tensor& self, const std::vector<std::int64_t>& pad, const Border& border) {
  check_pairs(self, pad);
  Tensor result = self;
  for (std::size_t i = 0; i < pad.size(); i += 2) {
    const std::int64_t dim = self.dim() - 1 - static_cast<std::int64_t>(i / 2);
    const std::int64_t size = result.size(dim);
    // Elements to remove before and after; negative where some are added.
    const std::int64_t before = -pad[i], after = -pad[i + 1];
    if (std::max<std::int64_t>(before, 0) > size - std::max<std::int64_t>(after, 0)) {
      detail::fail("pad", "expected to remove at most {} elements of dimension {}, got {}", size,
                   dim, text_of(pad));
    }
    if (before > 0) result = result.slice(dim, before);
    if (after > 0) result = result.narrow(dim, 0, result.size(dim) - after);
    if (before < 0 || after < 0) {
      result = border(result, dim, std::max<std::int64_t>(-before, 0),
                      std::max<std::int64_t>(-after, 0));
    }
  }
  return result.is_same(self) || result.is_alias_of(self) ? result.clone() : result;
}

// The positions of a dimension of `size` elements that its borders and its middle copy.
std::vector<std::int64_t> positions(std::int64_t size, std::int64_t before, std::int64_t after,
                                    PadMode mode) {
  const std::int64_t longest = std::max(before, after);
  const bool fits = mode == kReflect ? longest < size : longest <= size;
  if (!fits) {
    detail::fail("pad", "expected borders {} the dimension of {}, got {} and {}",
                 mode == kReflect ? "shorter than" : "that fit", size, before, after);
  }
  std::vector<std::int64_t> result;
  for (std::int64_t i = -before; i < size + after; ++i) {
    if (mode == kCircular) {
      result.push_back((i + size) % size);
    } else {
      result.push_back(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
    }
  }
  return result;
}

}  // namespace

Tensor constant_pad_nd(const Tensor& self, const std::vector<std::int64_t>& pad, Scalar value) {
  const auto border = [value](const Tensor& x, std::int64_t dim, std::int64_t before,
                              std::int64_t after) {
    const auto filled = [&](std::int64_t size) {
      Shape sizes = x.sizes();
      sizes[static_cast<int>(dim)] = size;
      return x.new_full(sizes, value);
    };
    return cat({filled(before), x, filled(after)}, dim);
  };
  return padded(self, pad, border);
}

namespace {

// Element j of a dimension is element clamp(j - before, 0, size - 1) of the input, also where
// `before` or `after` is negative.
Tensor replicated(const Tensor& self, const std::vector<std::int64_t>& pad) {
  check_pairs(self, pad);
  Tensor result = self;
  for (std::size_t i = 0; i < pad.size(); i += 2) {
    const std::int64_t dim = self.dim() - 1 - static_cast<std::int64_t>(i / 2);
    const std::int64_t size = self.size(dim);
    const std::int64_t grown = size + pad[i] + pad[i + 1];
    if (grown < 1 || size < 1) {
      detail::fail("pad", "expected to keep at least one element of the {} in dimension {}, got {}",
                   size, dim, text_of(pad));
    }
    std::vector<std::int64_t> places;
    for (std::int64_t j = 0; j < grown; ++j) {
      places.push_back(std::clamp<std::int64_t>(j - pad[i], 0, size - 1));
    }
    result = result.index_select(dim, tensor(places).to(self.device()));
  }
  return pad.empty() ? result.clone() : result;
}

}  // namespace

Tensor nn::functional::pad(const Tensor& input, const PadFuncOptions& options) {
  if (options.mode() == kConstant) return constant_pad_nd(input, options.pad(), options.value());
  if (options.mode() == kReplicate) return replicated(input, options.pad());
  const auto border = [&](const Tensor& x, std::int64_t dim, std::int64_t before,
                          std::int64_t after) {
    const auto places = positions(x.size(dim), before, after, options.mode());
    return x.index_select(dim, tensor(places).to(x.device()));
  };
  return padded(input, options.pad(), border);
}

}  // namespace halfgrad
