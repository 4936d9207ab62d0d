// Chapter 11: one training step in three ways, on a model of a GPU that counts launches and waits;
// the same in CUDA under the emulator, if nvcc has compiled it; and halfgrad's own step in a Graph.
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/core/graph.h>
#include <halfgrad/core/memory/host_reads.h>
#include <halfgrad/halfgrad.h>

#include "11_cuda_graphs/timeline.h"
#include "course.h"
#include "emulated.h"
#include "exercises/11_cuda_graphs/exercise_device.h"

namespace hg = halfgrad;

namespace {

constexpr int kSteps = 100, kGrowthInterval = 20;
constexpr float kFirstScale = 1024, kFirstRate = 0.2F, kDecay = 0.98F;

/// Everything that changes from step to step: a weight, its scaler, its schedule.
struct State {
  int step = 0;
  float x = 0, y = 0, w = 0, scaled_gradient = 0;
  float scale = kFirstScale, rate = kFirstRate;
  bool found_inf = false;
  int good_steps = 0, skipped = 0;

  void change_scale() {
    if (found_inf) {
      scale *= 0.5F;
      good_steps = 0;
      ++skipped;
    } else if (++good_steps == kGrowthInterval) {
      scale *= 2;
      good_steps = 0;
    }
  }
};
using Device = model::Device<State>;

// The kernels. y = 3 x, and sample 30 is broken.
void load_batch(State& s) {
  s.x = 0.5F + 0.125F * static_cast<float>(s.step % 4);
  s.y = s.step == 30 ? std::numeric_limits<float>::infinity() : 3 * s.x;
  ++s.step;
}
void backward(State& s, float scale) { s.scaled_gradient = (s.w * s.x - s.y) * s.x * scale; }
void check(State& s) { s.found_inf = !std::isfinite(s.scaled_gradient); }
void update(State& s, float scale, float rate) { s.w -= rate * (s.scaled_gradient / scale); }

struct Outcome {
  State last;
  int launches = 0, kernels = 0, waits = 0;
};

Outcome outcome_of(Device& device) {
  const int launches = device.launches(), waits = device.waits();  // without the read below
  const State last = device.read();
  return {last, launches, device.kernels(), waits};
}

// The host keeps scale and learning rate, and must know found_inf before it can go on.
void host_step(Device& device, State& host) {
  device.launch(load_batch);
  device.launch([scale = host.scale](State& s) { backward(s, scale); });
  device.launch(check);
  host.found_inf = device.read().found_inf;  // waits
  if (!host.found_inf) {
    device.launch([scale = host.scale, rate = host.rate](State& s) { update(s, scale, rate); });
  }
  host.change_scale();
  host.rate *= kDecay;
}

// The device keeps all of it, and decides by itself.
void device_step(Device& device) {
  device.launch(load_batch);
  device.launch([](State& s) { backward(s, s.scale); });
  device.launch(check);
  device.launch([](State& s) {
    if (!s.found_inf) update(s, s.scale, s.rate);
  });
  device.launch([](State& s) {
    s.change_scale();
    s.rate *= kDecay;
  });
}

// As device_step, but the learning rate is an argument: a value of the host.
void step_with_argument(Device& device, float rate) {
  device.launch(load_batch);
  device.launch([](State& s) { backward(s, s.scale); });
  device.launch(check);
  device.launch([rate](State& s) {
    if (!s.found_inf) update(s, s.scale, rate);
  });
  device.launch([](State& s) { s.change_scale(); });
}

Outcome run_host() {
  Device device{State{}};
  State host;
  for (int step = 0; step < kSteps; ++step) host_step(device, host);
  Outcome outcome = outcome_of(device);
  outcome.last.scale = host.scale;
  outcome.last.skipped = host.skipped;
  return outcome;
}

Outcome run_device() {
  Device device{State{}};
  for (int step = 0; step < kSteps; ++step) device_step(device);
  return outcome_of(device);
}

Outcome run_graph() {
  Device device{State{}};
  device.begin_capture();
  device_step(device);
  const Device::Graph graph = device.end_capture();
  for (int step = 0; step < kSteps; ++step) device.launch(graph);
  return outcome_of(device);
}

// The weight after a graph that was captured with the learning rate as an argument.
float weight_with_frozen_rate() {
  Device device{State{}};
  float rate = kFirstRate;
  device.begin_capture();
  step_with_argument(device, rate);
  const Device::Graph graph = device.end_capture();
  for (int step = 0; step < kSteps; ++step) {
    device.launch(graph);
    rate *= kDecay;  // the graph does not see it
  }
  return device.read().w;
}

// Returns the device's error when somebody captures host_step.
std::string error_of_captured_wait() {
  Device device{State{}};
  State host;
  device.begin_capture();
  try {
    host_step(device, host);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "none";
}

// Throws unless CUDA, under the emulator, runs as many kernels, waits as often, and ends with the
// same bits as the model.
void expect_same_in_cuda(const std::string& way, const Outcome& outcome) {
  const auto run = course::run_emulated("course_11_cuda", way);
  if (!run) return;
  int waits = -1;  // the last copy, of the result
  for (const auto& call : run->report.at("calls")) {
    waits += call.at("detail") == "device to host" ? 1 : 0;
  }
  const auto kernels = static_cast<int>(run->report.at("launches").size());
  char expected[128];
  std::snprintf(expected, sizeof expected, "w %.9g scale %g skipped %d\n",
                static_cast<double>(outcome.last.w), static_cast<double>(outcome.last.scale),
                outcome.last.skipped);
  if (kernels != outcome.kernels || waits != outcome.waits || run->output != expected) {
    throw std::runtime_error("expected " + std::to_string(outcome.kernels) + " kernels, " +
                             std::to_string(outcome.waits) + " waits and " + expected + "got " +
                             std::to_string(kernels) + ", " + std::to_string(waits) + " and " +
                             run->output);
  }
  std::printf("CUDA under the emulator: %d kernels, %d waits, and the same bits\n", kernels, waits);
}

void compare(course::Chapter& chapter, const std::string& way, const Outcome& outcome) {
  std::printf("%s:\n", way.c_str());
  chapter.fact(way + "_launches", outcome.launches);
  chapter.fact(way + "_kernels", outcome.kernels);
  chapter.fact(way + "_waits", outcome.waits);
  chapter.fact(way + "_weight", static_cast<double>(outcome.last.w));
  expect_same_in_cuda(way, outcome);
}

/// A training of halfgrad: the weights after 40 steps, and how often the host read the device.
struct Trained {
  hg::Tensor weights;
  std::int64_t skipped = 0, reads = 0;
};

Trained train(bool with_graph) {
  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  hg::manual_seed(0);
  auto model = hg::nn::Sequential(hg::nn::Linear(8, 32), hg::nn::ReLU(), hg::nn::Linear(32, 4));
  model.to(device);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
  hg::amp::GradScaler scaler({.init_scale = 1 << 22, .growth_interval = 10});
  const hg::Tensor x = hg::zeros({16, 8}, {.device = device});  // the address that kernels read
  const hg::Tensor target = hg::randn({16, 4}).to(device);
  const auto step = [&] {
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(device.type());
      loss = hg::mse_loss(model(x), target);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
  };
  hg::Graph graph(device);
  const std::int64_t before = hg::detail::host_reads();
  for (int i = 0; i < 40; ++i) {
    x.copy_(hg::randn({16, 8}).to(device));
    optimizer.param_groups()[0].lr = 1e-2 * (1 - i / 40.0);  // sent to the device before each step
    if (with_graph && i == 1) graph.capture(step);
    if (with_graph && i >= 1) {
      graph.replay();
    } else {
      step();  // the first step allocates what later ones keep
    }
  }
  Trained result;
  result.reads = hg::detail::host_reads() - before;
  result.skipped = optimizer.skipped_steps().to(hg::Device()).data_as<std::int64_t>()[0];
  result.weights = model.parameters()[0].detach().to(hg::kCPU);
  return result;
}

void train_in_graph(course::Chapter& chapter) {
  const Trained eager = train(false), replayed = train(true);
  std::printf("halfgrad's own step, 40 times:\n");
  chapter.fact("graph_and_eager", hg::equal(eager.weights, replayed.weights) ? "equal" : "differ");
  chapter.fact("skipped_steps", static_cast<double>(replayed.skipped));
  chapter.fact("host_reads", static_cast<double>(replayed.reads));
}

void draw_timeline(course::Chapter& chapter) {
  const std::vector<timeline::Way> ways = {
      {"host", {1, 1, 1, 0, 1}}, {"device", {1, 1, 1, 1, 1}}, {"graph", {5}}};
  std::printf("If a launch takes as long as two kernels:\n");
  for (const timeline::Way& way : ways) {
    chapter.fact(way.name + "_idle_percent", timeline::Schedule(way, kSteps).idle_percent());
  }
  chapter.picture("timeline", timeline::picture(ways, 3));
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(
      argc, argv,
      {.slug = "11_cuda_graphs", .does = "Counts launches and waits of a training step."});
  return chapter.run([&] {
    compare(chapter, "host", run_host());
    compare(chapter, "device", run_device());
    compare(chapter, "graph", run_graph());
    draw_timeline(chapter);
    std::printf("What breaks a capture:\n");
    chapter.fact("frozen_rate_weight", static_cast<double>(weight_with_frozen_rate()));
    std::printf("capturing a wait: %s\n", error_of_captured_wait().c_str());
    if (const auto run = course::run_emulated("course_11_cuda", "refused", true)) {
      std::printf("the same in CUDA: %s", run->output.c_str());
    }
    train_in_graph(chapter);
  });
}
