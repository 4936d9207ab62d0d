#include <cmath>

#include "parallel_training.h"

namespace halfgrad::dist {
namespace {

constexpr int kSteps = 50;

struct Training {
  std::vector<double> losses, parameters;
};

// One step of SGD after another; `average_loss` makes the loss of the whole batch.
template <class Model, class F>
Training train(const Model& model, const Batch& batch, const F& average_loss) {
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  Training training;
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(model(batch.x), batch.y);
    training.losses.push_back(average_loss(loss.item()));
    loss.backward();
    optimizer.step();
  }
  training.parameters = values_of(model.parameters());
  return training;
}

Training train_alone(DType dtype) {
  manual_seed(0);
  return train(make_net(dtype), Batch::make(dtype), [](double loss) { return loss; });
}

std::vector<Training> train_on(int ranks, DType dtype, const DataParallelOptions& options = {}) {
  return on_models(
      ranks, [&] { return make_net(dtype); },
      [&](Communicator& communicator, const nn::Sequential& net) {
        const DataParallel model(net, shared(communicator), options);
        return train(model, Batch::make(dtype).part(communicator),
                     [&](double loss) { return average(communicator, loss); });
      });
}

void expect_close(const Training& got, const Training& expected, double tolerance) {
  for (std::size_t i = 0; i < kSteps; ++i) {
    EXPECT_NEAR(got.losses[i], expected.losses[i], tolerance * std::abs(expected.losses[i]))
        << "step " << i;
  }
}

TEST(DataParallelTraining, HasTheLossesOfOneRankWithTheWholeBatch) {
  for (const int ranks : {1, 2, 3, 4}) {
    for (const Training& got : train_on(ranks, kFloat64)) {
      expect_close(got, train_alone(kFloat64), 1e-12);
    }
    for (const Training& got : train_on(ranks, kFloat32)) {
      expect_close(got, train_alone(kFloat32), 1e-6);
    }
  }
  EXPECT_LT(train_alone(kFloat32).losses.back(), train_alone(kFloat32).losses.front() / 2);
}

TEST(DataParallelTraining, OfOneRankHasTheBitsOfThePlainLoop) {
  EXPECT_EQ(train_on(1, kFloat32)[0].parameters, train_alone(kFloat32).parameters);
  EXPECT_EQ(train_on(1, kFloat64)[0].parameters, train_alone(kFloat64).parameters);
}

TEST(DataParallelTraining, LeavesTheSameBitsOnEveryRankForEveryBucketSizeAndNumberOfThreads) {
  const int threads = get_num_threads();
  for (const int ranks : {2, 3}) {
    const std::vector<double> expected = train_on(ranks, kFloat32)[0].parameters;
    for (const std::int64_t bytes : {1, 300, 2000}) {
      set_num_threads(bytes == 300 ? 1 : 3);
      for (const Training& got : train_on(ranks, kFloat32, {.bucket_bytes = bytes})) {
        EXPECT_EQ(got.parameters, expected) << ranks << " ranks, buckets of " << bytes;
      }
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

// float16 with a GradScaler: unscale_, clip_grad_norm_ and step.
template <class Model>
std::vector<double> train_scaled(const Model& model, const Batch& batch, int bad_step,
                                 std::vector<bool>& skips) {
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-2});
  amp::GradScaler scaler({.init_scale = 1024, .growth_interval = 5});
  for (int step = 0; step < 12; ++step) {
    optimizer.zero_grad(step % 2 == 0);
    Tensor loss;
    {
      const amp::Autocast autocast(DeviceType::cpu);
      loss = mse_loss(model(batch.x).to(kFloat32), batch.y);
    }
    if (step == bad_step) loss = loss * INFINITY;
    scaler.scale(loss).backward();
    if (step != 4) scaler.unscale_(optimizer);
    if (step != 4) nn::utils::clip_grad_norm_(model.parameters(), 0.05);
    skips.push_back(scaler.step(optimizer).skipped());
    scaler.update();
  }
  return values_of(model.parameters());
}

TEST(DataParallelTraining, WithAGradScalerSkipsOnEveryRankWhenOneOverflows) {
  for (const int ranks : {1, 2, 3}) {
    std::vector<std::vector<bool>> skips(static_cast<std::size_t>(ranks));
    const auto parameters = on_models(
        ranks, [] { return make_net(); },
        [&](Communicator& c, const nn::Sequential& net) {
          const DataParallel model(net, shared(c));
          const int bad_step = c.rank() == ranks - 1 ? 7 : -1;
          return train_scaled(model, Batch::make().part(c), bad_step,
                              skips[static_cast<std::size_t>(c.rank())]);
        });
    for (std::size_t r = 0; r < skips.size(); ++r) {
      std::vector<bool> expected(12, false);
      expected[7] = true;
      EXPECT_EQ(skips[r], expected) << "rank " << r;
      EXPECT_EQ(parameters[r], parameters[0]) << "rank " << r;
    }
    if (ranks != 1) continue;
    manual_seed(0);
    std::vector<bool> alone;
    EXPECT_EQ(parameters[0], train_scaled(make_net(), Batch::make(), 7, alone));
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
