#include <algorithm>
#include <numeric>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/add_slices.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/core/engines/element_view.h>
#include <halfgrad/core/engines/grouping.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr unsigned kSavesIndex = operands(1);

// Throws if index is larger than `self` in a dimension other than `dim`.
void expect_shapes(const char* op, const Array& self, const Array& index, int dim) {
  bool fits = index.ndim() == self.ndim();
  for (int i = 0; fits && i < self.ndim(); ++i) {
    fits = i == dim || index.sizes()[i] <= self.sizes()[i];
  }
  if (!fits) {
    fail(op, "expected an index no larger than self except in dimension {}, got {} and {}", dim,
         index.sizes(), self.sizes());
  }
}

// A view of `self` with the index's shape and stride 0 along `dim`, where the value of the index
// gives the position instead.
Array view_for_index(const Array& self, const Array& index, int dim) {
  Shape strides = self.strides();
  if (self.ndim() > 0) strides[dim] = 0;
  return self.as_strided(index.sizes(), strides, self.storage_offset());
}

std::int64_t stride_along(const Array& self, int dim) {
  return self.ndim() == 0 ? 0 : self.strides()[dim];
}

template <class Bits>
struct Pick {
  ElementView<const Bits> source;
  const std::int64_t* index;
  std::int64_t stride;
  Bits* out;

  HG_HD void operator()(std::int64_t i) const {
    out[i] = source.data[source.offset(i) + index[i] * stride];
  }
};

// out[i] = the position in the contiguous `sums` that element i of the index refers to
struct Destination {
  ElementView<const std::uint8_t> view;  // only its offsets are used
  const std::int64_t* index;
  std::int64_t stride;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t i) const { out[i] = view.offset(i) + index[i] * stride; }
};

Array destinations(const char* op, const Array& sums, const Array& indices, int dim) {
  const Array out = Array::empty(indices.sizes(), DType::i64, sums.device());
  const Destination f{ElementView<const std::uint8_t>(view_for_index(sums, indices, dim)),
                      indices.data_as<std::int64_t>(), stride_along(sums, dim),
                      out.data_as<std::int64_t>()};
  parallel_for_each(op, sums.device(), out.numel(), f);
  return out;
}

std::int64_t size_along(const Array& self, int dim) {
  return self.ndim() == 0 ? 1 : self.sizes()[dim];
}

// y[..., j, ...] = x[..., index[..., j, ...], ...] along `dim`, or y[j] = x[index[j]] for short
// y has the shape of the index.
struct Gather {
  static constexpr auto name = "gather";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesIndex;
  int dim;
  Shape sizes = {};

  Array forward(const Array& self, const Array& index) {
    sizes = self.sizes();
    expect_shapes(name, self, index, dim);
    const Array indices = checked_indices(name, index, size_along(self, dim));
    const Array out = Array::empty(index.sizes(), self.dtype(), self.device());
    if (out.numel() == 0) return out;
    visit_bits(self.dtype(), [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      const Pick<Bits> pick{ElementView<const Bits>(view_for_index(self, index, dim)),
                            indices.data_as<std::int64_t>(), stride_along(self, dim),
                            out.data_as<Bits>()};
      parallel_for_each(name, out.device(), out.numel(), pick);
    });
    return out;
  }
  // dx = zeros, with dy[j] added at index[j]
  void backward(const Backward<2>& node) const {
    const Tensor zeros(Array::full(sizes, 0, node.grad().dtype(), node.grad().device()));
    node.set(0, scatter_add(zeros, dim, node.input(1), node.grad()));
  }
};

// y = x, with src[j] added at index[j] along `dim`, in the order of j
struct ScatterAdd {
  static constexpr auto name = "scatter_add";
  static constexpr auto precision = Precision::widest_operand;
  static constexpr unsigned saves = kSavesIndex;
  int dim;

  Array forward(const Array& self, const Array& index, const Array& source) const {
    if (self.dtype() != source.dtype()) {
      fail("scatter_add", "expected self and src of one dtype, got {} and {}", self.dtype(),
           source.dtype());
    }
    expect_shapes(name, self, index, dim);
    const Array indices = checked_indices(name, index, size_along(self, dim));
    const Array sums = Array::empty(self.sizes(), self.dtype(), self.device());
    if (indices.numel() == 0) {
      sums.copy_(self);
      return sums;
    }
    const Array positions = self.ndim() == 1 ? indices : destinations(name, sums, indices, dim);
    sum_by_group(name, sums, self, source.contiguous(), positions, sums.numel(), 1, 1);
    return sums;
  }
  // dx = dy,  dsrc[j] = dy[index[j]]
  void backward(const Backward<3>& node) const {
    if (node.needs(0)) node.set(0, node.grad());
    if (node.needs(2)) node.set(2, gather(node.grad(), dim, node.input(1)));
  }
};

