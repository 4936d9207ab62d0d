#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/core/graph.h>
#include <halfgrad/halfgrad.h>
#include "amp_works.h"

// The latency of inference in fp16 on a GPU: one call and the wait for it, as a server does it,
// eager and as a captured graph. The models are those of bench/amp_works.h, FusedMLP where it fits.
// bench/inference_pytorch.py times PyTorch's.
namespace halfgrad {
namespace {

enum class Mode { eager, graph };

nn::Module model_of(const bench::Work& work, std::function<Tensor(const Tensor&)>& call) {
  if (work.is_narrow()) {
    const nn::FusedMLP fused(work.sizes);
    call = [fused](const Tensor& x) { return fused(x); };
    return fused;
  }
  const nn::Sequential layers = bench::layers(work);
  call = [layers](const Tensor& x) { return layers(x); };
  return layers;
}

void infer(benchmark::State& state, const bench::Work& work, std::int64_t batch, Mode mode) {
  const NoGradGuard no_grad;
  const Device device(kCUDA);
  manual_seed(0);
  std::function<Tensor(const Tensor&)> call;
  nn::Module model = model_of(work, call);
  model.to(device);
  model.to(kHalf);
  model.eval();
  const Tensor x = randn({batch, work.sizes.front()}).to(device).to(kHalf);
  const auto step = [&] { benchmark::DoNotOptimize(call(x)); };
  step();
  Graph graph(device);
  if (mode == Mode::graph) graph.capture(step);
  for (auto _ : state) {
    mode == Mode::graph ? graph.replay() : step();
    cuda::synchronize(device);
  }
}

const bool registered = [] {
  if (!cuda::is_available()) return false;
  for (const bench::Work& work : bench::works()) {
    const std::string name = work.name;
    if (name != "S" && name != "W64x14" && name != "L") continue;
    for (const std::int64_t batch : {1, 256}) {
      for (const Mode mode : {Mode::eager, Mode::graph}) {
        const std::string full = "inference/" + name + "/" + std::to_string(batch) +
                                 (mode == Mode::graph ? "/graph" : "/eager");
        benchmark::RegisterBenchmark(
            full.c_str(), [=](benchmark::State& state) { infer(state, work, batch, mode); })
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace halfgrad
