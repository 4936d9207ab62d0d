#include <algorithm>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Ops that move elements without rounding.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using detail::Recorder;
using halfgrad::detail::fail;

/// Calls f with the position of each index of `sizes`, in row-major order, for these strides.
template <class F>
void each_position(const Shape& sizes, const Shape& strides, std::int64_t first, const F& f) {
  Shape index = sizes;
  std::fill_n(&index[0], index.size(), 0);
  std::int64_t position = first;
  for (std::int64_t left = numel(sizes); left > 0; --left) {
    f(position);
    for (int d = sizes.size() - 1; d >= 0; --d) {
      position += strides[d];
      if (++index[d] < sizes[d]) break;
      position -= sizes[d] * strides[d];
      index[d] = 0;
    }
  }
}

/// The elements of x at these sizes and strides.
BoundedArray strided(const BoundedArray& x, const Shape& sizes, const Shape& strides,
                     std::int64_t first, detail::Vjp vjp) {
  Elements out;
  out.reserve(static_cast<std::size_t>(numel(sizes)));
  each_position(sizes, strides, first, [&](std::int64_t position) {
    out.push_back(x.elements()[static_cast<std::size_t>(position)]);
  });
  return Recorder::recorded({x.arithmetic(), sizes, std::move(out)}, {x}, std::move(vjp));
}

/// Sums dy over the dimensions along which `sizes` was expanded.
BoundedArray sum_to(const BoundedArray& dy, const Shape& sizes) {
  const int added = dy.dim() - sizes.size();
  Shape dims;
  for (int d = 0; d < dy.dim(); ++d) {
    if (d < added || (sizes[d - added] == 1 && dy.sizes()[d] != 1)) dims.push_back(d);
  }
  return (dims.empty() ? dy : sum(dy, dims)).reshape(sizes);
}

}  // namespace

void detail::expect_defined(const char* op, const BoundedArray& x) {
  if (!x.defined()) fail(op, "expected a defined array");
}

BoundedArray expand(const BoundedArray& x, const Shape& sizes) {
  detail::expect_defined("expand", x);
  if (x.sizes() == sizes) return x;
  if (!expands_to(x.sizes(), sizes)) {
    fail("expand", "expected sizes to which {} broadcasts, got {}", x.sizes(), sizes);
  }
  const Shape own = contiguous_strides(x.sizes());
  const int added = sizes.size() - x.dim();
  Shape strides;
  for (int d = 0; d < sizes.size(); ++d) {
    strides.push_back(d < added || x.sizes()[d - added] == 1 ? 0 : own[d - added]);
  }
  return strided(x, sizes, strides, 0,
                 [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
                   return Inputs{sum_to(dy, in[0].sizes())};
                 });
}

BoundedArray permute(const BoundedArray& x, const Shape& dims) {
  detail::expect_defined("permute", x);
  const Shape own = contiguous_strides(x.sizes());
  Shape sizes, strides, back = dims;
  std::vector<bool> seen(static_cast<std::size_t>(x.dim()));
  for (int i = 0; i < dims.size(); ++i) {
    const int d = wrap_dim(dims[i], x.dim(), "permute");
    if (dims.size() != x.dim() || seen[static_cast<std::size_t>(d)]) {
      fail("permute", "expected each of {} dimensions once, got {}", x.dim(), dims);
    }
    seen[static_cast<std::size_t>(d)] = true;
    sizes.push_back(x.sizes()[d]);
    strides.push_back(own[d]);
    back[d] = i;
  }
  return strided(x, sizes, strides, 0,
                 [back](const Inputs&, const BoundedArray&, const BoundedArray& dy) {
                   return Inputs{permute(dy, back)};
                 });
}

BoundedArray unsqueeze(const BoundedArray& x, std::int64_t dim) {
  Shape sizes = x.sizes();
  sizes.insert(wrap_dim(dim, x.dim() + 1, "unsqueeze"), 1);
  return x.reshape(sizes);
}

BoundedArray narrow(const BoundedArray& x, std::int64_t dim, std::int64_t start,
                    std::int64_t length) {
  detail::expect_defined("narrow", x);
  const int d = wrap_dim(dim, x.dim(), "narrow");
  const std::int64_t all = x.size(d);
  if (start < 0 || length < 0 || start + length > all) {
    fail("narrow", "expected a part of {} indices, got {} from {} on", all, length, start);
  }
  Shape sizes = x.sizes();
  sizes[d] = length;
  const Shape strides = contiguous_strides(x.sizes());
  return strided(x, sizes, strides, start * strides[d],
                 [=](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
                   const BoundedArray zeros = zeros_like(in[0]);
                   return Inputs{cat({narrow(zeros, d, 0, start), dy,
                                      narrow(zeros, d, start + length, all - start - length)},
                                     d)};
                 });
}

BoundedArray cat(const std::vector<BoundedArray>& parts, std::int64_t dim) {
  if (parts.empty()) fail("cat", "expected at least one array");
  for (const BoundedArray& part : parts) detail::expect_defined("cat", part);
  const int d = wrap_dim(dim, parts[0].dim(), "cat");
  Shape sizes = parts[0].sizes();
  sizes[d] = 0;
  for (const BoundedArray& part : parts) {
    Shape like = part.sizes();
    if (like.size() == sizes.size()) like[d] = sizes[d];
    if (like != sizes) {
      fail("cat", "expected {} but for dimension {}, got {}", parts[0].sizes(), d, part.sizes());
    }
    sizes[d] += part.size(d);
  }
  Elements out(static_cast<std::size_t>(numel(sizes)));
  const Shape strides = contiguous_strides(sizes);
  std::int64_t start = 0;
  for (const BoundedArray& part : parts) {
    auto from = part.elements().begin();
    each_position(part.sizes(), strides, start * strides[d], [&](std::int64_t position) {
      out[static_cast<std::size_t>(position)] = *from++;
    });
    start += part.size(d);
  }
  return Recorder::recorded({parts[0].arithmetic(), sizes, std::move(out)}, parts,
                            [d](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
                              Inputs gradients;
                              std::int64_t first = 0;
                              for (const BoundedArray& part : in) {
                                gradients.push_back(narrow(dy, d, first, part.size(d)));
                                first += part.size(d);
                              }
                              return gradients;
                            });
}

}  // namespace halfgrad::testing
