#include <halfgrad/dist/grad_scaler.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/sgd.h>

#include "shared_ranks.h"

namespace halfgrad::dist {
namespace {

using Values = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class Scaler>
concept Synchronizable = requires(Scaler& scaler, std::shared_ptr<Communicator> communicator) {
  synchronize(scaler, communicator);
};
static_assert(Synchronizable<amp::GradScaler> && !Synchronizable<amp::AsyncGradScaler>);

/// A parameter of two elements, whose gradient the test chooses.
struct Weights {
  Tensor w = tensor(Values{1, 2}).requires_grad_();

  void backward(amp::GradScaler& scaler, float gradient) {
    w.set_grad({});
    scaler.scale((w * gradient).sum()).backward();
  }
  Values values() const { return w.to_vector<float>(); }
};

enum class Way { step, unscale_first, step_and_update, clip };

/// One iteration. Returns whether the step was skipped.
bool iterate(amp::GradScaler& scaler, optim::Optimizer& optimizer, Way way) {
  if (way == Way::step_and_update) return scaler.step_and_update(optimizer).skipped();
  if (way == Way::clip) return scaler.step_and_update(optimizer, {.max_norm = 100.0}).skipped();
  if (way == Way::unscale_first) scaler.unscale_(optimizer);
  const bool skipped = scaler.step(optimizer).skipped();
  scaler.update();
  return skipped;
}

class SynchronizedScaler : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SynchronizedScaler, ::testing::Values(1, 2, 3, 4));

TEST_P(SynchronizedScaler, SkipsOnAllRanksIfOneOrMoreFindAnInf) {
  const int size = GetParam();
  for (const Way way : {Way::step, Way::unscale_first, Way::step_and_update, Way::clip}) {
    for (const float bad : {kInf, -kInf, kNaN}) {
      for (int culprits = 1; culprits < 1 << size; ++culprits) {
        if (std::isinf(bad) && culprits != 1) continue;
        on_shared_ranks(size, [&](const std::shared_ptr<Communicator>& communicator) {
          amp::GradScaler scaler({.init_scale = 8});
          synchronize(scaler, communicator);
          Weights weights;
          optim::SGD sgd({weights.w}, 0.5);
          const bool is_culprit = (culprits >> communicator->rank() & 1) != 0;
          weights.backward(scaler, is_culprit ? bad : 1);
          EXPECT_TRUE(iterate(scaler, sgd, way));
          EXPECT_EQ(weights.values(), (Values{1, 2}));
          EXPECT_EQ(scaler.get_scale(), 4);
          EXPECT_EQ(scaler.counts().skipped_steps, 1);
          weights.backward(scaler, 1);
          EXPECT_FALSE(iterate(scaler, sgd, way));
          EXPECT_EQ(weights.values(), (Values{0.5F, 1.5F}));
          EXPECT_EQ(scaler.get_growth_tracker(), 1);
        });
      }
    }
  }
}

// The tests above would pass without a reduction if all ranks saw the same gradients.
TEST(UnsynchronizedScaler, StepsOnTheRanksThatFoundNothing) {
  on_shared_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    amp::GradScaler scaler({.init_scale = 8});
    Weights weights;
    optim::SGD sgd({weights.w}, 0.5);
    weights.backward(scaler, communicator->rank() == 1 ? kInf : 1);
    EXPECT_EQ(iterate(scaler, sgd, Way::step), communicator->rank() == 1);
  });
}

TEST_P(SynchronizedScaler, SkipsTheOptimizerThatHasAnInfOnSomeRank) {
  const int size = GetParam();
  for (const bool unscales : {false, true}) {
    on_shared_ranks(size, [&](const std::shared_ptr<Communicator>& communicator) {
      amp::GradScaler scaler({.init_scale = 8});
      synchronize(scaler, communicator);
      Weights first, second;
      optim::SGD sgd({first.w}, 0.5);
      optim::Adam adam({second.w}, 0.5);
      first.backward(scaler, 1);
      second.backward(scaler, communicator->rank() == size - 1 ? kInf : 1);
      if (unscales) scaler.unscale_(adam);
      EXPECT_FALSE(scaler.step(sgd).skipped());
      EXPECT_TRUE(scaler.step(adam).skipped());
      scaler.update();
      EXPECT_EQ(first.values(), (Values{0.5F, 1.5F}));
      EXPECT_EQ(second.values(), (Values{1, 2}));
      EXPECT_EQ(scaler.get_scale(), 4);
    });
  }
}

TEST_P(SynchronizedScaler, LetsEachRankCallUnscaleWithoutGradients) {
  on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
    amp::GradScaler scaler({.init_scale = 8});
    synchronize(scaler, communicator);
    Weights weights;
    optim::SGD sgd({weights.w}, 0.5);
    weights.backward(scaler, kInf);
    if (communicator->rank() > 0) weights.w.set_grad({});
    scaler.unscale_(sgd);
    EXPECT_TRUE(scaler.step(sgd).skipped());
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 4);
  });
}

