#include <halfgrad/autograd/ops/shared/mlp_tiles.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/ops/shared/cross_entropy_rows.h>
#include <halfgrad/autograd/ops/shared/mlp_formula.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/autograd/ops/shared/total.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

constexpr std::int64_t kTileRows = 256;

Array empty_like(const Array& a) { return Array::empty(a.sizes(), a.dtype(), a.device()); }

// Memory for some rows of the output of layer l.
Array rows_of_output(const MlpArrays& mlp, std::size_t l, std::int64_t rows) {
  return Array::empty({rows, mlp.weights[l].size(0)}, mlp.dtype(), mlp.x.device());
}

struct Activations {
  std::vector<Array> h;            // h_l for every l
  std::vector<Array> slope_reads;  // for each activation: the operand of its derivative
};

// The activations of some rows of x. Stores the last layer's output in y.
Activations activations(const MlpArrays& mlp, const Array& x, const Array& y) {
  Activations of{.h = {x.to(mlp.dtype())}, .slope_reads = {}};
  with_formula(mlp.activation, [&]<class F>(const F& f) {
    for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
      const bool last = l + 1 == mlp.weights.size();
      const Array z = last ? y : rows_of_output(mlp, l, x.size(0));
      product(1, of.h.back(), mlp.weights[l].transpose(0, 1), 0, z, mlp.biases[l]);
      if (last) return;
      const Array h = F::saves == kSavesOutput ? z : empty_like(z);
      elementwise(ValueKernel<F>{f}, z.dtype(), h, z);
      of.h.push_back(h);
      of.slope_reads.push_back(operand_of_slope<F>(z, h));
    }
  });
  return of;
}

// The dtype in which products are accumulated.
DType accumulating(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

// Partial sums of a gradient: [parts, sizes...].
Array zero_parts(const Array& parameter, std::int64_t parts) {
  Shape sizes{parts};
  for (const std::int64_t size : parameter.sizes()) sizes.push_back(size);
  return Array::full(sizes, 0, accumulating(parameter.dtype()), parameter.device());
}

// The sum of the parts, rounded to the parameter's dtype.
Array total_of(const Array& parts, const Array& parameter) {
  const Array ones = Array::full({1, parts.size(0)}, 1, parts.dtype(), parts.device());
  const Array total = Array::empty({1, parameter.numel()}, parts.dtype(), parts.device());
  product(1, ones, parts.reshape({parts.size(0), parameter.numel()}), 0, total);
  return total.reshape(parameter.sizes()).to(parameter.dtype());
}

// The gradients while they are summed.
struct Sums {
  Array dx;
  std::vector<Array> weights, biases;  // partial sums

  // Adds the gradients from some rows to part `part`, and stores these rows of dx in `rows_of_dx`,
  // if defined:
  //     dW_l = g^T h_l,  db_l = 1^T g,  g of the layer before = (g W_l) f'(z_{l-1})
  void add(const MlpArrays& mlp, const Activations& of, Array g, const Array& rows_of_dx,
           std::int64_t part) const {
    const Array ones = Array::full({1, g.size(0)}, 1, g.dtype(), g.device());
    for (std::size_t l = mlp.weights.size(); l-- > 0;) {
      product(1, g.transpose(0, 1), of.h[l], 1, weights[l].select(0, part));
      if (biases[l].defined()) {
        product(1, ones, g, 1, biases[l].select(0, part).unsqueeze(0));
      }
      if (l == 0 && !rows_of_dx.defined()) return;
      const Array before = l == 0 ? rows_of_dx : empty_like(of.h[l]);
      product(1, g, mlp.weights[l], 0, before);
      if (l == 0) return;
      with_formula(mlp.activation, [&]<class F>(const F& f) {
        const Gradient<Slope<F, 0, 1>> gradient{{f}, g.dtype()};
        g = gradient.forward(before, of.slope_reads[l - 1]);
      });
    }
  }
};

// Returns the gradient of y's rows [begin, end).
using GradientOfRows =
    std::function<Array(std::int64_t begin, std::int64_t end, const Array& rows_of_y)>;

MlpGradients sum_gradients(const MlpArrays& mlp, bool with_dx, const GradientOfRows& gradient) {
  constexpr std::int64_t kParts = 32;
  const std::int64_t rows = mlp.x.size(0), tiles = (rows + kTileRows - 1) / kTileRows;
  const std::int64_t tiles_each = (tiles + kParts - 1) / kParts;
  const std::int64_t parts = (tiles + tiles_each - 1) / tiles_each;
  const Array dx = with_dx ? Array::empty(mlp.x.sizes(), mlp.dtype(), mlp.x.device()) : Array();
  Sums sums{.dx = dx, .weights = {}, .biases = {}};
  for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
    sums.weights.push_back(zero_parts(mlp.weights[l], parts));
    sums.biases.push_back(mlp.biases[l].defined() ? zero_parts(mlp.biases[l], parts) : Array());
  }
  parallel_for(0, parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      const std::int64_t end = std::min(rows, (part + 1) * tiles_each * kTileRows);
      for (std::int64_t row = part * tiles_each * kTileRows; row < end; row += kTileRows) {
        const std::int64_t next = std::min(end, row + kTileRows);
        const Array y = rows_of_output(mlp, mlp.weights.size() - 1, next - row);
        const Activations of = activations(mlp, mlp.x.slice(0, row, next), y);
        sums.add(mlp, of, gradient(row, next, y), with_dx ? dx.slice(0, row, next) : Array(), part);
      }
    }
  });
  MlpGradients result{.dx = dx, .weights = {}, .biases = {}};
  for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
    result.weights.push_back(total_of(sums.weights[l], mlp.weights[l]));
    const Array& bias = mlp.biases[l];
    result.biases.push_back(bias.defined() ? total_of(sums.biases[l], bias) : Array());
  }
  return result;
}

