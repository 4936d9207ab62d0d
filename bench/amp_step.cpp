#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/core/gemm.h>
#include <halfgrad/core/graph.h>
#include "amp_works.h"

// Benchmarks for bench/compare_pytorch_cuda.py and bench/compare_jax.py: one fp16 mixed-precision
// step of an MLP with GradScaler, clipping and Adam, eager and as a captured graph, with and
// without the scaler, layer by layer and as FusedMLP, by warpgroups, too; and the step's matrix
// products alone. bench/amp_works.h has the workloads.
namespace halfgrad {
namespace {

using bench::AmpStep;
using bench::Work;

struct Mode {
  const char* name;
  bool graph;
  bool scaler;
  bool fused = false;  // FusedMLP instead of Sequential; for narrow layers
  bool warpgroups = false;
  GemmBackend backend = GemmBackend::automatic;
};

constexpr Mode kModes[] = {{"eager", false, true},
                           {"graph", true, true},
                           {"eager_no_scaler", false, false},
                           {"graph_no_scaler", true, false},
                           {"eager_fused", false, true, true},
                           {"graph_fused", true, true, true},
                           {"graph_warpgroups", true, true, true, true},
                           {"graph_cublaslt", true, true, false, false, GemmBackend::cublaslt}};

// Queues several calls between waits, so that the GPU is never idle.
template <class F>
void measure(benchmark::State& state, Device device, const F& f) {
  const int calls = device.is_cuda() ? 20 : 1;
  while (state.KeepRunningBatch(calls)) {
    for (int i = 0; i < calls; ++i) f();
    if (device.is_cuda()) cuda::synchronize(device);
  }
}

void amp_step(benchmark::State& state, const Work& work, const Mode& mode, Device device) {
  set_gemm_backend(mode.backend);
  AmpStep step(work,
               {.scales_loss = mode.scaler, .fused = mode.fused, .warpgroups = mode.warpgroups},
               device);
  step.run();
  if (!mode.graph) return measure(state, device, [&step] { step.run(); });
  Graph graph(device);
  graph.capture([&step] { step.run(); });
  measure(state, device, [&graph] { graph.replay(); });
}

// The products of every layer; the first layer needs no dx:
//     y = x w^T    dx = dy w    dw = dy^T x
void products(benchmark::State& state, const Work& work, Device device) {
  const NoGradGuard no_grad;
  // Random values: on constant ones a GPU draws less power and clocks higher than in training.
  manual_seed(0);
  const auto drawn = [device](const Shape& sizes) {
    return randn(sizes, {.dtype = kHalf, .device = device});
  };
  std::vector<Tensor> activations, weights;
  for (const std::int64_t size : work.sizes) {
    activations.push_back(drawn({work.batch, size}));
  }
  for (std::size_t i = 0; i + 1 < work.sizes.size(); ++i) {
    weights.push_back(drawn({work.sizes[i + 1], work.sizes[i]}));
  }
  measure(state, device, [&] {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Tensor& x = activations[i];
      const Tensor& dy = activations[i + 1];
      benchmark::DoNotOptimize(matmul(x, weights[i].t()));
      if (i > 0) benchmark::DoNotOptimize(matmul(dy, weights[i]));
      benchmark::DoNotOptimize(matmul(dy.t(), x));
    }
  });
}

void add(const std::string& name, Device device, auto function) {
  const std::string full = name + (device.is_cuda() ? "/cuda" : "/cpu");
  benchmark::RegisterBenchmark(full.c_str(), function)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  std::vector<Device> devices{Device()};
  if (cuda::is_available()) devices.push_back(Device(kCUDA));
  for (const Device device : devices) {
    for (const Work& work : bench::works()) {
      for (const Mode& mode : kModes) {
        if (mode.fused && !work.is_narrow()) continue;
        add(std::string("amp_step/") + work.name + "/" + mode.name, device,
            [=](benchmark::State& state) { amp_step(state, work, mode, device); });
      }
      add(std::string("products/") + work.name, device,
          [=](benchmark::State& state) { products(state, work, device); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace halfgrad
