#include <time.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/halfgrad.h>

// Training steps on one thread, for bench/inspector_cost.py: it sends a line "NET MODE STEPS", and
// gets the CPU time of a step in nanoseconds. A second program has the same source and an autograd
// without observers (without_observer.cpp).
namespace {

namespace hg = halfgrad;

constexpr int kEvery = 100;

struct Net {
  hg::nn::Sequential model;
  hg::optim::SGD optimizer;
  hg::amp::GradScaler scaler{{.init_scale = 1024}};
  hg::Tensor x, y;
  hg::amp::OpLog ops{hg::amp::NamedModel(model)};
  hg::amp::UnderflowLedger ledger{hg::amp::NamedModel(model), {.every = kEvery}};
  std::int64_t steps = 0;

  Net(hg::nn::Sequential layers, std::int64_t batch, std::int64_t inputs)
      : model(std::move(layers)),
        optimizer(model.parameters(), {.lr = 1e-3}),
        x(hg::randn({batch, inputs})),
        y(hg::randint(10, {batch})) {}

  hg::Tensor loss() const {
    const hg::amp::Autocast autocast(hg::kCPU);
    return hg::nn::functional::cross_entropy(model(x), y);
  }

  // With the inspector, of each 100 steps one is logged and one is measured.
  void step(bool inspected) {
    optimizer.zero_grad();
    if (!inspected) {
      scaler.scale(loss()).backward();
    } else if (++steps % kEvery == kEvery / 2) {
      ops.clear();
      const hg::OpObserverGuard guard(ops);
      scaler.scale(loss()).backward();
    } else {
      const hg::OpObserverGuard guard = ledger.observe(1024);
      scaler.scale(loss()).backward();
    }
    scaler.step(optimizer);
    scaler.update();
  }
};

std::unique_ptr<Net> make_net(const std::string& name) {
  using hg::nn::Linear;
  using hg::nn::ReLU;
  hg::manual_seed(0);
  if (name == "small") {
    return std::make_unique<Net>(
        hg::nn::Sequential{Linear(16, 16), ReLU(), Linear(16, 16), ReLU(), Linear(16, 10)}, 8, 16);
  }
  return std::make_unique<Net>(
      hg::nn::Sequential{Linear(784, 512), ReLU(), Linear(512, 512), ReLU(), Linear(512, 10)}, 128,
      784);
}

double cpu_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

// Number of calls that an observer of one step is notified of, forward and backward.
std::int64_t notifications(Net& net) {
  struct Counter : hg::OpObserver {
    std::int64_t calls = 0;
    void ran(const hg::OpCall& /*call*/) override { ++calls; }
    void ran_backward(const hg::BackwardCall& /*call*/) override { ++calls; }
    void received(const hg::Tensor& /*leaf*/, const hg::Tensor& /*gradient*/) override { ++calls; }
  } counter;
  const hg::OpObserverGuard guard(counter);
  net.loss().backward();
  return counter.calls;
}

}  // namespace

int main() {
  hg::set_num_threads(1);
  const auto small = make_net("small"), large = make_net("large");
  std::cout << notifications(*small) << std::endl;
  for (std::string net, mode; std::cin >> net >> mode;) {
    int steps = 0;
    std::cin >> steps;
    Net& trained = net == "small" ? *small : *large;
    const double start = cpu_nanoseconds();
    for (int i = 0; i < steps; ++i) trained.step(mode == "on");
    std::cout << (cpu_nanoseconds() - start) / steps << std::endl;
  }
}
