#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <halfgrad/core/graph.h>
#include <halfgrad/halfgrad.h>

// Benchmarks for bench/compare_pytorch_cuda.py and bench/compare_jax.py: one fp16 mixed-precision
// step of an MLP with GradScaler, clipping and Adam, eager and as a captured graph, with and
// without the scaler, layer by layer and as FusedMLP; and the step's matrix products alone.
// bench/amp_works.py lists the same workloads.
namespace halfgrad {
namespace {

struct Work {
  const char* name;
  std::vector<std::int64_t> sizes;
  std::int64_t batch;
};

const Work kWorks[] = {
    {"S", {784, 512, 512, 10}, 256},
    {"W64x14", {64, 64, 64, 64, 64, 10}, 1 << 14},
    {"W64x18", {64, 64, 64, 64, 64, 10}, 1 << 18},
    {"W128x14", {128, 128, 128, 128, 128, 10}, 1 << 14},
    {"W128x18", {128, 128, 128, 128, 128, 10}, 1 << 18},
    {"L", {4096, 4096, 4096, 4096, 4096}, 8192},
};

struct Mode {
  const char* name;
  bool graph;
  bool scaler;
  bool fused = false;  // FusedMLP instead of Sequential; for narrow layers
};

constexpr Mode kModes[] = {{"eager", false, true},
                           {"graph", true, true},
                           {"eager_no_scaler", false, false},
                           {"graph_no_scaler", true, false},
                           {"eager_fused", false, true, true},
                           {"graph_fused", true, true, true}};

bool applies(const Mode& mode, const Work& work) {
  const std::int64_t widest = *std::max_element(work.sizes.begin(), work.sizes.end());
  return !mode.fused || widest <= 128;
}

// Queues several calls between waits, so that the GPU is never idle.
template <class F>
void measure(benchmark::State& state, Device device, const F& f) {
  const int calls = device.is_cuda() ? 20 : 1;
  while (state.KeepRunningBatch(calls)) {
    for (int i = 0; i < calls; ++i) f();
    if (device.is_cuda()) cuda::synchronize(device);
  }
}

using Model = std::function<Tensor(const Tensor&)>;

nn::Sequential layers(const Work& work) {
  nn::Sequential model;
  for (std::size_t i = 0; i + 1 < work.sizes.size(); ++i) {
    if (i > 0) model.push_back(nn::ReLU());
    model.push_back(nn::Linear(work.sizes[i], work.sizes[i + 1]));
  }
  return model;
}

void amp_step(benchmark::State& state, const Work& work, const Mode& mode, Device device) {
  manual_seed(0);
  nn::Module module;
  Model model;
  const auto use = [&](auto made) {
    module = made;
    model = made;
  };
  mode.fused ? use(nn::FusedMLP(work.sizes)) : use(layers(work));
  module.to(device);
  optim::Adam optimizer(module.parameters(), {.lr = 1e-3});
  amp::GradScaler scaler({.enabled = mode.scaler});
  const Tensor x = randn({work.batch, work.sizes.front()}).to(device);
  const Tensor y = randint(work.sizes.back(), {work.batch}).to(device);
  const auto step = [&] {
    optimizer.zero_grad();
    Tensor loss;
    {
      const amp::Autocast autocast(device.type(), {.dtype = kHalf});
      loss = nn::functional::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    nn::utils::clip_grad_norm_(module.parameters(), 1.0);
    scaler.step(optimizer);
    scaler.update();
  };
  step();
  if (!mode.graph) return measure(state, device, step);
  Graph graph(device);
  graph.capture(step);
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
    for (const Work& work : kWorks) {
      for (const Mode& mode : kModes) {
        if (!applies(mode, work)) continue;
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