// y = x, with the slices src[..., j, ...] added at index[j] along `dim`, in the order of j
struct AddSlices {
  static constexpr auto name = "index_add";
  static constexpr auto precision = Precision::widest_operand;
  static constexpr unsigned saves = kSavesIndex;
  int dim;

  Array forward(const Array& self, const Array& index, const Array& source) const {
    const Slabs slabs(self.sizes(), dim);
    const Array sums = Array::empty(self.sizes(), self.dtype(), self.device());
    if (index.numel() == 0) {
      sums.copy_(self);
    } else {
      sum_by_group(name, sums, self, source.contiguous(), index, slabs.size, slabs.outer,
                   slabs.inner);
    }
    return sums;
  }
  // dx = dy,  dsrc[..., j, ...] = dy[..., index[j], ...]
  void backward(const Backward<3>& node) const {
    if (node.needs(0)) node.set(0, node.grad());
    if (node.needs(2)) node.set(2, index_select(node.grad(), dim, node.input(1)));
  }
};

}  // namespace

Tensor add_slices(const Tensor& self, int dim, const Tensor& index, const Tensor& source) {
  return apply(AddSlices{dim}, self, index, source);
}

OpEntry gather_entry() {
  const auto example = [](const char* what, int along, const Shape& index) {
    return OpExample{what,
                     {{.sizes = {3, 4}}, indices(index, along == 0 ? 3 : 4)},
                     [along](const std::vector<Tensor>& in) { return gather(in[0], along, in[1]); },
                     [along](const std::vector<Values>& in) {
                       return tabulated(in[1].sizes, [&](const Shape& i) {
                         return at(in[0], replaced(i, along, at(in[1], i)));
                       });
                     }};
  };
  return {.name = Gather::name,
          .precision = Gather::precision,
          .roundoffs = 0,
          .examples = {example("dim 0", 0, {5, 4}), example("dim 1", 1, {3, 6}),
                       example("smaller index", 1, {2, 2})}};
}

// Sums each element of self and the values added to it, in any order.
BoundedReference scatter_add_reference(int along) {
  return [along](const AnyArithmetic& a, const std::vector<Values>& in) {
    std::vector<Elements> terms;
    for (const double x : in[0].data) terms.push_back({a.number(x)});
    Values positions = in[0];
    std::iota(positions.data.begin(), positions.data.end(), 0);
    tabulated(in[1].sizes, [&](const Shape& i) {
      const double target = at(positions, replaced(i, along, at(in[1], i)));
      terms[static_cast<std::size_t>(target)].push_back(a.number(at(in[2], i)));
      return target;
    });
    Elements sums;
    for (const Elements& each : terms) sums.push_back(a.sum(each));
    return sums;
  };
}

OpEntry scatter_add_entry() {
  const auto example = [](const char* what, int along, const Shape& index) {
    return OpExample{
        what,
        {{.sizes = {3, 4}}, indices(index, along == 0 ? 3 : 4), {.sizes = index}},
        [along](const std::vector<Tensor>& in) { return scatter_add(in[0], along, in[1], in[2]); },
        in_double({3, 4}, scatter_add_reference(along))};
  };
  // An element is the sum of at most 7 terms of magnitude at most 2. Each of the 7 operations may
  // lose a roundoff of 14.
  return {.name = ScatterAdd::name,
          .precision = ScatterAdd::precision,
          .roundoffs = 7 * 14,
          .examples = {example("dim 0", 0, {5, 4}), example("dim 1", 1, {3, 6}),
                       example("smaller index", 1, {2, 2})},
          .bounded_reference = scatter_add_reference(1)};
}

}  // namespace detail

Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "gather");
  // A tensor without dimensions counts as a vector of one element.
  if (self.dim() == 0 && index.dim() == 1) return gather(unsqueeze(self, 0), 0, index);
  if (self.dim() == 1 && index.dim() == 0) return squeeze(gather(self, 0, unsqueeze(index, 0)), 0);
  return detail::apply(detail::Gather{d}, self, index);
}

Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "scatter_add");
  Tensor source = src;
  for (int i = 0; i < std::min(src.dim(), index.dim()); ++i) {
    if (src.size(i) > index.size(i)) source = slice(source, i, 0, index.size(i));
  }
  if (source.sizes() != index.sizes()) {
    detail::fail("scatter_add", "expected an index no larger than src, got {} and {}",
                 index.sizes(), src.sizes());
  }
  return detail::apply(detail::ScatterAdd{d}, self, index, source);
}

}  // namespace halfgrad
