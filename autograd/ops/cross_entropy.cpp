#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/class_targets.h>
#include <halfgrad/autograd/ops/shared/class_total_loss.h>
#include <halfgrad/autograd/ops/shared/cross_entropy_rows.h>
#include <halfgrad/autograd/ops/shared/loss_by_position.h>
#include <halfgrad/autograd/ops/shared/total.h>
#include <halfgrad/core/cuda/kernels/cross_entropy.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// dx = dloss (softmax(x) sum_j q_j - q), as differentiable ops
Tensor composed_gradient(const Tensor& dloss, const Tensor& x, const Tensor& q) {
  const Tensor total = sum(q, {1}, true);
  // Masks ignored rows before the product: dloss is inf when every row is ignored.
  const Tensor ignored = logical_not(any(q, 1, true));
  const Tensor kept = masked_fill(dloss, ignored, 0);
  return masked_fill(kept * (softmax(x, 1) * total - q), ignored, 0);
}

// For logits x [n, c] and lse_r = log(sum_j exp(x_rj)), the loss of row r is
//     class t of weight w:   w (lse_r - x_rt)
//     probabilities q [c]:   sum_i q_i (lse_r - x_ri)
// and y is all losses [n], their sum, or their sum / divisor.
//
// Rows names the kernels for one kind of target. The second operand has a row for each target: an
// encoded class (class_targets.h) or the probabilities.
template <class Rows>
struct CrossEntropy {
  static constexpr auto name = "cross_entropy";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesInputs;
  Reduction reduction;
  Array divisor;  // divides the sum; 0-dimensional, on the device; undefined means 1
  std::optional<DType> result = {};  // x's dtype if empty
  Array lse = {};

  Array forward(const Array& x, const Array& target) {
    const std::int64_t rows = x.sizes()[0];
    const DType compute = promote_types(x.dtype(), DType::f32);
    lse = Array::empty({rows, 1}, compute, x.device());
    const bool each = reduction == Reduction::none;
    const DType dtype = result.value_or(x.dtype());
    Array losses = Array::empty({rows, 1}, each ? dtype : compute, x.device());
    if (!(x.device().is_cuda() && Rows::loss_on_cuda(x, target, losses, lse))) {
      parallel_rows(typename Rows::Loss{}, compute, rows, std::array<const Array*, 2>{&x, &target},
                    std::array<const Array*, 2>{&losses, &lse});
    }
    if (each) return losses.reshape({rows});
    const Array loss = Array::empty({}, dtype, x.device());
    const Array total = divisor.defined() ? Array::empty({}, compute, x.device()) : loss;
    reduce(Total{}, compute, total, losses, kAllDims);
    if (divisor.defined()) elementwise(Quotient{}, compute, loss, total, divisor);
    return loss;
  }

  // dx = dloss (softmax(x) sum_j q_j - q),  dq = -dloss log_softmax(x)
  // A class t of weight w counts as q_i = w [i = t].
  void backward(const Backward<2>& b) const {
    const Tensor x = b.input(0);
    const Tensor target = b.input(1);
    const Shape column{x.size(0), 1};
    const Tensor dlosses = b.grad().dim() == 0 ? b.grad() : reshape(b.grad(), column);
    const Tensor dloss = divisor.defined() ? dlosses / Tensor(divisor) : dlosses;
    if (b.needs(0))
      b.set(0,
            GradMode::is_enabled() ? composed(dloss, x, target) : fused(dloss, x, target, column));
    if (b.needs(1)) b.set(1, neg(dloss) * log_softmax(x, 1));
  }

 private:
  Tensor fused(const Tensor& dloss, const Tensor& x, const Tensor& target,
               const Shape& column) const {
    const Array grad = dloss.array().expand(column);
    Array dx = Array::empty(x.sizes(), x.dtype(), x.device());
    if (!(dx.device().is_cuda() &&
          Rows::gradient_on_cuda(grad, x.array(), target.array(), lse, dx))) {
      parallel_rows(typename Rows::Gradient{}, lse.dtype(), x.size(0),
                    std::array<const Array*, 4>{&grad, &x.array(), &target.array(), &lse},
                    std::array<const Array*, 1>{&dx});
    }
    return Tensor(std::move(dx));
  }
  Tensor composed(const Tensor& dloss, const Tensor& x, const Tensor& target) const {
    return composed_gradient(dloss, to(x, result.value_or(x.dtype())),
                             Rows::probabilities(target, x));
  }
};