// The losses of rows of logits y, in the steps of cross_entropy.cpp.
class RowLosses {
 public:
  RowLosses(const MlpArrays& mlp, const MlpLoss& loss)
      : loss_(loss),
        compute_(promote_types(mlp.dtype(), DType::f32)),
        losses_(Array::empty({mlp.x.size(0), 1}, compute_, mlp.x.device())),
        lse_(empty_like(losses_)),
        rows_(Array::full({}, mlp.x.size(0), compute_, mlp.x.device())) {}

  void compute(std::int64_t begin, std::int64_t end, const Array& y) const {
    const Array targets = loss_.targets.slice(0, begin, end);
    const Array losses = losses_.slice(0, begin, end), lse = lse_.slice(0, begin, end);
    parallel_rows(ClassLossRow{}, compute_, end - begin, std::array{&y, &targets},
                  std::array{&losses, &lse});
  }
  // dloss / rows
  Array factor(const Array& dloss) const {
    const Array factor = Array::empty({}, compute_, dloss.device());
    elementwise(Quotient{}, compute_, factor, dloss, rows_);
    return factor;
  }
  Array gradient(std::int64_t begin, std::int64_t end, const Array& y, const Array& factor) const {
    const Array targets = loss_.targets.slice(0, begin, end), lse = lse_.slice(0, begin, end);
    const Array factors = factor.expand({end - begin, 1});
    const Array dy = empty_like(y);
    parallel_rows(ClassGradientRow{}, compute_, end - begin,
                  std::array{&factors, &y, &targets, &lse}, std::array{&dy});
    return dy;
  }
  // Stores the mean of all losses, if it is wanted.
  void finish() const {
    if (!loss_.loss.defined()) return;
    const Array total = Array::empty({}, compute_, rows_.device());
    reduce(Total{}, compute_, total, losses_, kAllDims);
    elementwise(Quotient{}, compute_, loss_.loss, total, rows_);
    if (loss_.kept.defined()) loss_.kept.copy_(loss_.loss);
  }

 private:
  const MlpLoss& loss_;
  DType compute_;
  Array losses_, lse_, rows_;
};

}  // namespace

bool mlp_fits_cpu(const MlpArrays& mlp) {
  constexpr std::int64_t kWidest = 256, kBytes = 512 * 1024;
  std::int64_t bytes = 0, widest = mlp.x.size(1);
  for (const Array& weight : mlp.weights) {
    bytes += weight.numel() * item_size(weight.dtype());
    widest = std::max(widest, weight.size(0));
  }
  return mlp.x.numel() > 0 && widest <= kWidest && bytes <= kBytes;
}

void mlp_on_cpu(const MlpArrays& mlp, const Array& y) {
  parallel_for(0, y.size(0), kTileRows, [&](std::int64_t begin, std::int64_t end) {
    static_cast<void>(activations(mlp, mlp.x.slice(0, begin, end), y.slice(0, begin, end)));
  });
}

MlpGradients mlp_gradient_on_cpu(const MlpArrays& mlp, const Array& dy, bool with_dx) {
  return sum_gradients(mlp, with_dx, [&](std::int64_t begin, std::int64_t end, const Array&) {
    return dy.slice(0, begin, end);
  });
}

void mlp_loss_on_cpu(const MlpArrays& mlp, const MlpLoss& loss) {
  const RowLosses losses(mlp, loss);
  parallel_for(0, mlp.x.size(0), kTileRows, [&](std::int64_t begin, std::int64_t end) {
    const Array y = rows_of_output(mlp, mlp.weights.size() - 1, end - begin);
    static_cast<void>(activations(mlp, mlp.x.slice(0, begin, end), y));
    losses.compute(begin, end, y);
  });
  losses.finish();
}

MlpGradients mlp_loss_gradient_on_cpu(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss,
                                      bool with_dx) {
  const RowLosses losses(mlp, loss);
  const Array factor = losses.factor(dloss);
  const MlpGradients result =
      sum_gradients(mlp, with_dx, [&](std::int64_t begin, std::int64_t end, const Array& y) {
        losses.compute(begin, end, y);
        return losses.gradient(begin, end, y, factor);
      });
  losses.finish();
  return result;
}

}  // namespace halfgrad::detail
