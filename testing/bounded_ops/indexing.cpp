#include <cmath>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Ops that read or add at indices.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using detail::Recorder;
using halfgrad::detail::fail;

/// For each element of `index`, the position in an array of these sizes, where `dim` is indexed.
std::vector<std::size_t> positions(const char* op, const Shape& sizes, std::int64_t dim,
                                   const BoundedArray& index) {
  detail::expect_defined(op, index);
  const int along = wrap_dim(dim, sizes.size(), op);
  bool fits = index.dim() == sizes.size();
  for (int d = 0; fits && d < sizes.size(); ++d) fits = d == along || index.size(d) <= sizes[d];
  if (!fits) fail(op, "expected an index for {}, got {}", sizes, index.sizes());
  const Shape strides = contiguous_strides(sizes);
  std::vector<std::size_t> found;
  found.reserve(index.elements().size());
  std::vector<std::int64_t> at(static_cast<std::size_t>(sizes.size()), 0);
  for (const Bounded& element : index.elements()) {
    const double i = element.value;
    if (!(i >= 0 && i < static_cast<double>(sizes[along]) && i == std::floor(i))) {
      fail(op, "expected whole indices from 0 to {}, got {}", sizes[along] - 1, i);
    }
    std::int64_t position = 0;
    for (int d = 0; d < sizes.size(); ++d) {
      const std::int64_t here = at[static_cast<std::size_t>(d)];
      position += (d == along ? static_cast<std::int64_t>(i) : here) * strides[d];
    }
    found.push_back(static_cast<std::size_t>(position));
    for (std::size_t d = at.size(); d > 0 && ++at[d - 1] == index.sizes()[static_cast<int>(d - 1)];
         --d) {
      at[d - 1] = 0;
    }
  }
  return found;
}

}  // namespace

BoundedArray gather(const BoundedArray& x, std::int64_t dim, const BoundedArray& index) {
  detail::expect_defined("gather", x);
  Elements out;
  for (const std::size_t position : positions("gather", x.sizes(), dim, index)) {
    out.push_back(x.elements()[position]);
  }
  return Recorder::recorded({x.arithmetic(), index.sizes(), std::move(out)}, {x, index},
                            [dim](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
                              return Inputs{scatter_add(zeros_like(in[0]), dim, in[1], dy), {}};
                            });
}

BoundedArray scatter_add(const BoundedArray& x, std::int64_t dim, const BoundedArray& index,
                         const BoundedArray& source) {
  detail::expect_defined("scatter_add", x);
  if (!source.defined() || source.sizes() != index.sizes()) {
    fail("scatter_add", "expected a source of the index's shape, {}", index.sizes());
  }
  std::vector<Elements> terms(x.elements().size());
  const auto places = positions("scatter_add", x.sizes(), dim, index);
  for (std::size_t i = 0; i < places.size(); ++i) {
    terms[places[i]].push_back(source.elements()[i]);
  }
  Elements out = x.elements();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (terms[i].empty()) continue;
    const bool is_zero = out[i].value == 0 && out[i].error == 0;
    if (!is_zero) terms[i].push_back(out[i]);
    out[i] = x.math().sum(terms[i]);
  }
  return Recorder::recorded({x.arithmetic(), x.sizes(), std::move(out)}, {x, index, source},
                            [dim](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
                              return Inputs{dy, {}, gather(dy, dim, in[1])};
                            });
}

BoundedArray index_select(const BoundedArray& x, std::int64_t dim, const BoundedArray& index) {
  detail::expect_defined("index_select", x);
  detail::expect_defined("index_select", index);
  if (index.dim() != 1) fail("index_select", "expected a vector of indices, got {}", index.sizes());
  const int d = wrap_dim(dim, x.dim(), "index_select");
  Shape column, sizes = x.sizes();
  for (int i = 0; i < x.dim(); ++i) column.push_back(i == d ? index.size(0) : 1);
  sizes[d] = index.size(0);
  return gather(x, d, expand(index.reshape(column), sizes));
}

}  // namespace halfgrad::testing
