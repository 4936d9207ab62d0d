#include <halfgrad/dist/zero_redundancy_optimizer.h>

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/dist/grad_scaler.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/optim/lr_scheduler.h>

#include "training_checks.h"
#include "zero_runs.h"

namespace halfgrad::dist {
namespace {

constexpr int kZeroSteps = 4;

class Zero : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Zero, ::testing::Values(1, 2, 3, 4));

TEST_P(Zero, HasTheBitsOfTheWholeOptimizerOnAverageGradients) {
  for (const DType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
    for (const NamedFactory& optimizer : elementwise_optimizers()) {
      const std::string& name = optimizer.name;
      const Factory& make = optimizer.make;
      if (dtype != kFloat && name != "AdamW") continue;
      on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
        const auto groups = new_groups(dtype), whole_groups = new_groups(dtype);
        const std::vector<Tensor> parameters = parameters_of(groups),
                                  expected = parameters_of(whole_groups);
        ZeroRedundancyOptimizer zero(groups, communicator, make);
        const auto whole = make(whole_groups);
        for (int step = 0; step < kZeroSteps; ++step) {
          set_gradients(parameters, step, communicator->rank());
          zero.reduce_gradients();
          zero.optimizer().step();
          set_average_gradients(expected, step, *communicator);
          whole->step();
          ASSERT_EQ(bytes_of(parameters), bytes_of(expected)) << name << ", " << dtype;
        }
        EXPECT_EQ(bytes_of(zero.state_dict()), bytes_of(whole->state_dict())) << name;
      });
    }
  }
}

TEST_P(Zero, TakesItsPartOfGradientsThatAreAveragedAlready) {
  const Factory make = elementwise_optimizers()[2].make;
  on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
    const auto groups = new_groups(kFloat), whole_groups = new_groups(kFloat);
    ZeroRedundancyOptimizer zero(groups, communicator, make, {.gradients_are_averaged = true});
    const auto whole = make(whole_groups);
    for (int step = 0; step < kZeroSteps; ++step) {
      set_average_gradients(parameters_of(groups), step, *communicator);
      set_average_gradients(parameters_of(whole_groups), step, *communicator);
      zero.reduce_gradients();
      zero.optimizer().step();
      whole->step();
    }
    EXPECT_EQ(bytes_of(parameters_of(groups)), bytes_of(parameters_of(whole_groups)));
  });
}

TEST_P(Zero, KeepsFloat32MastersOfItsPartOf16BitWeights) {
  const Factory make = elementwise_optimizers()[3].make;
  for (const DType dtype : {kBFloat16, kHalf}) {
    on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
      const auto groups = new_groups(dtype), whole_groups = new_groups(dtype);
      ZeroRedundancyOptimizer zero(groups, communicator, make);
      const auto whole = make(whole_groups);
      const amp::MasterWeights masters(zero.optimizer()), whole_masters(*whole);
      for (int step = 0; step < kZeroSteps; ++step) {
        set_gradients(parameters_of(groups), step, communicator->rank());
        zero.reduce_gradients();
        zero.optimizer().step();
        set_average_gradients(parameters_of(whole_groups), step, *communicator);
        whole->step();
      }
      EXPECT_EQ(bytes_of(parameters_of(groups)), bytes_of(parameters_of(whole_groups)));
      EXPECT_EQ(bytes_of(zero.state_dict()), bytes_of(whole->state_dict()));
      EXPECT_EQ(zero.shards()[0].dtype(), dtype) << "weights are sent in 16 bits";
    });
  }
}

// A loss whose gradient is the gradient of the step, or bad on one rank.
void backward(amp::GradScaler& scaler, const std::vector<Tensor>& parameters, int step, int rank,
              bool is_bad) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Tensor gradient = gradient_of(parameters[i], i, step, rank);
    if (is_bad && i == 3) gradient = gradient * std::numeric_limits<float>::infinity();
    scaler.scale((parameters[i] * gradient).sum()).backward();
  }
}

TEST_P(Zero, WorksWithAScalerClippingAndASchedule) {
  const Factory make = elementwise_optimizers()[3].make;
  for (const bool clips : {false, true}) {
    on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
      const auto groups = new_groups(kFloat), whole_groups = new_groups(kFloat);
      const std::vector<Tensor> parameters = parameters_of(groups);
      ZeroRedundancyOptimizer zero(groups, communicator, make);
      const auto whole = make(whole_groups);
      optim::StepLR schedule(zero.optimizer(), {.step_size = 2, .gamma = 0.5});
      optim::StepLR whole_schedule(*whole, {.step_size = 2, .gamma = 0.5});
      const amp::GradScalerOptions options{.init_scale = 1024, .growth_interval = 2};
      amp::GradScaler scaler(options), whole_scaler(options);
      synchronize(scaler, communicator);
      for (int step = 0; step < 6; ++step) {
        const bool is_bad = step == 2 && communicator->rank() == communicator->size() - 1;
        backward(scaler, parameters, step, communicator->rank(), is_bad);
        zero.reduce_gradients();
        const std::vector<Tensor> expected = parameters_of(whole_groups);
        for (const Tensor& parameter : expected) parameter.set_grad({});
        backward(whole_scaler, expected, step, communicator->rank(), is_bad);
        for (const Tensor& parameter : expected) {
          communicator->all_reduce(parameter.grad().array(), ReduceOp::average).wait();
        }
        if (clips) {
          scaler.unscale_(zero.optimizer());
          const double norm = clip_grad_norm_(zero.shards(), 1, *communicator).item();
          whole_scaler.unscale_(*whole);
          const double all = nn::utils::clip_grad_norm_(expected, 1).item();
          if (step != 2) {
            EXPECT_NEAR(norm, all, 1e-6 * all);
          }
        }
        EXPECT_EQ(scaler.step(zero.optimizer()).skipped(), step == 2);
        EXPECT_EQ(whole_scaler.step(*whole).skipped(), step == 2);
        scaler.update();
        whole_scaler.update();
        schedule.step();
        whole_schedule.step();
        EXPECT_EQ(schedule.get_last_lr(), whole_schedule.get_last_lr());
        // The norm of parts is rounded in another order.
        if (!clips) {
          EXPECT_EQ(bytes_of(parameters), bytes_of(expected)) << step;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
          const auto got = parameters[i].to_vector<float>(), all = expected[i].to_vector<float>();
          for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], all[k], 1e-5);
        }
      }
      EXPECT_EQ(scaler.state_dict(), whole_scaler.state_dict());
    });
  }
}

