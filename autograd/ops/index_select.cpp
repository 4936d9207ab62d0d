#include <algorithm>
#include <cstring>
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

constexpr char kIndexSelect[] = "index_select";
constexpr char kEmbedding[] = "embedding";

// sums[o, index[j], :] += rows[o, j, :] in the order of j, which no partition into tasks changes:
// each task owns a range of sums.
template <class T>
void add_slabs(T* sums, const T* rows, const std::int64_t* index, std::int64_t count,
               const Slabs& slabs, std::int64_t skipped) {
  constexpr std::int64_t kTasks = 16;
  const std::int64_t grain = std::max<std::int64_t>(1, (slabs.size + kTasks - 1) / kTasks);
  parallel_for(0, slabs.size, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = 0; o < slabs.outer; ++o) {
      for (std::int64_t j = 0; j < count; ++j) {
        if (index[j] < begin || index[j] >= end || index[j] == skipped) continue;
        T* const sum = sums + (o * slabs.size + index[j]) * slabs.inner;
        const T* const row = rows + (o * count + j) * slabs.inner;
        for (std::int64_t i = 0; i < slabs.inner; ++i) sum[i] += row[i];
      }
    }
  });
}

// The derivative of IndexSelect, as an op of its own so that it can be differentiated again.
template <const char* kName>
struct IndexAdd {
  static constexpr auto name = kName;
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInput << 1;
  int dim;
  Shape sizes;
  std::int64_t skipped;

  Array forward(const Array& rows, const Array& index) const {
    const Slabs slabs(sizes, dim);
    const Array indices = checked_indices(name, index, slabs.size);
    const DType accumulator = accumulator_of(rows.dtype());
    const Array sums = Array::full(sizes, 0, accumulator, rows.device());
    const Array addends = rows.to(accumulator).contiguous();
    visit_accumulator(accumulator, [&](auto tag) {
      using T = typename decltype(tag)::type;
      add_slabs(sums.data_as<T>(), addends.data_as<T>(), indices.data_as<std::int64_t>(),
                indices.numel(), slabs, skipped);
    });
    return sums.to(rows.dtype());
  }
  void backward(const Backward<2>& node) const {
    const Tensor index = node.input(1);
    const Tensor rows = index_select(node.grad(), dim, index);
    if (skipped < 0) return node.set(0, rows);
    Shape along(std::vector<std::int64_t>(static_cast<std::size_t>(rows.dim()), 1));
    along[dim] = index.numel();
    node.set(0, masked_fill(rows, reshape(index == Scalar(skipped), along), 0));
  }
};

// y[j] = x[index[j]] along dim;  dx = zeros, to which dy[j] is added at index[j], but for the row
// `skipped`
template <const char* kName>
struct IndexSelect {
  static constexpr auto name = kName;
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInput << 1;
  int dim;
  std::int64_t skipped = -1;
  Shape from = {};

  Array forward(const Array& self, const Array& index) {
    from = self.sizes();
    const Slabs slabs(from, dim);
    const Array indices = checked_indices(name, index, slabs.size);
    const auto* const rows = indices.data_as<std::int64_t>();
    Shape sizes = from;
    if (!sizes.empty()) sizes[dim] = index.numel();
    const Array source = self.contiguous();
    const Array out = Array::empty(sizes, self.dtype(), self.device());
    const std::int64_t bytes = slabs.inner * item_size(self.dtype());
    const std::int64_t count = indices.numel();
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, bytes));
    parallel_for(0, bytes == 0 ? 0 : slabs.outer * count, grain,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const std::int64_t row = i / count * slabs.size + rows[i % count];
                     std::memcpy(out.data() + i * bytes, source.data() + row * bytes,
                                 static_cast<std::size_t>(bytes));
                   }
                 });
    return out;
  }
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
  return {
      .name = kEmbedding, .precision = IndexSelect<kEmbedding>::precision, .examples = {example}};
}

}  // namespace detail

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
  if (index.dim() > 1) {
    throw std::invalid_argument("index_select: expected an index [n], got " +
                                to_string(index.sizes()));
  }
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "index_select");
  return detail::apply(detail::IndexSelect<detail::kIndexSelect>{d}, self, index);
}

Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx) {
  if (weight.dim() != 2) {
    throw std::invalid_argument("embedding: expected a weight [n, d], got " +
                                to_string(weight.sizes()));
  }
  const std::int64_t n = weight.size(0);
  std::int64_t padding = padding_idx.value_or(-1);
  if (padding_idx) {
    if (padding < -n || padding >= n) {
      throw std::out_of_range("embedding: expected a padding_idx within the size " +
                              std::to_string(n) + ", got " + std::to_string(padding));
    }
    if (padding < 0) padding += n;
  }
  const Tensor rows = detail::apply(detail::IndexSelect<detail::kEmbedding>{0, padding}, weight,
                                    reshape(indices, {indices.numel()}));
  Shape sizes = indices.sizes();
  sizes.push_back(weight.size(1));
  return reshape(rows, sizes);
}

}  // namespace halfgrad
