#include <algorithm>
#include <cmath>
#include <cstdint>

#include <halfgrad/autograd/composed/statistics.h>
#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// out[row, j] = |x1[row] - x2[:, j]| for kWidth neighbouring columns j: one per thread on a GPU;
// several SIMD registers on the CPU. Adds in double after every 16 squares: a long sum in float
// would lose precision.
template <class T, int kWidth>
struct Distances {
  const T* x1;   // [batches, n, d]
  const T* x2;   // [batches, d, m]
  T* distances;  // [batches, n, m]
  std::int64_t n, m, d;

  HG_HD void operator()(std::int64_t row, std::int64_t block) const {
    constexpr std::int64_t kSquares = 16;
    const std::int64_t first = block * kWidth;
    const int width = m - first < kWidth ? static_cast<int>(m - first) : kWidth;
    const T* const a = x1 + row * d;
    const T* const b = x2 + row / n * d * m + first;
    double total[kWidth] = {};
    for (std::int64_t begin = 0; begin < d; begin += kSquares) {
      const std::int64_t end = d - begin < kSquares ? d : begin + kSquares;
      T sum[kWidth] = {};
      for (std::int64_t k = begin; k < end; ++k) {
        for (int c = 0; c < width; ++c) {
          const T difference = a[k] - b[k * m + c];
          sum[c] += difference * difference;
        }
      }
      for (int c = 0; c < width; ++c) total[c] += static_cast<double>(sum[c]);
    }
    T* const out = distances + row * m + first;
    for (int c = 0; c < width; ++c) out[c] = static_cast<T>(std::sqrt(total[c]));
  }
};

// y_ij = |a_i - b_j| for the vectors a [batches, n, d] and b [batches, m, d]
struct EuclideanDistances {
  static constexpr auto name = "euclidean_dist";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInputs | kSavesOutput;

  Array forward(const Array& a, const Array& b) const {
    const std::int64_t n = a.size(1), m = b.size(1), d = a.size(2);
    const Array rows = a.contiguous(), columns = b.transpose(1, 2).contiguous();
    const Array out = Array::empty({a.size(0), n, m}, a.dtype(), a.device());
    if (out.numel() == 0) return out;
    const auto run = [&]<class T, int kWidth>() {
      const Distances<T, kWidth> f{
          rows.data_as<T>(), columns.data_as<T>(), out.data_as<T>(), n, m, d};
      parallel_for_each(name, out.device(), out.numel() / m, (m + kWidth - 1) / kWidth, f,
                        kWidth * std::max<std::int64_t>(1, d));
    };
    const auto run_in = [&]<class T>() {
      out.device().is_cuda() ? run.template operator()<T, 1>() : run.template operator()<T, 32>();
    };
    a.dtype() == kFloat64 ? run_in.template operator()<double>()
                          : run_in.template operator()<float>();
    return out;
  }

  // da_i = sum_j dy_ij (a_i - b_j) / y_ij, and 0 for y_ij = 0;  db_j in the same way
  void backward(const Backward<2>& node) const {
    const Tensor y = node.output();
    const Tensor divisor = unsqueeze(masked_fill(y, y == Scalar(0), 1), -1);
    const Tensor differences = unsqueeze(node.input(0), -2) - unsqueeze(node.input(1), -3);
    const Tensor terms = unsqueeze(node.grad(), -1) * (differences / divisor);
    if (node.needs(0)) node.set(0, sum(terms, -2));
    if (node.needs(1)) node.set(1, -sum(terms, -3));
  }
};

// Returns the vectors x [..., n, d] as [batches, n, d], repeated for these sizes of the batches.
Tensor as_batches(const Tensor& x, const Shape& batch) {
  Shape sizes = batch;
  sizes.push_back(x.size(-2));
  sizes.push_back(x.size(-1));
  return reshape(expand(x, sizes), {numel(batch), x.size(-2), x.size(-1)});
}

Shape sizes_before_rows(const Tensor& x) {
  Shape sizes = x.sizes();
  for (int i = 0; i < 2; ++i) sizes.erase(sizes.size() - 1);
  return sizes;
}

Tensor euclidean_distances(const Tensor& a, const Tensor& b) {
  Shape sizes = broadcast_shapes(sizes_before_rows(a), sizes_before_rows(b), "cdist");
  const Tensor y = apply(EuclideanDistances{}, as_batches(a, sizes), as_batches(b, sizes));
  sizes.push_back(a.size(-2));
  sizes.push_back(b.size(-2));
  return reshape(y, sizes);
}

}  // namespace
}  // namespace detail

Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
  for (const Tensor& x : {x1, x2}) {
    if (!x.is_floating_point()) {
      detail::fail("cdist", "expected floating point tensors, got {} and {}", x1.dtype(),
                   x2.dtype());
    }
  }
  if (x1.dim() < 2 || x2.dim() < 2 || x1.size(-1) != x2.size(-1)) {
    detail::fail("cdist", "expected [..., n, d] and [..., m, d], got {} and {}", x1.sizes(),
                 x2.sizes());
  }
  if (!(p >= 0)) detail::fail("cdist", "expected p >= 0, got {}", p);
  const auto compute = [p](const Tensor& a, const Tensor& b) {
    if (p == 2) return detail::euclidean_distances(a, b);
    const Tensor differences = unsqueeze(a, -2) - unsqueeze(b, -3);
    return a.size(-1) == 0 ? sum(differences, -1) : norm(differences, p, -1);
  };
  return detail::widened("cdist", Precision::wide_range, kFloat32, compute, x1, x2);
}

}  // namespace halfgrad
