#include <halfgrad/autograd/ops/shared/class_total_loss.h>

#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/cuda/kernels/class_total.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/late_work.h>

namespace halfgrad::detail {
namespace {

// The stream for a forward kernel that backward does not wait for: the side stream of a captured
// graph. Null for larger operands, and if code outside of halfgrad may write to them.
const Stream* stream_beside_backward(const Array& x, const Array& target) {
  const Stream* const side = Graph::side_stream();
  const bool is_beside = side != nullptr && side->device() == x.device() &&
                         class_gradient_from_operands_takes(x) && !x.storage()->is_exposed() &&
                         !target.storage()->is_exposed();
  return is_beside ? side : nullptr;
}

// y = sum_r (lse_r - x_rt) [/ count],  lse_r = log(sum_j exp(x_rj)),  count the rows that are kept
// dx = dy [/ count] (softmax(x) - [j = t])
//
// Nothing but the user reads y. So in a captured graph the forward kernel runs beside the backward
// pass, which computes lse and count anew.
struct ClassTotalLoss {
  static constexpr auto name = "cross_entropy";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesInputs;
  static constexpr bool only_reads_gradient = true;
  Array target;
  std::int64_t ignore_index;
  bool mean;
  DType result;
  ComposedGradient composed;
  ClassTotal total = {};
  std::optional<ClassOperands> operands = {};  // if the forward kernel is late work

  Array forward(const Array& x) {
    const auto empty = [&](const Shape& sizes, DType dtype) {
      return Array::empty(sizes, dtype, x.device());
    };
    const Shape rows{x.size(0)};
    total = {.loss = empty({}, result),
             .kept = result == DType::f32 ? empty({}, result) : Array(),
             .lse = empty(rows, DType::f32),
             .classes = empty(rows, DType::i32),
             .count = empty({}, DType::f32)};
    const auto queue = [&] { class_total_on_cuda(x, target, ignore_index, mean, total); };
    if (const Stream* const side = stream_beside_backward(x, target)) {
      operands.emplace(x, target, ignore_index);
      std::vector<Storage*> used;
      for (const Array& each :
           {x, target, total.loss, total.kept, total.lse, total.classes, total.count}) {
        if (each.defined()) used.push_back(each.storage().get());
      }
      run_late(*side, std::move(used), {}, queue);
    } else {
      queue();
      target = {};
    }
    return std::exchange(total.loss, {});
  }

  void backward(const Backward<1>& b) const {
    if (GradMode::is_enabled()) {
      const Tensor dloss = mean ? b.grad() / Tensor(total.count) : b.grad();
      const Tensor x = to(b.input(0), result);
      return b.set(0, composed(dloss, x, Tensor(one_hot_rows(x.size(1)))));
    }
    const Array& x = b.input_array(0);
    Array dx = Array::empty(x.sizes(), x.dtype(), x.device());
    if (operands) {
      class_gradient_from_operands_on_cuda(b.grad().array(), x, mean, *operands, dx);
    } else {
      class_total_gradient_on_cuda(b.grad().array(), x, mean, total, dx);
    }
    b.set(0, Tensor(std::move(dx)));
  }

  Array kept_output() const { return total.kept; }
  void release_saved() {
    total = {};
    target = {};
  }

 private:
  Array one_hot_rows(std::int64_t classes) const {
    const Tensor index = unsqueeze(Tensor(total.classes), 1);
    return (index == arange(classes, index.options())).to(DType::f32).array();
  }
};

}  // namespace

Tensor class_total_loss(const Tensor& x, const Tensor& target, std::int64_t ignore_index, bool mean,
                        DType result, ComposedGradient composed) {
  if (x.device().is_cpu() || !class_total_takes(x.array(), target.array())) return {};
  const CastRuleScope no_rule(nullptr);
  return apply(ClassTotalLoss{target.array(), ignore_index, mean, result, composed}, x);
}

}  // namespace halfgrad::detail
