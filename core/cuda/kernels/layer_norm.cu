// layer_norm and rms_norm of rows that stay in registers.
//
//     y = (x - mu) r w + b,   r = 1 / sqrt(var + eps)
//
// The whole row is needed twice before anything can be written: for mu, then for the variance,
// which is computed from x - mu, since mean(x^2) - mu^2 cancels if mu is large. The generic functor
// reads the row again each time. Here a thread keeps up to 32 elements of it in registers.
//
// Memory bounds it. Forward moves x and y, 4 bytes an element in 16 bits, for about 8 FLOP: 2 FLOP
// a byte, where an H100 (3.35 TB/s, 67 TFLOP/s in f32) could do 20. For [8192, 4096] that is 134 MB
// and 40 us; predicted, not measured: 50 us. To get there, each thread has all of its loads, of 16
// bytes, in flight at once.
//
// Backward moves dy, x and dx, 6 bytes an element: 201 MB, 60 us; predicted: 80 us. The gradients
// of weight and bias are sums down the columns. The generic functor writes dy (x - mu) r in f32:
// another 8 bytes an element to write and read. Here each group of threads sums its rows in
// registers, and only these sums, a few hundred rows, go to memory. The shape alone decides which
// group has which rows.

#include <halfgrad/core/cuda/kernels/layer_norm.h>

#include <algorithm>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/row_packs.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::detail {
namespace {

struct Forward {
  PackedRows x, weight, bias, y;
  float* statistics;
  std::int64_t rows;
  int n;
  float eps;
};

template <bool kCentred, int kPacks>
__global__ void __launch_bounds__(kRowThreads) normalize(const Forward op, bool by_block) {
  const Group group(by_block);
  const std::int64_t row = row_of(group);
  if (row >= op.rows) return;
  const std::int64_t first = row * op.n;
  const auto count = static_cast<float>(op.n);
  float x[kPacks][kPerThread];
  each_pack<kPacks>(group, op.n, [&](int k, int column) { op.x.load(first + column, x[k]); });
  float mu = 0;
  if (kCentred) {
    mu = sum_of_row<kPacks>(group, op.n, [&](int k, int i) { return x[k][i]; }) / count;
  }
  const auto square = [&](int k, int i) { return (x[k][i] - mu) * (x[k][i] - mu); };
  const float r = math::rsqrt(sum_of_row<kPacks>(group, op.n, square) / count + op.eps);
  each_pack<kPacks>(group, op.n, [&](int k, int column) {
    float w[kPerThread], b[kPerThread];
    op.weight.load_or(1, column, w);
    op.bias.load_or(0, column, b);
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) x[k][i] = (x[k][i] - mu) * r * w[i] + b[i];
    op.y.store(first + column, x[k]);
  });
  if (group.rank() == 0) {
    op.statistics[2 * row] = mu;
    op.statistics[2 * row + 1] = r;
  }
}

struct Backward {
  PackedRows dy, x, weight, dx;
  const float* statistics;
  float* parts;
  std::int64_t rows;
  int n;
};

// Sums `values` over the groups of this block, in order, and writes the sums to `out`. All threads
// call it.
template <int kPacks>
__device__ void sum_groups(const Group& group, const float (&values)[kPacks][kPerThread], int n,
                           float* shared, float* out) {
  const int groups = static_cast<int>(blockDim.x) / group.size();
  for (int turn = 0; turn < groups; ++turn) {
    if (turn == static_cast<int>(threadIdx.x) / group.size()) {
      each_pack<kPacks>(group, n, [&](int k, int column) {
#pragma unroll
        for (int i = 0; i < kPerThread; ++i) {
          shared[column + i] = (turn == 0 ? 0 : shared[column + i]) + values[k][i];
        }
      });
    }
    __syncthreads();
  }
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    out[i] = shared[i];
  }
  __syncthreads();
}