struct ClassRows {
  using Loss = ClassLossRow;
  using Gradient = ClassGradientRow;
  static constexpr auto loss_on_cuda = class_loss_on_cuda;
  static constexpr auto gradient_on_cuda = class_gradient_on_cuda;
  static Tensor probabilities(const Tensor& target, const Tensor& x) {
    return Tensor(class_probabilities(target.array(), x.size(1), Array(), 0));
  }
};
struct SoftRows {
  using Loss = SoftLossRow;
  using Gradient = SoftGradientRow;
  // There are no hand-written CUDA kernels for probabilities.
  static bool loss_on_cuda(const Array&, const Array&, const Array&, const Array&) { return false; }
  static bool gradient_on_cuda(const Array&, const Array&, const Array&, const Array&,
                               const Array&) {
    return false;
  }
  static Tensor probabilities(const Tensor& target, const Tensor&) { return target; }
};

void check_smoothing(double smoothing) {
  if (smoothing >= 0 && smoothing <= 1) return;
  fail("cross_entropy", "expected label_smoothing from 0 to 1, got {}", smoothing);
}

Tensor cross_entropy_with_probabilities(const Tensor& input, const Tensor& target,
                                        const CrossEntropyOptions& options) {
  if (target.sizes() != input.sizes()) {
    fail("cross_entropy", "expected target probabilities of shape {}, got {}", input.sizes(),
         target.sizes());
  }
  const double smoothing = options.label_smoothing;
  Tensor q = target;
  if (smoothing > 0) {
    q = q * Scalar(1 - smoothing) + Scalar(smoothing / static_cast<double>(input.size(1)));
  }
  if (options.weight.defined()) q = q * options.weight;
  const bool mean = options.reduction == Reduction::mean;
  const auto rows = static_cast<double>(input.size(0));
  const Array divisor = mean ? Array::full({}, rows, DType::f64, input.device()) : Array();
  const Tensor x = to(input, promote_types(input.dtype(), q.dtype()));
  return apply(CrossEntropy<SoftRows>{options.reduction, divisor}, x, q);
}

// Returns the loss's dtype if the op itself may widen x to it, as the cast rule would.
std::optional<DType> dtype_of_loss(const Tensor& x) {
  const auto dtype = dtype_after_cast("cross_entropy", Precision::wide_range, x);
  const bool widens = dtype == DType::f32 && is_reduced(x.dtype());
  return widens || dtype == x.dtype() ? dtype : std::nullopt;
}

Tensor cross_entropy_with_classes(const Tensor& input, const Tensor& target,
                                  const CrossEntropyOptions& options) {
  const Array weight = array_of(options.weight);
  const bool plain = !weight.defined() && options.label_smoothing == 0;
  const std::optional<DType> dtype = plain ? dtype_of_loss(input) : std::nullopt;
  if (dtype && options.reduction != Reduction::none) {
    check_class_targets("cross_entropy", input.array(), target.array(), weight);
    const Tensor loss =
        class_total_loss(input, target, options.ignore_index, options.reduction == Reduction::mean,
                         *dtype, composed_gradient);
    if (loss.defined()) return loss;
  }
  const ClassTargets targets("cross_entropy", input.array(), target.array(), weight,
                             options.ignore_index);
  const bool mean = options.reduction == Reduction::mean;
  const Array divisor = mean ? targets.total_weight() : Array();
  if (dtype && input.device().is_cpu()) {
    const CastRuleScope no_rule(nullptr);  // the row kernel widens the logits as it reads them
    return apply(CrossEntropy<ClassRows>{options.reduction, divisor, dtype}, input,
                 Tensor(targets.encoded));
  }
  if (options.label_smoothing == 0) {
    return apply(CrossEntropy<ClassRows>{options.reduction, divisor}, input,
                 Tensor(targets.encoded));
  }
  const Tensor q(
      class_probabilities(targets.encoded, input.size(1), weight, options.label_smoothing));
  return apply(CrossEntropy<SoftRows>{options.reduction, divisor}, input, q);
}

