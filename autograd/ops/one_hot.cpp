#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

struct IsClass {
  const std::int64_t* index;
  std::int64_t classes;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t row, std::int64_t c) const {
    out[row * classes + c] = index[row] == c ? 1 : 0;
  }
};

// y[..., c] = [x[...] = c] for 0 <= c < classes, as int64; no gradient
struct OneHot {
  static constexpr auto name = "one_hot";
  static constexpr auto precision = Precision::any;
  std::int64_t classes;

  Array forward(const Array& index) const {
    const Array indices = checked_indices(name, index, classes);
    Shape sizes = index.sizes();
    sizes.push_back(classes);
    const Array out = Array::empty(sizes, DType::i64, index.device());
    const IsClass f{indices.data_as<std::int64_t>(), classes, out.data_as<std::int64_t>()};
    parallel_for_each(name, out.device(), index.numel(), classes, f);
    return out;
  }
};

}  // namespace

OpEntry one_hot_entry() {
  const OpExample example{
      "4 classes",
      {indices({2, 3}, 4)},
      [](const std::vector<Tensor>& in) { return one_hot(in[0], 4); },
      [](const std::vector<Values>& in) {
        return tabulated({2, 3, 4}, [&](const Shape& i) {
          return at(in[0], {i[0], i[1]}) == static_cast<double>(i[2]) ? 1.0 : 0.0;
        });
      }};
  return {.name = OneHot::name,
          .precision = OneHot::precision,
          .roundoffs = 0,
          .differentiable = false,
          .examples = {example}};
}

}  // namespace detail

Tensor one_hot(const Tensor& self, std::int64_t num_classes) {
  if (num_classes < -1) {
    detail::fail("one_hot", "expected num_classes >= 0, or -1, got {}", num_classes);
  }
  if (num_classes == -1) {
    if (self.numel() == 0) {
      detail::fail("one_hot", "expected num_classes for an empty tensor, got none");
    }
    num_classes = static_cast<std::int64_t>(max(self).item()) + 1;  // the host waits for it
  }
  return detail::apply(detail::OneHot{num_classes}, self);
}

}  // namespace halfgrad
