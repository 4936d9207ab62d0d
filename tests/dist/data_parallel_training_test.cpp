#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel_training.h"
#include "training_checks.h"

namespace halfgrad::dist {
namespace {

// For 1 rank the losses and parameters have the bits of the plain loop.
TEST(DataParallelTraining, HasTheLossesOfOneRankWithTheWholeBatch) {
  for (const int ranks : {1, 2, 3, 4}) on_ranks(ranks, check_losses);
}

TEST(DataParallelTraining, LeavesTheSameBitsOnEveryRankForEveryBucketSizeAndNumberOfThreads) {
  const int threads = get_num_threads();
  for (const int ranks : {2, 3}) {
    std::vector<Training> expected(static_cast<std::size_t>(ranks));
    on_ranks(ranks, [&](Communicator& c) { expected[c.rank()] = train_together(c, kFloat32); });
    for (const std::int64_t bytes : {1, 300, 2000}) {
      set_num_threads(bytes == 300 ? 1 : 3);
      on_ranks(ranks, [&](Communicator& c) {
        EXPECT_EQ(train_together(c, kFloat32, {.bucket_bytes = bytes}), expected[0])
            << ranks << " ranks, buckets of " << bytes;
      });
    }
  }
  set_num_threads(threads);
}

TEST(DataParallelTraining, AveragesTheGradientsOfTheRanksInTheirOrder) {
  for (const int ranks : {1, 2, 3, 4}) {
    const auto make = [] { return make_net(); };
    const auto backward = [](const auto& model, const Communicator& communicator) {
      const Batch part = Batch::make().part(communicator);
      mse_loss(model(part.x), part.y).backward();
      return values_of(gradients_of(model));
    };
    // A rank computes its own gradients with the parameters of rank 0.
    manual_seed(0);
    const nn::Sequential first = make_net();
    const auto own = on_models(ranks, make, [&](Communicator& c, nn::Sequential net) {
      net.load_state_dict(first.state_dict());
      return backward(net, c);
    });
    const auto got = on_models(ranks, make, [&](Communicator& c, const nn::Sequential& net) {
      return backward(DataParallel(net, shared(c)), c);
    });
    for (std::size_t i = 0; i < own[0].size(); ++i) {
      auto sum = static_cast<float>(own[0][i]);
      for (int r = 1; r < ranks; ++r) sum += static_cast<float>(own[r][i]);
      for (int r = 0; r < ranks; ++r) {
        ASSERT_EQ(got[r][i], sum / static_cast<float>(ranks)) << "element " << i;
      }
    }
  }
}

TEST(DataParallelTraining, WorksWithAnAsyncOptimizer) {
  const auto train_async = [](const auto& model, const Batch& batch) {
    optim::SGD sgd(model.parameters(), {.lr = 0.1});
    {
      optim::AsyncOptimizer optimizer(sgd);
      for (int step = 0; step < 20; ++step) {
        mse_loss(model(batch.x), batch.y).backward();
        optimizer.step();
      }
      optimizer.synchronize();
    }
    return values_of(model.parameters());
  };
  manual_seed(0);
  const auto alone = train_async(make_net(kFloat64), Batch::make(kFloat64));
  for (const int ranks : {1, 2, 3}) {
    const auto got = on_models(
        ranks, [] { return make_net(kFloat64); },
        [&](Communicator& c, const nn::Sequential& net) {
          return train_async(DataParallel(net, shared(c)), Batch::make(kFloat64).part(c));
        });
    for (const auto& parameters : got) {
      for (std::size_t i = 0; i < alone.size(); ++i) ASSERT_NEAR(parameters[i], alone[i], 1e-12);
    }
  }
}

}  // namespace
}  // namespace halfgrad::dist
