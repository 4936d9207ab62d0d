#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/devices.h>

#include "every_optimizer.h"
#include "parameters.h"
#include "stream.h"

/// Training loops with each optimizer: captured steps, clipping, saved state.
namespace halfgrad::optim {
namespace {

using testing::bytes_of;
using testing::every_optimizer;
using testing::OptimizerCase;
using testing::Stream;

std::vector<OptimizerCase> with_muon() {
  std::vector<OptimizerCase> all = every_optimizer();
  all.push_back({"muon", make<Muon>(MuonArguments{.lr = 0.1})});
  return all;
}

struct TrainingLoops : OnDevice {
  Tensor matrix(Stream& stream) const { return stream.tensor({3, 4}, DType::f32).to(device()); }
};
HALFGRAD_ON_DEVICES(TrainingLoops);

// A captured step follows the learning rate and found_inf.
TEST_P(TrainingLoops, ReplayACapturedStep) {
  for (const OptimizerCase& c : with_muon()) {
    Stream stream;
    const Tensor start = matrix(stream), gradient = matrix(stream);
    Tensor plain = start.clone().requires_grad_(), captured = start.clone().requires_grad_();
    plain.set_grad(gradient.clone());
    captured.set_grad(gradient.clone());
    const auto reference = c.make({plain}), optimizer = c.make({captured});
    const Array found_inf = Array::full({}, 0, DType::f32, device());
    const StepControl control{.found_inf = &found_inf};
    optimizer->step(control);
    reference->step(control);
    Graph graph(device());
    graph.capture([&] { optimizer->step(control); });
    for (const double inf : {0, 0, 1, 0}) {
      found_inf.fill_(inf);
      for (Optimizer* const each : {optimizer.get(), reference.get()}) {
        ParamGroup& group = each->param_groups()[0];
        group.lr = *group.lr * 0.5;
      }
      graph.replay();
      reference->step(control);
      EXPECT_EQ(bytes_of(captured.array()), bytes_of(plain.array())) << c.name;
    }
  }
}

TEST_P(TrainingLoops, StepAndUpdateDoesWhatItsPartsDo) {
  for (const OptimizerCase& c : with_muon()) {
    Stream stream;
    const Tensor start = matrix(stream);
    Tensor whole = start.clone().requires_grad_(), parts = start.clone().requires_grad_();
    const auto optimizer = c.make({whole}), reference = c.make({parts});
    const amp::GradScalerOptions options{.init_scale = 0x1p16, .growth_interval = 2};
    amp::GradScaler scaler(options), other(options);
    for (int step = 0; step < 5; ++step) {
      const Tensor g = matrix(stream).to(DType::f16);
      const auto backward = [&g](amp::GradScaler& with, const Tensor& w) {
        with.scale(sum((w.to(DType::f16) * g).to(DType::f32))).backward();
      };
      optimizer->zero_grad();
      reference->zero_grad();
      backward(scaler, whole);
      backward(other, parts);
      scaler.step_and_update(*optimizer, {.max_norm = 1});
      other.unscale_(*reference);
      nn::utils::clip_grad_norm_(reference->parameters(), 1);
      other.step(*reference);
      other.update();
      EXPECT_EQ(scaler.get_scale(), other.get_scale()) << c.name;
      EXPECT_EQ(bytes_of(whole.array()), bytes_of(parts.array())) << c.name << " step " << step;
    }
  }
}

TEST_P(TrainingLoops, ContinueFromACheckpoint) {
  for (const OptimizerCase& c : with_muon()) {
    Stream stream;
    const Tensor start = matrix(stream);
    Tensor first = start.clone().requires_grad_();
    const auto optimizer = c.make({first});
    const auto train = [&](Optimizer& with, Tensor& w, const Tensor& gradient) {
      w.set_grad(gradient.clone());
      with.step();
    };
    for (int step = 0; step < 3; ++step) train(*optimizer, first, matrix(stream));
    io::Checkpoint checkpoint;
    checkpoint.write("optimizer", *optimizer);
    Tensor second = first.detach().clone().requires_grad_();
    const auto resumed = c.make({second});
    checkpoint.read("optimizer", *resumed);
    for (int step = 0; step < 3; ++step) {
      const Tensor gradient = matrix(stream);
      train(*optimizer, first, gradient);
      train(*resumed, second, gradient);
    }
    EXPECT_EQ(bytes_of(second.array()), bytes_of(first.array())) << c.name;
  }
}

}  // namespace
}  // namespace halfgrad::optim
