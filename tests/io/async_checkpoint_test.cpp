// A training with asynchronous updates resumes from a file bit for bit.
#include <cmath>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>
#include <halfgrad/io/checkpoint.h>

#include "../folder.h"

namespace halfgrad::io {
namespace {

using namespace tests;

struct AsyncTraining {
  explicit AsyncTraining(std::uint64_t seed) {
    manual_seed(seed);
    model = nn::Sequential(nn::Linear(3, 8), nn::Tanh(), nn::Linear(8, 2));
    model.to(kBFloat16);
    adamw = std::make_unique<optim::AdamW>(model.parameters(), optim::AdamWArguments{.lr = 0.01});
    optimizer = std::make_unique<optim::AsyncOptimizer>(*adamw);
    scaler = std::make_unique<amp::AsyncGradScaler>(
        *optimizer, amp::GradScalerOptions{.init_scale = 1024, .growth_interval = 2, .history = 4});
  }

  /// Two micro-batches make a step; every third step overflows.
  void micro_batch() {
    const Tensor x = rand({4, 3}).to(kBFloat16);
    const double factor = done % 6 == 2 ? INFINITY : 1;
    scaler->scale(square(model(x)).mean() * factor).backward();
    if (++done % 2 != 0) return optimizer->accumulate();
    optimizer->step([this](optim::Optimizer& inner) { scaler->step(inner); });
    scaler->update();
  }
  void run(int micro_batches) {
    for (int i = 0; i < micro_batches; ++i) micro_batch();
  }

  Checkpoint checkpoint() {
    Checkpoint all;
    all.write("optimizer", *optimizer);
    all.write("scaler", *scaler);
    all.write("model", model);
    all.write("random", default_generator());
    all.write("done", done);
    return all;
  }
  void restore(const Checkpoint& all) {
    all.read("model", model);
    optimizer->copy_from_parameters();
    all.read("optimizer", *optimizer);
    all.read("scaler", *scaler);
    all.read("random", default_generator());
    done = all.integer("done");
  }

  nn::Sequential model;
  std::unique_ptr<optim::AdamW> adamw;
  std::unique_ptr<optim::AsyncOptimizer> optimizer;
  std::unique_ptr<amp::AsyncGradScaler> scaler;
  std::int64_t done = 0;
};

TEST(AsyncCheckpoint, ResumesBitForBit) {
  const Folder folder;
  for (const int until : {12, 13}) {  // between two steps, and during accumulation
    AsyncTraining straight(1);
    straight.run(until);
    save_checkpoint(folder / "half", straight.checkpoint());
    straight.run(12);
    save_checkpoint(folder / "straight", straight.checkpoint());

    AsyncTraining resumed(2);
    resumed.restore(load_checkpoint(folder / "half"));
    resumed.run(12);
    save_checkpoint(folder / "resumed", resumed.checkpoint());
    EXPECT_EQ(contents(folder / "resumed"), contents(folder / "straight")) << until;
    EXPECT_GT(resumed.scaler->counts().skipped_steps, 0);
    EXPECT_GT(resumed.scaler->counts().steps, resumed.scaler->counts().skipped_steps);
  }
}

TEST(AsyncCheckpoint, WritingReplacesTheWholePart) {
  AsyncTraining training(1);
  training.run(3);
  Checkpoint checkpoint = training.checkpoint();
  EXPECT_TRUE(checkpoint.tensors.contains("optimizer/0.gradient"));
  training.run(1);
  checkpoint.write("optimizer", *training.optimizer);
  EXPECT_FALSE(checkpoint.tensors.contains("optimizer/0.gradient"));
  EXPECT_TRUE(checkpoint.tensors.contains("optimizer/gradient_scale"));
}

TEST(AsyncCheckpoint, RefusesIncompleteOrWrongParts) {
  AsyncTraining training(1);
  training.run(3);
  const Checkpoint good = training.checkpoint();
  const auto expect_refused = [&](const std::string& what, const auto& change) {
    Checkpoint bad = good;
    change(bad);
    AsyncTraining other(1);
    EXPECT_THROW(bad.read("optimizer", *other.optimizer), std::invalid_argument) << what;
  };
  expect_refused("parameter missing", [](auto& c) { c.tensors.erase("optimizer/1.parameter"); });
  expect_refused("gradient of another shape",
                 [](auto& c) { c.write("optimizer/1.gradient", ones({1})); });
  expect_refused("no scale", [](auto& c) { c.tensors.erase("optimizer/gradient_scale"); });
  expect_refused("a plain optimizer", [](auto& c) { c.write_text("optimizer", "AdamW"); });
  EXPECT_THROW(good.read("optimizer", *AsyncTraining(1).adamw), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::io
