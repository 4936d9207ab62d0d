#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/async/async_optimizer.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/optim/sgd.h>

#include <halfgrad/tests/optim/parameters.h>

namespace halfgrad::optim {
namespace {

using testing::values;

// A write-back is still queued on one stream when a step is made on another: the update must not
// overwrite the values that it copies.
TEST(AsyncOptimizerOnCuda, StepsOnDifferentStreamsDoNotRace) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  constexpr std::int64_t kCount = 1 << 12;
  Tensor p = full({kCount}, 8, {.dtype = kHalf, .device = kCUDA}).requires_grad_();
  cuda::synchronize();
  SGD sgd({p}, {.lr = 0.25});
  AsyncOptimizer optimizer(sgd);
  const Stream first(kCUDA), second(kCUDA);
  const auto step_on = [&](const Stream& stream) {
    const StreamScope scope(stream);
    p.set_grad(ones({kCount}, {.dtype = kHalf, .device = kCUDA}));
    optimizer.step();
  };
  for (int k = 0; k < 8; k += 2) {
    const StreamScope scope(first);
    step_on(first);
    optimizer.synchronize();
    step_on(second);
    optimizer.thread().drain();
    EXPECT_EQ(values(p), std::vector<double>(kCount, 8 - 0.25 * (k + 1)));
    optimizer.synchronize();
    EXPECT_EQ(values(p), std::vector<double>(kCount, 8 - 0.25 * (k + 2)));
  }
}

}  // namespace
}  // namespace halfgrad::optim
