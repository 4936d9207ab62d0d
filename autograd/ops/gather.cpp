#include <algorithm>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/indices.h>
#include <halfgrad/autograd/reference.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/core/tile.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr unsigned kSavesIndex = kSavesInput << 1;

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

// Which element of `self` each element of an index along `dim` stands for.
class Target {
 public:
  Target(const Array& self, const Array& index, int dim)
      : sizes_(index.sizes()), strides_(self.strides()), values_(index.data_as<std::int64_t>()) {
    if (self.ndim() > 0) {
      step_ = strides_[dim];
      strides_[dim] = 0;
    }
  }
  std::int64_t operator()(std::int64_t flat) const {
    return offset_of(flat, sizes_, strides_) + values_[flat] * step_;
  }

 private:
  Shape sizes_;
  Shape strides_;
  std::int64_t step_ = 0;
  const std::int64_t* values_;
};

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
    const Target target(self, indices, dim);
    visit(self.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* const source = self.data_as<T>();
      T* const result = out.data_as<T>();
      parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) result[i] = source[target(i)];
      });
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
    const DType accumulator = accumulator_of(self.dtype());
    const Array sums = Array::empty(self.sizes(), accumulator, self.device());
    sums.copy_(self);
    const Array addends = source.to(accumulator).contiguous();
    const Target target(sums, indices, dim);
    visit_accumulator(accumulator, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* const sum = sums.data_as<T>();
      const T* const addend = addends.data_as<T>();
      const Slabs slabs(indices.sizes(), dim);
      // Lines along dim do not meet: they may be split among tasks, but never their elements.
      const std::int64_t lines = slabs.outer * slabs.inner;
      const std::int64_t grain =
          std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, slabs.size));
      parallel_for(0, lines, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = 0; j < slabs.size; ++j) {
          for (std::int64_t line = begin; line < end; ++line) {
            const std::int64_t i =
                (line / slabs.inner * slabs.size + j) * slabs.inner + line % slabs.inner;
            sum[target(i)] += addend[i];
          }
        }
      });
    });
    return sums.to(self.dtype());
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