// loss_r = -sum_i q_ri log_softmax(x)_ri, where terms with q_ri = 0 are left out. A kernel may
// store each loss in the dtype of the output before it takes the mean.
Elements cross_entropy_losses(const AnyArithmetic& a, const Values& x,
                              const std::vector<double>& q) {
  const auto classes = static_cast<std::size_t>(x.sizes.back());
  Elements losses;
  for (std::size_t begin = 0; begin < q.size(); begin += classes) {
    const Elements scores =
        log_softmax_of(a, row_of(a, x, static_cast<std::int64_t>(begin / classes)));
    Elements terms;
    for (std::size_t i = 0; i < classes; ++i) {
      if (q[begin + i] != 0) terms.push_back(scaled(a, a.neg(scores[i]), q[begin + i]));
    }
    losses.push_back(a.stored(terms.size() == 1 ? terms.front() : a.sum(terms)));
  }
  return losses;
}

// The losses of operands x, classes and, optionally, weights of the classes; or their mean.
BoundedReference class_reference(double smoothing, Reduction reduction) {
  return [=](const AnyArithmetic& a, const std::vector<Values>& in) {
    const auto classes = static_cast<std::size_t>(in[0].sizes.back());
    const auto weight = [&](std::size_t i) { return in.size() > 2 ? in[2].data[i] : 1; };
    std::vector<double> q;
    double divisor = 0;
    for (const double target : in[1].data) {
      for (std::size_t i = 0; i < classes; ++i) {
        double probability = smoothing / static_cast<double>(classes);
        if (static_cast<double>(i) == target) probability += 1 - smoothing;
        q.push_back(probability == 0 ? 0 : weight(i) * probability);
      }
      divisor += weight(static_cast<std::size_t>(target));
    }
    const Elements losses = cross_entropy_losses(a, in[0], q);
    return reduction == kNone ? losses : Elements{mean_of(a, losses, divisor)};
  };
}

OpExample class_example(const std::string& name, double smoothing, Reduction reduction) {
  return {
      name,
      {{.sizes = {5, 4}},
       {{5}, 0, 3, OperandSpec::Kind::index, false},
       {.sizes = {4}, .low = 0.5, .differentiable = false}},
      [=](const std::vector<Tensor>& in) {
        return cross_entropy(
            in[0], in[1], {.weight = in[2], .reduction = reduction, .label_smoothing = smoothing});
      },
      in_double(reduction == kNone ? Shape{5} : Shape{}, class_reference(smoothing, reduction))};
}

}  // namespace

OpEntry cross_entropy_entry() {
  OpEntry entry{
      .name = "cross_entropy",
      .precision = Precision::wide_range,
      .roundoffs = 16,
      .examples = {class_example("classes", 0, kMean), class_example("classes, each", 0, kNone),
                   class_example("smoothed", 0.1, kMean),
                   class_example("smoothed, each", 0.1, kNone)},
      .bounded_reference = class_reference(0, kMean)};
  entry.examples.push_back(
      {"probabilities",
       {{.sizes = {5, 4}}, {.sizes = {5, 4}, .low = 0, .high = 1}},
       [](const std::vector<Tensor>& in) { return cross_entropy(in[0], in[1]); },
       in_double({}, [](const AnyArithmetic& a, const std::vector<Values>& in) {
         return Elements{mean_of(a, cross_entropy_losses(a, in[0], in[1].data))};
       })});
  return entry;
}

}  // namespace detail

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options) {
  if (!input.is_floating_point()) {
    detail::fail("cross_entropy", "expected floating point logits, got {}", input.dtype());
  }
  if (input.dim() == 1) {
    const Tensor loss = cross_entropy(unsqueeze(input, 0), unsqueeze(target, 0), options);
    return loss.dim() == 0 ? loss : reshape(loss, {});
  }
  if (input.dim() == 0 || input.size(1) == 0) {
    detail::fail("cross_entropy", "expected logits of shape [n, c, ...] or [c], got {}",
                 input.sizes());
  }
  if (input.dim() > 2) {
    const auto of_rows = [&](const Tensor& x, const Tensor& t) {
      return cross_entropy(x, t, options);
    };
    return detail::loss_by_position("cross_entropy", input, target, of_rows);
  }
  detail::check_smoothing(options.label_smoothing);
  if (target.is_floating_point() && options.ignore_index >= 0) {
    detail::fail("cross_entropy", "expected class indices as target for ignore_index {}, got {}",
                 options.ignore_index, target.dtype());
  }
  return target.is_floating_point()
             ? detail::cross_entropy_with_probabilities(input, target, options)
             : detail::cross_entropy_with_classes(input, detail::widened_classes(target), options);
}

}  // namespace halfgrad
