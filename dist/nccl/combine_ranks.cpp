#include <halfgrad/dist/nccl/combine_ranks.h>

#include <algorithm>

#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::dist {
namespace {

using halfgrad::detail::elementwise;

// y = a + b + ..., from left to right
struct AddRanks {
  static constexpr bool integers = true;
  template <class T, class... More>
  HG_HD T operator()(T sum, More... more) const {
    ((sum = sum + more), ...);
    return sum;
  }
};

// y = (a + b + ...) / ranks
struct AverageRanks {
  int ranks;
  template <class T, class... More>
  HG_HD T operator()(T sum, More... more) const {
    return AddRanks{}(sum, more...) / T(static_cast<float>(ranks));
  }
};

// y = max(a, b, ...)
struct MaxOfRanks {
  static constexpr bool integers = true;
  template <class T, class... More>
  HG_HD T operator()(T largest, More... more) const {
    ((largest = math::maximum(largest, more)), ...);
    return largest;
  }
};

template <class F>
void apply(const F& f, const std::vector<Array>& x, const Array& out) {
  const DType compute = x[0].dtype();
  switch (x.size()) {
    case 1:
      return elementwise(f, compute, out, x[0]);
    case 2:
      return elementwise(f, compute, out, x[0], x[1]);
    case 3:
      return elementwise(f, compute, out, x[0], x[1], x[2]);
    case 4:
      return elementwise(f, compute, out, x[0], x[1], x[2], x[3]);
    default:
      return elementwise(f, compute, out, x[0], x[1], x[2], x[3], x[4]);
  }
}

void apply_op(ReduceOp op, int ranks, const std::vector<Array>& x, const Array& out) {
  const bool is_or = out.dtype() == kBool;  // a sum of bools
  if (op == ReduceOp::max || is_or) return apply(MaxOfRanks{}, x, out);
  if (op == ReduceOp::average) return apply(AverageRanks{ranks}, x, out);
  apply(AddRanks{}, x, out);
}

}  // namespace

void combine_ranks(ReduceOp op, const std::vector<Array>& operands, const Array& out) {
  constexpr std::size_t kMostAtOnce = halfgrad::detail::kMaxInputs;
  const int ranks = static_cast<int>(operands.size());
  const ReduceOp inner = op == ReduceOp::average ? ReduceOp::sum : op;
  const DType dtype = out.dtype();
  const bool is_small_float = is_floating_point(dtype) && dtype != kFloat64;

  std::vector<Array> group;  // the result so far, then the next ranks
  for (std::size_t next = 0; next < operands.size();) {
    const std::size_t end = std::min(operands.size(), next + kMostAtOnce - group.size());
    group.insert(group.end(), operands.begin() + static_cast<std::ptrdiff_t>(next),
                 operands.begin() + static_cast<std::ptrdiff_t>(end));
    next = end;
    if (next == operands.size()) return apply_op(op, ranks, group, out);
    // 16-bit sums are rounded only at the end.
    const Array sum = Array::empty(out.sizes(), is_small_float ? kFloat32 : dtype, out.device());
    apply_op(inner, ranks, group, sum);
    group = {sum};
  }
}

}  // namespace halfgrad::dist
