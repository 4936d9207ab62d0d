#include <stdexcept>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/element_view.h>
#include <halfgrad/core/engines/grouping.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr char kIndexSelect[] = "index_select";
constexpr char kEmbedding[] = "embedding";

// out[o, j, :] = source[o, index[j], :]
// source [outer, size, columns], out [outer, count, columns]; Bits may cover several elements.
template <class Bits>
struct PickRows {
  const Bits* source;
  const std::int64_t* index;
  Bits* out;
  std::int64_t count, size, columns;

  HG_HD void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t from = row / count * size + index[row % count];
    out[row * columns + column] = source[from * columns + column];
  }
};

struct alignas(16) SixteenBytes {
  std::uint64_t low, high;
};

// Calls f with std::type_identity of the widest type that divides `bytes` and to which the memory
// of a and b is aligned: a row of `bytes` is copied with the fewest loads and stores.
template <class F>
void visit_widest(std::int64_t bytes, const Array& a, const Array& b, const F& f) {
  const auto all = static_cast<std::uintptr_t>(bytes) | reinterpret_cast<std::uintptr_t>(a.data()) |
                   reinterpret_cast<std::uintptr_t>(b.data());
  if (all % 16 == 0) return f(std::type_identity<SixteenBytes>{});
  if (all % 8 == 0) return f(std::type_identity<std::uint64_t>{});
  if (all % 4 == 0) return f(std::type_identity<std::uint32_t>{});
  if (all % 2 == 0) return f(std::type_identity<std::uint16_t>{});
  f(std::type_identity<std::uint8_t>{});
}

// The derivative of IndexSelect, an op of its own so that it can be differentiated again:
// y = zeros, with rows[j] added at index[j] along `dim`, except where index[j] = skipped
template <const char* kName>
struct IndexAdd {
  static constexpr auto name = kName;
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = operands(1);
  int dim;
  Shape sizes;
  std::int64_t skipped;

  Array forward(const Array& rows, const Array& index) const {
    const Slabs slabs(sizes, dim);
    const Array indices = checked_indices(name, index, slabs.size);
    const Array sums = Array::empty(sizes, rows.dtype(), rows.device());
    if (sums.numel() == 0) return sums;
    sum_groups(name, sums, {}, rows.contiguous(), group_by(name, indices, slabs.size), slabs.outer,
               slabs.inner, skipped);
    return sums;
  }
  // drows[j] = dy[index[j]], and 0 where index[j] = skipped
  void backward(const Backward<2>& node) const {
    const Tensor index = node.input(1);
    const Tensor rows = index_select(node.grad(), dim, index);
    if (skipped < 0) return node.set(0, rows);
    Shape along(std::vector<std::int64_t>(static_cast<std::size_t>(rows.dim()), 1));
    along[dim] = index.numel();
    node.set(0, masked_fill(rows, reshape(index == Scalar(skipped), along), 0));
  }
};

// y[..., j, ...] = x[..., index[j], ...] along `dim`,  index [n]
// embedding: x is the weight [n, d], y [..., d] for indices [...], and `skipped` is padding_idx.
template <const char* kName>
struct IndexSelect {
  static constexpr auto name = kName;
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = operands(1);
  int dim;
  std::int64_t skipped = -1;
  Shape from = {};

  Array forward(const Array& self, const Array& index) {
    from = self.sizes();
    const Slabs slabs(from, dim);
    const Array indices = checked_indices(name, index, slabs.size);
    Shape sizes = from;
    if (!sizes.empty()) {
      sizes[dim] = index.numel();
    } else if (index.numel() != 1) {
      fail(name, "expected one index for a 0-dimensional tensor, got {}", index.numel());
    }
    const Array source = self.contiguous();
    const Array out = Array::empty(sizes, self.dtype(), self.device());
    const std::int64_t bytes = slabs.inner * item_size(self.dtype());
    if (out.numel() == 0) return out;
    visit_widest(bytes, source, out, [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      const std::int64_t columns = bytes / static_cast<std::int64_t>(sizeof(Bits));
      const std::int64_t count = indices.numel();
      const PickRows<Bits> pick{source.data_as<Bits>(),
                                indices.data_as<std::int64_t>(),
                                out.data_as<Bits>(),
                                count,
                                slabs.size,
                                columns};
      parallel_for_each(name, out.device(), slabs.outer * count, columns, pick);
    });
    return out;
  }
  // dx = zeros, with dy[j] added at index[j] along `dim`, except at the row `skipped`
  void backward(const Backward<2>& node) const {
    node.set(0, apply(IndexAdd<kName>{dim, from, skipped}, node.grad(), node.input(1)));
  }
};

}  // namespace

OpEntry index_select_entry() {
  const auto example = [](const char* what, int along) {
    return OpExample{
        what,
        {{.sizes = {3, 4}}, indices({5}, along == 0 ? 3 : 4)},
        [along](const std::vector<Tensor>& in) { return index_select(in[0], along, in[1]); },
        [along](const std::vector<Values>& in) {
          return tabulated(replaced(in[0].sizes, along, 5), [&](const Shape& i) {
            return at(in[0], replaced(i, along, at(in[1], {i[along]})));
          });
        }};
  };
  return {.name = kIndexSelect,
          .precision = IndexSelect<kIndexSelect>::precision,
          .roundoffs = 0,
          .examples = {example("dim 0", 0), example("dim 1", 1)}};
}

OpEntry embedding_entry() {
  const OpExample example{
      "2-D indices",
      {{.sizes = {4, 3}}, indices({2, 5}, 4)},
      [](const std::vector<Tensor>& in) { return embedding(in[0], in[1]); },
      [](const std::vector<Values>& in) {
        return tabulated({2, 5, 3}, [&](const Shape& i) {
          return at(in[0], {static_cast<std::int64_t>(at(in[1], {i[0], i[1]})), i[2]});
        });
      }};
  return {.name = kEmbedding,
          .precision = IndexSelect<kEmbedding>::precision,
          .roundoffs = 0,
          .examples = {example}};
}

}  // namespace detail

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
  if (index.dim() > 1) {
    detail::fail("index_select", "expected an index [n], got {}", index.sizes());
  }
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "index_select");
  return detail::apply(detail::IndexSelect<detail::kIndexSelect>{d}, self, index);
}

Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx) {
  if (weight.dim() != 2) {
    detail::fail("embedding", "expected a weight [n, d], got {}", weight.sizes());
  }
  const std::int64_t n = weight.size(0);
  std::int64_t padding = padding_idx.value_or(-1);
  if (padding_idx) {
    if (padding < -n || padding >= n) {
      detail::fail<std::out_of_range>(
          "embedding", "expected a padding_idx within the size {}, got {}", n, padding);
    }
    if (padding < 0) padding += n;
  }
  const Tensor rows = detail::apply(detail::IndexSelect<detail::kEmbedding>{0, padding}, weight,
                                    reshape(indices, {indices.numel()}));
  Shape sizes = indices.sizes();
  sizes.push_back(weight.size(1));
  return detail::unsafe_view(rows, sizes);
}

}  // namespace halfgrad
