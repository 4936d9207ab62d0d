#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/halfgrad.h>

// Benchmarks for bench/compare_pytorch.py: whole training steps of small MLPs, and the overhead of
// one op.
namespace halfgrad {
namespace {

nn::Sequential mlp(const std::vector<std::int64_t>& sizes) {
  nn::Sequential model;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (i > 0) model.push_back(nn::ReLU());
    model.push_back(nn::Linear(sizes[i], sizes[i + 1]));
  }
  return model;
}

struct Precision {
  const char* name;
  DType dtype;
};
constexpr Precision kPrecisions[] = {{"f32", kFloat}, {"bf16", kBFloat16}, {"fp16", kHalf}};

// Seconds per step, in samples of at least 1 ms: their median ignores the moments in which another
// process has the core. bench/compare_pytorch.py takes PyTorch's samples in the same way.
class Samples {
 public:
  void count_step() {
    ++steps_;
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> elapsed = now - start_;
    if (elapsed.count() < 1e-3) return;
    seconds_.push_back(elapsed.count() / steps_);
    start_ = now;
    steps_ = 0;
  }

  double median() {
    if (seconds_.empty()) return 0;
    const auto middle = seconds_.begin() + static_cast<std::ptrdiff_t>(seconds_.size() / 2);
    std::nth_element(seconds_.begin(), middle, seconds_.end());
    return *middle;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  int steps_ = 0;
  std::vector<double> seconds_;
};

// zero_grad, forward, cross entropy, backward, Adam: the step that the script times in PyTorch.
void train_step(benchmark::State& state, const std::vector<std::int64_t>& sizes, std::int64_t batch,
                DType dtype) {
  manual_seed(0);
  auto model = mlp(sizes);
  optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  amp::GradScaler scaler({.enabled = dtype == kHalf});
  const Tensor x = randn({batch, sizes.front()});
  const Tensor y = randint(sizes.back(), {batch});
  Samples samples;
  for (auto _ : state) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const bool enabled = dtype != kFloat;
      const amp::Autocast autocast(kCPU, enabled ? dtype : kBFloat16, enabled);
      loss = nn::functional::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    samples.count_step();
  }
  state.counters["median_s"] = samples.median();
}

Tensor one_element(double value) { return full({1}, value, {.requires_grad = true}); }

void mul_forward(benchmark::State& state) {
  const Tensor x = one_element(2);
  const Tensor y = one_element(3);
  for (auto _ : state) benchmark::DoNotOptimize(x * y);
}

// Backward of x * y: writes new gradients, as after zero_grad(), or adds to existing ones. The time
// includes reading the clock, about 25 ns.
void mul_backward(benchmark::State& state, bool accumulates) {
  Tensor x = one_element(2);
  Tensor y = one_element(3);
  for (auto _ : state) {
    if (!accumulates) {
      x.set_grad({});
      y.set_grad({});
    }
    const Tensor product = x * y;
    const auto start = std::chrono::steady_clock::now();
    product.backward();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count());
  }
}

void add_train_steps(const std::vector<std::int64_t>& sizes, std::int64_t batch) {
  std::string name = "train_step/" + std::to_string(sizes[0]);
  for (std::size_t i = 1; i < sizes.size(); ++i) name += "-" + std::to_string(sizes[i]);
  name += "/" + std::to_string(batch) + "/";
  for (const Precision& precision : kPrecisions) {
    benchmark::RegisterBenchmark((name + precision.name).c_str(), train_step, sizes, batch,
                                 precision.dtype)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

const bool registered = [] {
  add_train_steps({64, 64, 10}, 32);
  add_train_steps({784, 128, 10}, 64);
  add_train_steps({784, 512, 512, 10}, 128);
  add_train_steps({1024, 1024, 1024, 1024}, 512);
  benchmark::RegisterBenchmark("mul_forward_1_element", mul_forward);
  benchmark::RegisterBenchmark("mul_backward_1_element", mul_backward, false)->UseManualTime();
  benchmark::RegisterBenchmark("mul_accumulate_1_element", mul_backward, true)->UseManualTime();
  return true;
}();

}  // namespace
}  // namespace halfgrad
