#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/dist/local_communicators.h>
#include <halfgrad/dist/zero_redundancy_optimizer.h>

#include "../message_of.h"
#include "zero_runs.h"

// ZeroRedundancyOptimizer refuses these inputs.
namespace halfgrad::dist {
namespace {

TEST(ZeroErrors, NameWhatIsWrong) {
  const auto alone = make_local_communicators(1)[0];
  const auto make_zero = [&](const Factory& make) {
    const ZeroRedundancyOptimizer zero(new_groups(kFloat), alone, make);
  };
  EXPECT_NE(message_of([&] {
              make_zero(factory_of<optim::LAMB>(optim::LAMBArguments{}));
            }).find("got LAMB, which needs whole parameters"),
            std::string::npos);
  EXPECT_THROW(make_zero(factory_of<optim::Muon>(optim::MuonArguments{})), std::invalid_argument);

  const auto groups = new_groups(kFloat);
  const std::vector<Tensor> parameters = parameters_of(groups);
  ZeroRedundancyOptimizer zero(groups, alone, elementwise_optimizers()[0].make);
  set_gradients(parameters, 0, 0);
  EXPECT_NE(message_of([&] { zero.optimizer().step(); }).find("reduce_gradients()"),
            std::string::npos);
  zero.reduce_gradients();
  EXPECT_FALSE(parameters[0].grad().defined());
  EXPECT_NE(message_of([&] { zero.reduce_gradients(); }).find("none of parameter 0"),
            std::string::npos);
  zero.optimizer().step();
  EXPECT_THROW(zero.optimizer().step(), std::runtime_error);

  set_gradients(parameters, 1, 0);
  parameters[0].set_data(parameters[0].detach().clone());
  EXPECT_NE(message_of([&] { zero.reduce_gradients(); }).find("got parameter 0 elsewhere"),
            std::string::npos);

  const auto make_of = [&](const std::vector<Tensor>& list) {
    const ZeroRedundancyOptimizer other(list, alone, elementwise_optimizers()[0].make);
  };
  const Tensor twice = zeros({2}).requires_grad_();
  EXPECT_THROW(make_of({twice, twice}), std::invalid_argument);
  EXPECT_THROW(make_of({}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::dist
