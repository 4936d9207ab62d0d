#include "training_checks.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "parallel_training.h"

namespace halfgrad::dist {
namespace {

template <class Model, class F>
Training train_on(const Model& model, const Batch& batch, const F& average_loss) {
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  Training training;
  for (int step = 0; step < 50; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(model(batch.x), batch.y);
    training.losses.push_back(average_loss(loss.item()));
    loss.backward();
    optimizer.step();
  }
  training.parameters = values_of(model.parameters());
  return training;
}

}  // namespace

Training train_alone(DType dtype) {
  return train_on(seeded_net(0, dtype), Batch::make(dtype), [](double loss) { return loss; });
}

Training train_together(Communicator& communicator, DType dtype,
                        const DataParallelOptions& options) {
  const DataParallel model(seeded_net(communicator.rank(), dtype), shared(communicator), options);
  return train_on(model, Batch::make(dtype).part(communicator),
                  [&](double loss) { return average(communicator, loss); });
}

std::vector<double> check_losses(Communicator& communicator) {
  std::vector<double> values;
  for (const auto& [dtype, tolerance] : {std::pair{kFloat64, 1e-12}, std::pair{kFloat32, 1e-6}}) {
    const Training alone = train_alone(dtype), got = train_together(communicator, dtype);
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_NEAR(got.losses[i], alone.losses[i], tolerance * std::abs(alone.losses[i]))
          << "step " << i << " in " << dtype;
    }
    EXPECT_LT(got.losses.back(), got.losses.front() / 2);
    expect_same_values(communicator, got.parameters);
    if (communicator.size() == 1) {
      EXPECT_EQ(got.parameters, alone.parameters);
    }
    values.insert(values.end(), got.losses.begin(), got.losses.end());
    values.insert(values.end(), got.parameters.begin(), got.parameters.end());
  }
  return values;
}

std::string check_training(Communicator& communicator) {
  std::vector<double> values = check_losses(communicator);
  const std::vector<double> scaled = check_scales(communicator);
  values.insert(values.end(), scaled.begin(), scaled.end());
  check_share_of_state(communicator);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

}  // namespace halfgrad::dist
