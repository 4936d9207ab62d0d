#include <functional>
#include <memory>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/master_weights.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/memory/host_reads.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/optim.h>
#include <halfgrad/tests/optim/make_optimizer.h>

#include <halfgrad/tests/devices.h>

// A whole mixed-precision step never reads from the device, and a graph replays it.
namespace halfgrad::amp {
namespace {

class WholeStep : public OnDevice {};
HALFGRAD_ON_DEVICES(WholeStep);

struct StepCase {
  const char* name;
  MakeOptimizer make;
  bool pure = false;  // 16-bit weights with masters
};

std::vector<StepCase> step_cases() {
  using namespace optim;
  return {
      {"sgd", make<SGD>(SGDArguments{.lr = 0.1})},
      {"sgd momentum", make<SGD>(SGDArguments{.lr = 0.1, .momentum = 0.9, .dampening = 0.5})},
      {"adam", make<Adam>(AdamArguments{.lr = 0.01, .weight_decay = 0.1})},
      {"adam amsgrad", make<Adam>(AdamArguments{.lr = 0.01, .amsgrad = true})},
      {"adamw", make<AdamW>(AdamWArguments{.lr = 0.01})},
      {"adamw masters", make<AdamW>(AdamWArguments{.lr = 0.01}), true},
  };
}

// Batches are written into x; y stays.
class Training {
 public:
  Training(const StepCase& c, Device device)
      : model(nn::Linear(8, 16), nn::BatchNorm1d(16, {.momentum = std::nullopt}), nn::ReLU(),
              nn::Dropout(0.25), nn::Linear(16, 4)),
        x(zeros({12, 8}, {.device = device})),
        y(randint(4, {12}, {.device = device})) {
    model.to(device);
    if (c.pure) model.to(kHalf);
    optimizer = c.make(model.parameters());
    if (c.pure) masters.emplace(*optimizer);
  }

  void fill() { x.copy_(randn({12, 8}).to(x.device())); }

  void step() {
    optimizer->zero_grad();
    Tensor loss;
    {
      const Autocast autocast(x.device().type(), {.dtype = kHalf, .enabled = !masters});
      loss = nn::functional::cross_entropy(model(masters ? x.to(kHalf) : x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(*optimizer);
    nn::utils::clip_grad_norm_(model.parameters(), 0.5);
    scaler.step(*optimizer);
    scaler.update();
  }

  static constexpr std::size_t kSkipped = 1;
  // The scale, the skipped steps, the loss, the weights and the running statistics.
  std::vector<double> state() const {
    std::vector<double> elements{scaler.get_scale(),
                                 static_cast<double>(scaler.counts().skipped_steps),
                                 scaler.reports().back().loss.value()};
    const auto add = [&elements](const Tensor& tensor) {
      const auto values = tensor.to_vector<double>();
      elements.insert(elements.end(), values.begin(), values.end());
    };
    for (const Tensor& parameter : model.parameters()) add(parameter);
    for (const Tensor& buffer : model.buffers()) add(buffer);
    return elements;
  }

  nn::Sequential model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::optional<MasterWeights> masters;
  // It grows until the gradient of the logits, (p - 1) / 12 times the scale, overflows fp16.
  GradScaler scaler{{.init_scale = 0x1p19, .growth_interval = 2, .history = 4}};
  Tensor x, y;
};

TEST_P(WholeStep, ReadsNothingOnTheHost) {
  for (const StepCase& c : step_cases()) {
    manual_seed(0);
    Training training(c, device());
    for (int step = 0; step < 5; ++step) {
      training.fill();
      const auto waits = cuda::host_waits();
      const auto reads = detail::host_reads();
      training.step();
      EXPECT_EQ(cuda::host_waits(), waits) << c.name << ", step " << step;
      EXPECT_EQ(detail::host_reads(), reads) << c.name << ", step " << step;
    }
    EXPECT_GT(training.scaler.counts().skipped_steps, 0) << c.name;
  }
}

// The rate falls from step to step, the scale grows and backs off: the graph follows.
TEST_P(WholeStep, ReplayEqualsAPlainRun) {
  for (const StepCase& c : step_cases()) {
    const auto run = [&](bool in_graph) {
      manual_seed(0);
      Training training(c, device());
      optim::ExponentialLR schedule(*training.optimizer, {.gamma = 0.5});
      Graph graph(device());
      std::vector<std::vector<double>> states;
      for (int step = 0; step < 7; ++step) {
        training.fill();
        if (step == 1 && in_graph) graph.capture([&] { training.step(); });
        if (step >= 1 && in_graph) {
          graph.replay();
        } else {
          training.step();
        }
        schedule.step();
        states.push_back(training.state());
      }
      return states;
    };
    const auto eager = run(false);
    EXPECT_TRUE(run(true) == eager) << c.name;
    EXPECT_GT(eager.back()[Training::kSkipped], 0) << "a step was skipped";
    EXPECT_LT(eager.back()[Training::kSkipped], 7) << "another was not";
  }
}

}  // namespace
}  // namespace halfgrad::amp
