#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/core/graph.h>

#include <halfgrad/tests/amp/training/given_calls.h>
#include <halfgrad/tests/devices.h>

// Graphs that capture all of the scaler's calls, or none of them, or are replayed between them.
namespace halfgrad::amp {
namespace {

class PendingUnscalesInGraphs : public OnDevice {};
HALFGRAD_ON_DEVICES(PendingUnscalesInGraphs);

struct CallsInGraph {
  GivenCalls calls;
  GradScalerOptions options;
  Kept kept;
};

std::vector<CallsInGraph> calls_in_graphs() {
  std::vector<CallsInGraph> all;
  for (const GivenCalls& calls : {kFourCalls, kTwoCalls}) {
    for (const GradScalerOptions& options : {kGivenOptions, kNoScaler}) {
      for (const Kept kept : {Kept::half, Kept::mixed}) all.push_back({calls, options, kept});
    }
  }
  return all;
}

TEST_P(PendingUnscalesInGraphs, AreCapturedByAGraph) {
  for (const CallsInGraph& c : calls_in_graphs()) {
    const PassCase adam = pass_cases()[2];
    GivenGradients eager(adam, kGradientShapes, device(), c.options),
        captured(adam, kGradientShapes, device(), c.options);
    const std::vector<Tensor> values = draw_values(kGradientShapes, 1, device());
    const auto step = [&](GivenGradients& training) {
      training.backward(values, c.kept);
      c.calls.run(training);
    };
    step(eager);
    step(captured);
    Graph graph(device());
    graph.capture([&] { step(captured); });
    for (int replay = 0; replay < 6; ++replay) {
      const std::vector<Tensor> drawn = draw_values(kGradientShapes, 1, device());
      for (std::size_t i = 0; i < values.size(); ++i) values[i].array().copy_(drawn[i].array());
      if (replay == 3) values[0].fill_(std::numeric_limits<float>::infinity());
      step(eager);
      graph.replay();
      ASSERT_EQ(eager.state(), captured.state()) << c.calls.name << ", " << replay;
      ASSERT_EQ(eager.gradients(), captured.gradients()) << c.calls.name << ", " << replay;
    }
  }
}

// PyTorch's pattern: every replay makes new gradients, which eager calls unscale and clip.
TEST_P(PendingUnscalesInGraphs, FollowACapturedBackwardPass) {
  const PassCase adam = pass_cases()[2];
  for (const CallsInGraph& c : calls_in_graphs()) {
    GivenGradients eager(adam, {{40}, {3, 5}}, device(), c.options),
        captured(adam, {{40}, {3, 5}}, device(), c.options);
    const std::vector<Tensor> values = {ones({40}, {.device = device()}),
                                        ones({3, 5}, {.device = device()})};
    const auto queue = [&] { captured.backward(values, c.kept); };
    queue();
    Graph graph(device());
    graph.capture(queue);
    for (int step = 0; step < 4; ++step) {
      for (const Tensor& each : values) each.array().fill_(step + 1);
      eager.backward(values, c.kept);
      graph.replay();
      c.calls.run(eager);
      c.calls.run(captured);
      ASSERT_EQ(eager.state(), captured.state()) << c.calls.name << ", " << step;
      ASSERT_EQ(eager.gradients(), captured.gradients()) << c.calls.name << ", " << step;
    }
  }
}

// Eager code may change the gradients of a replay.
TEST_P(PendingUnscalesInGraphs, FollowAnEagerWriteToACapturedGradient) {
  const GivenCalls calls{"write, step", [](GivenGradients& t) {
                           for (const Tensor& each : t.defined_gradients()) each.mul_(Scalar(3));
                           t.optimizer->step();
                         }};
  const std::vector<Shape> shapes = {{40}, {3, 5}};
  GivenGradients eager(pass_cases()[0], shapes, device(), kNoScaler),
      captured(pass_cases()[0], shapes, device(), kNoScaler);
  const std::vector<Tensor> values = draw_values(shapes, 1, device());
  captured.backward(values, Kept::mixed);
  Graph graph(device());
  graph.capture([&] { captured.backward(values, Kept::mixed); });
  for (int step = 0; step < 3; ++step) {
    eager.backward(values, Kept::mixed);
    graph.replay();
    calls.run(eager);
    calls.run(captured);
    ASSERT_EQ(eager.state(), captured.state()) << step;
  }
}

// The replay makes a whole step of the same training, and changes the scale.
TEST_P(PendingUnscalesInGraphs, AreSettledBeforeAReplay) {
  if (device().is_cpu()) GTEST_SKIP() << "a replay would call the scaler between its calls";
  const PassCase adam = pass_cases()[2];
  const GradScalerOptions options{.init_scale = 64, .growth_interval = 1};
  GivenGradients looked(adam, kGradientShapes, device(), options),
      waiting(adam, kGradientShapes, device(), options);
  const std::vector<Tensor> values = draw_values(kGradientShapes, 1, device());
  for (GivenGradients* training : {&looked, &waiting}) {
    const auto step = [&] {
      training->backward(values, Kept::half);
      kFourCalls.run(*training);
    };
    step();
    Graph graph(device());
    graph.capture(step);
    training->backward(values, Kept::half);
    if (training == &looked) training->look();
    training->scaler.unscale_(*training->optimizer);
    graph.replay();
    training->total_norm = nn::utils::clip_grad_norm_(training->parameters, 1.5);
    step_and_update_scale(*training);
  }
  EXPECT_EQ(looked.state(), waiting.state());
  EXPECT_EQ(looked.gradients(), waiting.gradients());
}

}  // namespace
}  // namespace halfgrad::amp