// The gradient with n = (x - mu) r and g = dy w; rms_norm has no mean(g).
//
//     dx_i = r (g_i - mean(g) - n_i mean(g n))
template <bool kCentred, int kPacks>
__global__ void __launch_bounds__(kRowThreads)
    normalize_gradient(const Backward op, bool by_block) {
  extern __shared__ float shared[];  // one row
  const Group group(by_block);
  const auto count = static_cast<float>(op.n);
  const std::int64_t groups = static_cast<std::int64_t>(gridDim.x) * (by_block ? 1 : kRowWarps);
  float dw[kPacks][kPerThread] = {}, db[kPacks][kPerThread] = {};
  for (std::int64_t row = row_of(group); row < op.rows; row += groups) {
    const std::int64_t first = row * op.n;
    const float mu = op.statistics[2 * row], r = op.statistics[2 * row + 1];
    float g[kPacks][kPerThread], normal[kPacks][kPerThread];
    each_pack<kPacks>(group, op.n, [&](int k, int column) {
      op.dy.load(first + column, g[k]);
      op.x.load(first + column, normal[k]);
      float w[kPerThread];
      op.weight.load_or(1, column, w);
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
        normal[k][i] = (normal[k][i] - mu) * r;
        dw[k][i] += g[k][i] * normal[k][i];
        db[k][i] += g[k][i];
        g[k][i] *= w[i];
      }
    });
    float mean = 0;
    if (kCentred) {
      mean = sum_of_row<kPacks>(group, op.n, [&](int k, int i) { return g[k][i]; }) / count;
    }
    const auto g_times_n = [&](int k, int i) { return g[k][i] * normal[k][i]; };
    const float mean_gn = sum_of_row<kPacks>(group, op.n, g_times_n) / count;
    each_pack<kPacks>(group, op.n, [&](int k, int column) {
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) g[k][i] = r * (g[k][i] - mean - normal[k][i] * mean_gn);
      op.dx.store(first + column, g[k]);
    });
  }
  float* const part = op.parts + static_cast<std::int64_t>(blockIdx.x) * 2 * op.n;
  sum_groups<kPacks>(group, dw, op.n, shared, part);
  sum_groups<kPacks>(group, db, op.n, shared, part + op.n);
}

bool takes(const Array& x, const Array& weight, const Array& bias) {
  return PackedRows::fit(x) && PackedRows::fit(weight) && PackedRows::fit(bias) &&
         x.size(1) <= kLongestRow;
}

const char* op_name(bool centred) { return centred ? "layer_norm" : "rms_norm"; }

unsigned blocks_for_rows(const Array& x) {
  return blocks_for(x.size(0), rows_by_block(x.size(1)) ? 1 : kRowWarps);
}

}  // namespace

bool normalize_on_cuda(bool centred, const Array& x, const Array& weight, const Array& bias,
                       double eps, const Array& y, const Array& statistics) {
  if (!takes(x, weight, bias)) return false;
  const Launch launch(x, op_name(centred));
  const Forward op{PackedRows(x),
                   PackedRows(weight),
                   PackedRows(bias),
                   PackedRows(y),
                   statistics.data_as<float>(),
                   x.size(0),
                   static_cast<int>(x.size(1)),
                   static_cast<float>(eps)};
  with_packs_for(op.n, [&](auto packs) {
    constexpr int kPacks = decltype(packs)::value;
    const auto kernel = centred ? normalize<true, kPacks> : normalize<false, kPacks>;
    kernel<<<blocks_for_rows(x), kRowThreads, 0, launch.stream()>>>(op, rows_by_block(op.n));
  });
  launch.check();
  return true;
}

NormalizeGradient normalize_gradient_on_cuda(bool centred, const Array& dy, const Array& x,
                                             const Array& weight, const Array& statistics) {
  // Two blocks for each multiprocessor of an H100.
  constexpr unsigned kBlocks = 264;
  if (!takes(x, weight, dy)) return {};
  const unsigned blocks = std::min(kBlocks, blocks_for_rows(x));
  const NormalizeGradient gradient{Array::empty(x.sizes(), x.dtype(), x.device()),
                                   Array::empty({blocks, 2, x.size(1)}, DType::f32, x.device())};
  const Launch launch(x, op_name(centred));
  const Backward op{PackedRows(dy),
                    PackedRows(x),
                    PackedRows(weight),
                    PackedRows(gradient.dx),
                    statistics.data_as<const float>(),
                    gradient.parts.data_as<float>(),
                    x.size(0),
                    static_cast<int>(x.size(1))};
  const std::size_t shared = static_cast<std::size_t>(op.n) * sizeof(float);
  with_packs_for(op.n, [&](auto packs) {
    constexpr int kPacks = decltype(packs)::value;
    const auto kernel =
        centred ? normalize_gradient<true, kPacks> : normalize_gradient<false, kPacks>;
    kernel<<<blocks, kRowThreads, shared, launch.stream()>>>(op, rows_by_block(op.n));
  });
  launch.check();
  return gradient;
}

}  // namespace halfgrad::detail
