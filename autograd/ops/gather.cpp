#include <algorithm>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/indices.h>
#include <halfgrad/autograd/reference.h>
#include <halfgrad/core/element_view.h>
#include <halfgrad/core/grouping.h>
#include <halfgrad/core/parallel.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr unsigned kSavesIndex = operands(1);

// index may be smaller than `self` in every dimension but `dim`, where only its values matter.
void expect_shapes(const char* op, const Array& self, const Array& index, int dim) {
  bool fits = index.ndim() == self.ndim();
  for (int i = 0; fits && i < self.ndim(); ++i) {
    fits = i == dim || index.sizes()[i] <= self.sizes()[i];
  }
  if (!fits) {
    throw std::invalid_argument(std::string(op) +
                                ": expected an index no larger than self but in dimension " +
                                std::to_string(dim) + ", got " + to_string(index.sizes()) +
                                " and " + to_string(self.sizes()));
  }
}

// `self` as it is walked by an index along `dim`: with the index's sizes, standing still along
// `dim`, where the index's own value decides.
Array walked(const Array& self, const Array& index, int dim) {
  Shape strides = self.strides();
  if (self.ndim() > 0) strides[dim] = 0;
  return self.as_strided(index.sizes(), strides, self.storage_offset());
}

std::int64_t step_along(const Array& self, int dim) {
  return self.ndim() == 0 ? 0 : self.strides()[dim];
}

template <class Bits>
struct Pick {
  ElementView<const Bits> source;
  const std::int64_t* index;
  std::int64_t step;
  Bits* out;

  HG_HD void operator()(std::int64_t i) const {
    out[i] = source.data[source.offset(i) + index[i] * step];
  }
};

// Which element of `sums`, which is contiguous, each element of an index along `dim` stands for.
struct Destination {
  ElementView<const std::uint8_t> walked;  // for its offsets alone
  const std::int64_t* index;
  std::int64_t step;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t i) const { out[i] = walked.offset(i) + index[i] * step; }
};

Array destinations(const char* op, const Array& sums, const Array& indices, int dim) {
  const Array out = Array::empty(indices.sizes(), DType::i64, sums.device());
  const Destination f{ElementView<const std::uint8_t>(walked(sums, indices, dim)),
                      indices.data_as<std::int64_t>(), step_along(sums, dim),
                      out.data_as<std::int64_t>()};
  parallel_for_each(op, sums.device(), out.numel(), f);
  return out;
}

std::int64_t size_along(const Array& self, int dim) {
  return self.ndim() == 0 ? 1 : self.sizes()[dim];
}

// y[j] = x[index[j]] along dim;  dx = zeros, to which dy[j] is added at index[j]
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
      const Pick<Bits> pick{ElementView<const Bits>(walked(self, index, dim)),
                            indices.data_as<std::int64_t>(), step_along(self, dim),
                            out.data_as<Bits>()};
      parallel_for_each(name, out.device(), out.numel(), pick);
    });
    return out;
  }
  void backward(const Backward<2>& node) const {
    const Tensor zeros(Array::full(sizes, 0, node.grad().dtype(), node.grad().device()));
    node.set(0, scatter_add(zeros, dim, node.input(1), node.grad()));
  }
};

// y = x, to which src[j] is added at index[j] along dim, in the order of j;
// dx = dy,  dsrc[j] = dy[index[j]]
struct ScatterAdd {
  static constexpr auto name = "scatter_add";
  static constexpr auto precision = Precision::widest_operand;
  static constexpr unsigned saves = kSavesIndex;
  int dim;

  Array forward(const Array& self, const Array& index, const Array& source) const {
    if (self.dtype() != source.dtype()) {
      throw std::invalid_argument("scatter_add: expected self and src of one dtype, got " +
                                  std::string(halfgrad::name(self.dtype())) + " and " +
                                  std::string(halfgrad::name(source.dtype())));
    }
    expect_shapes(name, self, index, dim);
    const Array indices = checked_indices(name, index, size_along(self, dim));
    const Array sums = Array::empty(self.sizes(), self.dtype(), self.device());
    if (indices.numel() == 0) {
      sums.copy_(self);
      return sums;
    }
    const Array goals = destinations(name, sums, indices, dim);
    sum_groups(name, sums, self.contiguous(), source.contiguous(),
               group_by(name, goals, sums.numel()), 1, 1);
    return sums;
  }
  void backward(const Backward<3>& node) const {
    if (node.needs(0)) node.set(0, node.grad());
    if (node.needs(2)) node.set(2, gather(node.grad(), dim, node.input(1)));
  }
};

}  // namespace

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

OpEntry scatter_add_entry() {
  const auto example = [](const char* what, int along, const Shape& index) {
    return OpExample{
        what,
        {{.sizes = {3, 4}}, indices(index, along == 0 ? 3 : 4), {.sizes = index}},
        [along](const std::vector<Tensor>& in) { return scatter_add(in[0], along, in[1], in[2]); },
        [along](const std::vector<Values>& in) {
          Values sums = in[0];
          tabulated(in[1].sizes, [&](const Shape& i) {
            return at(sums, replaced(i, along, at(in[1], i))) += at(in[2], i);
          });
          return sums;
        }};
  };
  // At most 1 + 6 terms of at most 2 meet: each addition loses a roundoff of 14.
  return {.name = ScatterAdd::name,
          .precision = ScatterAdd::precision,
          .roundoffs = 7 * 14,
          .examples = {example("dim 0", 0, {5, 4}), example("dim 1", 1, {3, 6}),
                       example("smaller index", 1, {2, 2})}};
}

}  // namespace detail

Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "gather");
  return detail::apply(detail::Gather{d}, self, index);
}

Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "scatter_add");
  Tensor source = src;
  for (int i = 0; i < std::min(src.dim(), index.dim()); ++i) {
    if (src.size(i) > index.size(i)) source = slice(source, i, 0, index.size(i));
  }
  if (source.sizes() != index.sizes()) {
    throw std::invalid_argument("scatter_add: expected an index no larger than src, got " +
                                to_string(index.sizes()) + " and " + to_string(src.sizes()));
  }
  return detail::apply(detail::ScatterAdd{d}, self, index, source);
}

}  // namespace halfgrad
