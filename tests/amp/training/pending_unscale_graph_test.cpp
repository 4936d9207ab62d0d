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

TEST_P(PendingUnscalesInGraphs, AreCapturedByAGraph) {
  for (const GivenCalls& calls : {kFourCalls, kTwoCalls}) {
    const PassCase adam = pass_cases()[2];
    GivenGradients eager(adam, kGradientShapes, device(), kGivenOptions),
        captured(adam, kGradientShapes, device(), kGivenOptions);
    const std::vector<Tensor> values = draw_values(kGradientShapes, 1, device());
    const auto step = [&](GivenGradients& training) {
      training.backward(values, Kept::half);
      calls.run(training);
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
      ASSERT_EQ(eager.state(), captured.state()) << calls.name << ", " << replay;
      ASSERT_EQ(eager.gradients(), captured.gradients()) << calls.name << ", " << replay;
    }
  }
}

// PyTorch's pattern: every replay makes new gradients, which eager calls unscale and clip.
TEST_P(PendingUnscalesInGraphs, FollowACapturedBackwardPass) {
  const PassCase adam = pass_cases()[2];
  for (const GivenCalls& calls : {kFourCalls, kTwoCalls}) {
    GivenGradients eager(adam, {{40}}, device(), kGivenOptions),
        captured(adam, {{40}}, device(), kGivenOptions);
    const Tensor values = full({40}, 1, {.device = device()});
    const auto queue = [&] { captured.backward({values}, Kept::half); };
    queue();
    Graph graph(device());
    graph.capture(queue);
    for (int step = 0; step < 4; ++step) {
      values.array().fill_(step + 1);
      eager.backward({values}, Kept::half);
      graph.replay();
      calls.run(eager);
      calls.run(captured);
      ASSERT_EQ(eager.state(), captured.state()) << calls.name << ", " << step;
      ASSERT_EQ(eager.gradients(), captured.gradients()) << calls.name << ", " << step;
    }
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