TEST_P(SynchronizedScaler, HasTheStateOfAScalerThatRunsAlone) {
  const std::vector<float> gradients{1, kInf, 2, 3, 1, kNaN, 1};
  amp::GradScaler alone({.growth_interval = 2});
  Weights weights;
  optim::Adam adam({weights.w}, 0.5);
  for (const float gradient : gradients) {
    weights.backward(alone, gradient);
    iterate(alone, adam, Way::step_and_update);
  }
  on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
    amp::GradScaler scaler({.growth_interval = 2});
    synchronize(scaler, communicator);
    Weights own;
    optim::Adam own_adam({own.w}, 0.5);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      // A different rank finds each inf.
      const bool finds = static_cast<int>(i) % communicator->size() == communicator->rank();
      own.backward(scaler, std::isfinite(gradients[i]) || finds ? gradients[i] : 1);
      iterate(scaler, own_adam, Way::unscale_first);
    }
    EXPECT_EQ(own.values(), weights.values());
    EXPECT_EQ(scaler.state_dict(), alone.state_dict());
    EXPECT_EQ(scaler.counts().backoffs, alone.counts().backoffs);
  });
}

TEST(SynchronizedScalers, AreRequiredForShards) {
  amp::GradScaler scaler;
  Weights weights;
  optim::SGD sgd({weights.w}, 0.5);
  sgd.set_sharded();
  weights.backward(scaler, 1);
  EXPECT_THROW(scaler.unscale_(sgd), std::runtime_error);
  EXPECT_THROW(scaler.step(sgd), std::runtime_error);
  EXPECT_THROW(scaler.step_and_update(sgd), std::runtime_error);
  EXPECT_EQ(weights.values(), (Values{1, 2}));
  synchronize(scaler, make_local_communicators(1)[0]);
  EXPECT_FALSE(scaler.step_and_update(sgd).skipped());
}

class ShardedNorm : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ShardedNorm, ::testing::Values(1, 2, 3, 4));

TEST_P(ShardedNorm, ClipsByTheNormOfAllParts) {
  for (const double p : {2.0, 1.0, 3.0, std::numeric_limits<double>::infinity()}) {
    double expected = 0;
    for (int i = 1; i <= 2 * GetParam(); ++i) {
      expected = std::isinf(p) ? std::max<double>(expected, i) : expected + std::pow(i, p);
    }
    if (!std::isinf(p)) expected = std::pow(expected, 1 / p);
    std::vector<float> norms(GetParam());
    on_ranks(GetParam(), [&](Communicator& communicator) {
      const auto first = static_cast<float>(2 * communicator.rank() + 1);
      std::vector<Tensor> shards{zeros({1}), zeros({1}), zeros({0})};
      for (const Tensor& shard : shards) shard.requires_grad_();
      shards[0].set_grad(tensor(Values{-first}));
      shards[1].set_grad(tensor(Values{first + 1}));
      shards[2].set_grad(zeros({0}));
      const Tensor norm = clip_grad_norm_(shards, 0.5, communicator, p);
      norms[communicator.rank()] = norm.item<float>();
      EXPECT_EQ(norm.dtype(), kFloat);
      EXPECT_NEAR(norm.item(), expected, 4 * 0x1p-24 * expected);
      const double factor = 0.5 / (expected + 1e-6);
      EXPECT_NEAR(shards[0].grad().item(), -first * factor, 4 * 0x1p-24 * expected);
      EXPECT_NEAR(shards[1].grad().item(), (first + 1) * factor, 4 * 0x1p-24 * expected);
    });
    for (const float norm : norms) EXPECT_EQ(norm, norms[0]);
  }
}

TEST_P(ShardedNorm, IsNotFiniteOnAnyRankIfOnePartIsNot) {
  for (const double p : {2.0, std::numeric_limits<double>::infinity()}) {
    for (const float bad : {kInf, kNaN}) {
      on_ranks(GetParam(), [&](Communicator& communicator) {
        const Tensor shard = zeros({1}).requires_grad_();
        shard.set_grad(tensor(Values{communicator.rank() == 0 ? bad : 1}));
        const double norm = clip_grad_norm_({shard}, 1, communicator, p).item();
        EXPECT_EQ(std::isnan(norm), std::isnan(bad)) << norm;
        EXPECT_FALSE(std::isfinite(norm));
      });
    }
  }
}

// The sum of two squares exceeds float32.
TEST_P(ShardedNorm, AddsUpInDouble) {
  on_ranks(GetParam(), [&](Communicator& communicator) {
    const Tensor shard = zeros({1}).requires_grad_();
    shard.set_grad(tensor(Values{1.5e19F}));
    const double expected = 1.5e19 * std::sqrt(communicator.size());
    EXPECT_NEAR(clip_grad_norm_({shard}, 1, communicator).item(), expected, 1e-6 * expected);
  });
}

TEST(ShardedNorms, RefuseScaledGradientsAndUnknownNorms) {
  const auto alone = make_local_communicators(1)[0];
  Weights weights;
  amp::GradScaler scaler;
  weights.backward(scaler, 1);
  EXPECT_THROW(clip_grad_norm_({weights.w}, 1, *alone), std::runtime_error);
  EXPECT_THROW(clip_grad_norm_({weights.w}, 1, *alone, 0), std::invalid_argument);
  EXPECT_THROW(clip_grad_norm_({weights.w}, 1, *alone, kNaN), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::dist
