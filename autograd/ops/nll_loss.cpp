#include <vector>

#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/class_targets.h>
#include <halfgrad/autograd/ops/shared/loss_by_position.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// loss_r = -w_t x_rt for row r of class t, x [n, c] log-probabilities and w [c] weights
// y = the losses [n], their sum, or their sum / sum_r w_t
struct PickedLossRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> x, Row<const T> target, Row<T> loss) const {
    const ClassTarget<T> row(target);
    team.once(
        [&] { loss.set(std::int64_t{0}, row.ignored() ? T(0) : -row.weight * x(row.index)); });
  }
};

struct PickedLoss {
  static constexpr auto name = "nll_loss";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesNothing;
  Array encoded;
  std::int64_t classes = 0;

  Array forward(const Array& x) {
    const std::int64_t rows = x.sizes()[0];
    classes = x.sizes()[1];
    Array losses = Array::empty({rows, 1}, x.dtype(), x.device());
    parallel_rows(PickedLossRow{}, encoded.dtype(), rows, std::array<const Array*, 2>{&x, &encoded},
                  std::array<const Array*, 1>{&losses});
    return losses.reshape({rows});
  }
  // dx_ri = -dloss_r w_t [i = t]
  void backward(const Backward<1>& b) const {
    const Tensor picked(class_probabilities(encoded, classes, Array(), 0));
    b.set(0, masked_fill(unsqueeze(neg(b.grad()), 1) * picked, picked == Scalar(0), 0));
  }
};

// -x_rt. A kernel may store each loss in the dtype of the output before it takes the mean.
Elements picked_losses(const AnyArithmetic& a, const std::vector<Values>& in) {
  Elements losses;
  for (std::size_t r = 0; r < in[1].data.size(); ++r) {
    const Elements row = row_of(a, in[0], static_cast<std::int64_t>(r));
    losses.push_back(a.stored(a.neg(row[static_cast<std::size_t>(in[1].data[r])])));
  }
  return losses;
}
Elements picked_sum(const AnyArithmetic& a, const std::vector<Values>& in) {
  return {a.sum(picked_losses(a, in))};
}
Elements picked_mean(const AnyArithmetic& a, const std::vector<Values>& in) {
  return {mean_of(a, picked_losses(a, in))};
}

}  // namespace

OpEntry nll_loss_entry() {
  OpEntry entry{.name = PickedLoss::name,
                .precision = PickedLoss::precision,
                .examples = {},
                .bounded_reference = picked_mean};
  for (const Reduction reduction : {kNone, kMean, kSum}) {
    entry.examples.push_back(
        {"reduction " + std::to_string(static_cast<int>(reduction)),
         {{.sizes = {5, 4}}, {{5}, 0, 3, OperandSpec::Kind::index, false}},
         [=](const std::vector<Tensor>& in) { return nll_loss(in[0], in[1], {}, reduction); },
         reduction == kNone   ? in_double({5}, picked_losses)
         : reduction == kMean ? in_double({}, picked_mean)
                              : in_double({}, picked_sum)});
  }
  return entry;
}

}  // namespace detail

Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                Reduction reduction, std::int64_t ignore_index) {
  if (input.dim() == 1) {
    const Tensor loss =
        nll_loss(unsqueeze(input, 0), unsqueeze(target, 0), weight, reduction, ignore_index);
    return detail::unsafe_view(loss, {});
  }
  if (input.dim() == 0 || input.size(1) == 0 || !input.is_floating_point()) {
    detail::fail("nll_loss",
                 "expected log-probabilities of shape [n, c, ...] or [c], c > 0, got {} of {}",
                 input.sizes(), input.dtype());
  }
  if (input.dim() > 2) {
    const auto of_rows = [&](const Tensor& x, const Tensor& t) {
      return nll_loss(x, t, weight, reduction, ignore_index);
    };
    return detail::loss_by_position("nll_loss", input, target, of_rows);
  }
  const Tensor classes = detail::widened_classes(target);
  const detail::ClassTargets targets("nll_loss", input.array(), classes.array(),
                                     detail::array_of(weight), ignore_index);
  const auto compute = [&](const Tensor& x) {
    const Tensor losses = detail::apply(detail::PickedLoss{targets.encoded}, x);
    if (reduction == Reduction::none) return losses;
    if (reduction == Reduction::sum) return sum(losses);
    // Sums in float32 at least: the sum may overflow 16 bits where the mean does not.
    const Tensor total = sum(losses, promote_types(x.dtype(), DType::f32));
    return (total / Tensor(targets.total_weight())).to(x.dtype());
  };
  return detail::composite("nll_loss", Precision::wide_range, compute, input);
}

}  // namespace halfgrad