// On a second device a mix-up of devices fails.
TEST_P(Zero, WorksOnAnotherDevice) {
  const Factory make = elementwise_optimizers()[3].make;
  const Device there(kCPU, 1);
  on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
    std::vector<std::string> weights[2];
    optim::OptimizerState states[2];
    for (const bool is_there : {false, true}) {
      std::vector<Tensor> parameters;
      for (const Tensor& parameter : parameters_of(new_groups(kHalf))) {
        const Device device = is_there ? there : Device();
        parameters.push_back(Tensor(parameter.array().clone().to(device)).requires_grad_());
      }
      ZeroRedundancyOptimizer zero(parameters, communicator, make);
      const amp::MasterWeights masters(zero.optimizer());
      amp::GradScaler scaler({.init_scale = 8});
      synchronize(scaler, communicator);
      for (int step = 0; step < 2; ++step) {
        const Tensor one(Array::full({}, 1, kFloat, parameters[0].device()));
        scaler.scale(one);
        for (std::size_t i = 0; i < parameters.size(); ++i) {
          const Tensor gradient = gradient_of(parameters[i], i, step, communicator->rank());
          parameters[i].set_grad(Tensor(gradient.array().to(parameters[i].device())));
        }
        zero.reduce_gradients();
        scaler.unscale_(zero.optimizer());
        const Tensor norm = clip_grad_norm_(zero.shards(), 0.1, *communicator);
        EXPECT_EQ(norm.device(), parameters[0].device());
        EXPECT_FALSE(scaler.step(zero.optimizer()).skipped());
        scaler.update();
        zero.load_state_dict(zero.state_dict());
      }
      weights[is_there ? 1 : 0] = bytes_of(parameters);
      states[is_there ? 1 : 0] = zero.state_dict();
    }
    EXPECT_EQ(weights[1], weights[0]);
    EXPECT_EQ(bytes_of(states[1]), bytes_of(states[0]));
  });
}

TEST_P(Zero, GivesEachRankItsShareOfTheState) { on_ranks(GetParam(), check_share_of_state); }

TEST_P(Zero, StartsWithTheWeightsOfRankZero) {
  const Factory make = elementwise_optimizers()[0].make;
  on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
    const auto groups = new_groups(kFloat, 1 + communicator->rank());
    const ZeroRedundancyOptimizer zero(groups, communicator, make);
    EXPECT_EQ(bytes_of(parameters_of(groups)), bytes_of(parameters_of(new_groups(kFloat, 1))));
  });
}

TEST_P(Zero, LeavesFrozenParametersAlone) {
  const Factory make = elementwise_optimizers()[3].make;
  on_shared_ranks(GetParam(), [&](const std::shared_ptr<Communicator>& communicator) {
    const auto groups = new_groups(kFloat);
    const Tensor frozen = groups[0].params[0];
    frozen.requires_grad_(false);
    const std::string before = bytes_of(frozen.array());
    ZeroRedundancyOptimizer zero(groups, communicator, make);
    set_gradients(parameters_of(groups), 0, communicator->rank());
    frozen.set_grad({});
    zero.reduce_gradients();
    zero.optimizer().step();
    EXPECT_EQ(bytes_of(frozen.array()), before);
    EXPECT_NE(bytes_of(parameters_of(groups)), bytes_of(parameters_of(new_groups(kFloat))));
  });
}

TEST_P(Zero, ResumesFromTheStateOfAnyNumberOfRanks) {
  for (const NamedFactory& optimizer : elementwise_optimizers()) {
    const std::string& name = optimizer.name;
    const Factory& make = optimizer.make;
    for (const DType dtype : {kFloat, kHalf}) {
      if (dtype == kHalf && name != "AdamW") continue;
      // Two steps of GetParam() ranks, then two of `later` ranks.
      const auto trained = [&](int later) {
        io::Checkpoint checkpoint;
        for (const int ranks : {GetParam(), later}) {
          const io::Checkpoint saved = checkpoint;
          on_ranks(ranks, [&](Communicator& communicator) {
            const io::Checkpoint own = train_from(communicator, saved, make, dtype);
            if (communicator.rank() == 0) checkpoint = own;
          });
        }
        return bytes_of(checkpoint);
      };
      // Averages of equal gradients over 3 ranks may be rounded; those over 1, 2 and 4 are not.
      if (GetParam() == 3) {
        EXPECT_EQ(trained(3), trained(3));
        continue;
      }
      const auto expected = trained(1);
      EXPECT_GT(expected.size(), 10U);
      for (const int later : {2, 4}) EXPECT_EQ(trained(later), expected) << name << ", " << later;
    }
  }
}

}  // namespace
}  // namespace halfgrad::dist
