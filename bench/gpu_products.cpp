#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/core/gemm.h>
#include <halfgrad/halfgrad.h>
#include "amp_works.h"

// Products of 16-bit matrices on a GPU, each alone, by cuBLASLt and by our kernel for a small C:
// what the rule of core/cuda/kernels/gemm_small_plan.h must choose between. A product's time is
// that of a node in a CUDA graph whose nodes wait for each other, as in a captured training step.
namespace halfgrad {
namespace {

constexpr int kNodes = 50;

struct Product {
  std::string name;
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;  // stored as [k, m] and as [n, k]
};

// The products of the works' layers, those of equal shape once:
//     y = x w^T    dx = dy w    dw = dy^T x
std::vector<Product> products() {
  std::vector<Product> all;
  for (const bench::Work& work : bench::works()) {
    for (std::size_t i = 0; i + 1 < work.sizes.size(); ++i) {
      const std::int64_t in = work.sizes[i], out = work.sizes[i + 1];
      if (i > 1 && in == work.sizes[i - 1] && out == work.sizes[i]) continue;
      const std::string name = std::string(work.name) + "/" + std::to_string(i);
      all.push_back({name + "/y", work.batch, out, in, false, true});
      all.push_back({name + "/dx", work.batch, in, out, false, false});
      all.push_back({name + "/dw", out, in, work.batch, true, false});
    }
  }
  return all;
}

void multiply(benchmark::State& state, const Product& product, GemmBackend backend) {
  const NoGradGuard no_grad;
  const auto drawn = [](std::int64_t rows, std::int64_t cols, bool transposed) {
    // Random values: on constant ones a GPU draws less power and clocks higher than in training.
    const Tensor stored = transposed ? randn({cols, rows}) : randn({rows, cols});
    const Tensor moved = stored.to(Device(kCUDA)).to(kHalf);
    return transposed ? moved.t() : moved;
  };
  manual_seed(0);
  const Tensor a = drawn(product.m, product.k, product.a_transposed);
  const Tensor b = drawn(product.k, product.n, product.b_transposed);
  const GemmBackend before = gemm_backend();
  set_gemm_backend(backend);
  const auto step = [&] { benchmark::DoNotOptimize(matmul(a, b)); };
  step();
  Graph graph{Device(kCUDA)};
  graph.capture([&] {
    for (int i = 0; i < kNodes; ++i) step();
  });
  set_gemm_backend(before);
  graph.replay();
  cuda::synchronize(Device(kCUDA));
  while (state.KeepRunningBatch(kNodes)) {
    graph.replay();
    cuda::synchronize(Device(kCUDA));
  }
  const auto flops = static_cast<double>(2 * product.m * product.n * product.k);
  state.counters["FLOP/s"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  if (!cuda::is_available()) return false;
  for (const Product& product : products()) {
    const auto add = [&](const std::string& kernel, GemmBackend backend) {
      const auto run = [=](benchmark::State& state) { multiply(state, product, backend); };
      const std::string shape = std::to_string(product.m) + "x" + std::to_string(product.n) + "x" +
                                std::to_string(product.k);
      benchmark::RegisterBenchmark((product.name + "/" + shape + "/" + kernel).c_str(), run)
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    };
    add("cublaslt", GemmBackend::cublaslt);
    if (product.m * product.n <= 4096 * 512) add("small_product", GemmBackend::small_product);
  }
  return true;
}();

}  // namespace
}  // namespace halfgrad
