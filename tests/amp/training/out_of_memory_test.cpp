// A training step in which each allocation fails in turn: the exception names the failure, no
// memory leaks, and training can continue.
#include <cstring>
#include <optional>

#include <gtest/gtest.h>

#include <halfgrad/core/allocator.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

struct Training {
  Training() {
    manual_seed(1);
    model = nn::Sequential(nn::Linear(6, 8), nn::LayerNorm({8}), nn::GELU(), nn::Dropout(0.3),
                           nn::Linear(8, 3));
    optimizer = std::make_unique<optim::Adam>(model.parameters());
    x = randn({5, 6});
    y = tensor({0, 1, 2, 1, 0});
  }

  void step() {
    optimizer->zero_grad();
    Tensor loss;
    {
      const amp::Autocast autocast(default_device_type(), {.dtype = kHalf});
      loss = nn::functional::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(*optimizer);
    has_found_inf = true;
    nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    scaler.step(*optimizer);
    scaler.update();
    has_found_inf = false;
  }

  nn::Sequential model;
  std::unique_ptr<optim::Optimizer> optimizer;
  amp::GradScaler scaler{{.init_scale = 1024, .growth_interval = 3}};
  Tensor x, y;
  bool has_found_inf = false;  // the next step drops its gradients
};

std::int64_t live_bytes() { return allocator::stats(Device()).current; }
std::int64_t allocations() { return allocator::stats(Device()).allocations; }

/// The message of the failure of allocation n of a step, or nothing if there are fewer.
std::optional<std::string> fail_step(Training& training, std::int64_t n) {
  allocator::fail_allocation(Device(), n);
  std::optional<std::string> message;
  try {
    training.step();
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  allocator::fail_allocation(Device(), 0);  // the step may have fewer
  return message;
}

void expect_whole(const Training& training) {
  for (const Tensor& parameter : training.model.parameters()) {
    EXPECT_TRUE(isfinite(parameter).all().item<bool>());
  }
  EXPECT_FALSE(amp::is_autocast_enabled(default_device_type()));
  EXPECT_TRUE(GradMode::is_enabled());
}

/// Runs `warm` steps first: with 0, optimizer and scaler have no state yet.
void fail_every_allocation(int warm) {
  const std::int64_t before = live_bytes();
  std::int64_t failures = 0;
  for (std::int64_t n = 1;; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    {
      Training training;
      for (int i = 0; i < warm; ++i) training.step();
      const auto message = fail_step(training, n);
      if (!message) break;
      ++failures;
      EXPECT_NE(message->find("got a refusal from fault injection"), std::string::npos) << *message;
      expect_whole(training);
      if (training.has_found_inf) training.scaler.abandon();
      for (int i = 0; i < 2; ++i) ASSERT_NO_THROW(training.step());
      expect_whole(training);
    }
    EXPECT_EQ(live_bytes(), before);
  }
  EXPECT_EQ(live_bytes(), before);
  Training training;
  for (int i = 0; i < warm; ++i) training.step();
  const std::int64_t first = allocations();
  training.step();
  EXPECT_EQ(failures, allocations() - first);
}

TEST(OutOfMemory, FirstStepSurvivesEveryFailedAllocation) { fail_every_allocation(0); }

TEST(OutOfMemory, LaterStepsSurviveEveryFailedAllocation) { fail_every_allocation(2); }

}  // namespace
}  // namespace halfgrad
