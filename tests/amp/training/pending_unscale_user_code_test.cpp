#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/core/graph.h>

#include <halfgrad/tests/amp/training/given_calls.h>
#include <halfgrad/tests/devices.h>

// Code of the user's may read, write or replace gradients between the scaler's calls.
namespace halfgrad::amp {
namespace {

using nn::utils::clip_grad_norm_;

class PendingUnscalesAndUserCode : public OnDevice {};
HALFGRAD_ON_DEVICES(PendingUnscalesAndUserCode);

const GivenCalls kAnotherStep{"another step in the same iteration", [](GivenGradients& t) {
                                t.scaler.unscale_(*t.optimizer);
                                EXPECT_THROW(t.scaler.unscale_(*t.optimizer), std::runtime_error);
                                t.scaler.step(*t.optimizer);
                                EXPECT_THROW(t.scaler.step(*t.optimizer), std::runtime_error);
                                EXPECT_THROW(t.scaler.unscale_(*t.optimizer), std::runtime_error);
                                t.scaler.update();
                                EXPECT_THROW(t.scaler.update(), std::runtime_error);
                              }};

std::vector<GivenCalls> calls_around_user_code() {
  return between_unscale_and_step({
      {"write to all",
       [](GivenGradients& t) {
         for (const Tensor& gradient : t.defined_gradients()) gradient.mul_(Scalar(2));
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         for (const Tensor& gradient : t.defined_gradients()) gradient.mul_(Scalar(2));
       }},
      {"write to one before clipping",
       [](GivenGradients& t) {
         t.parameters[5].grad().mul_(Scalar(2));
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
       }},
      {"write inf to one after clipping",
       [](GivenGradients& t) {
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         t.parameters[5].grad()[0].fill_(std::numeric_limits<float>::infinity());
       }},
      {"set one",
       [](GivenGradients& t) {
         t.parameters[5].set_grad(full_like(t.parameters[5], 0.5).detach());
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
       }},
      {"drop one",
       [](GivenGradients& t) {
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         t.parameters[5].set_grad({});
       }},
      {"drop all", [](GivenGradients& t) { t.optimizer->zero_grad(); }},
      {"set all to zero", [](GivenGradients& t) { t.optimizer->zero_grad(false); }},
      {"share one after unscaling",
       [](GivenGradients& t) {
         t.parameters[7].set_grad(t.parameters[6].grad());
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
       }},
      {"other options",
       [](GivenGradients& t) {
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         t.optimizer->param_groups()[0].lr = 0.003;
         t.optimizer->load_state_dict(t.optimizer->state_dict());
       }},
  });
}

std::vector<GivenCalls> other_calls_around_user_code() {
  return {
      {"write through a view",
       [](GivenGradients& t) {
         const Tensor view = t.parameters[5].grad().view({-1});
         t.scaler.unscale_(*t.optimizer);
         view[3].fill_(0.125);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         view[4].fill_(0.125);
         step_and_update_scale(t);
       }},
      {"write before unscaling",
       [](GivenGradients& t) {
         t.parameters[5].grad().mul_(Scalar(0.5));
         t.scaler.unscale_(*t.optimizer);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         step_and_update_scale(t);
       }},
      {"share one",
       [](GivenGradients& t) {
         t.parameters[7].set_grad(t.parameters[6].grad());
         t.scaler.unscale_(*t.optimizer);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         step_and_update_scale(t);
       }},
      {"a hook that writes",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.optimizer);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         auto hook = t.optimizer->register_step_pre_hook(
             [&](optim::Optimizer&) { t.parameters[5].grad().mul_(Scalar(2)); });
         step_and_update_scale(t);
         hook.remove();
       }},
      {"a hook that writes before a step that unscales",
       [](GivenGradients& t) {
         auto hook = t.optimizer->register_step_pre_hook(
             [&](optim::Optimizer&) { t.parameters[5].grad().mul_(Scalar(2)); });
         step_and_update_scale(t);
         hook.remove();
       }},
      {"a graph between the calls",
       [](GivenGradients& t) {
         const Device device = t.parameters[0].device();
         const Tensor x = zeros({1}, {.device = device});
         t.scaler.unscale_(*t.optimizer);
         Graph graph(device);
         graph.capture([&] { x.add_(Scalar(1)); });
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         graph.replay();
         step_and_update_scale(t);
       }},
  };
}

std::vector<GivenCalls> calls_of_two_optimizers() {
  return {
      {"clip all",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.optimizer);
         t.scaler.unscale_(*t.second);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         t.scaler.step(*t.optimizer);
         t.scaler.step(*t.second);
         t.scaler.update();
       }},
      {"clip each",
       [](GivenGradients& t) {
         for (optim::Optimizer* each : {t.optimizer.get(), t.second.get()}) {
           t.scaler.unscale_(*each);
           t.total_norm = clip_grad_norm_(each->parameters(), 0.5);
         }
         t.scaler.step(*t.second);
         t.scaler.step(*t.optimizer);
         t.scaler.update();
       }},
      {"unscale one, step both",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.second);
         t.scaler.step(*t.optimizer);
         t.scaler.step(*t.second);
         t.scaler.update();
       }},
      {"step one",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.second);
         t.scaler.unscale_(*t.optimizer);
         t.scaler.step(*t.second);
         t.scaler.update();
       }},
  };
}

TEST_P(PendingUnscalesAndUserCode, GiveTheBitsOfPassesOfTheirOwn) {
  for (const auto& list : {calls_around_user_code(), other_calls_around_user_code()}) {
    for (const GivenCalls& calls : list) {
      expect_same_steps(calls, pass_cases()[2], Kept::half, device());
      expect_same_steps(calls, pass_cases()[2], Kept::mixed, device());
    }
  }
  expect_same_steps(kAnotherStep, pass_cases()[2], Kept::half, device(), kGivenOptions);
}

TEST_P(PendingUnscalesAndUserCode, GiveThemForTwoOptimizers) {
  const PassCase adam = pass_cases()[2], sgd = pass_cases()[1];
  const PrepareTraining split = [&](GivenGradients& t) {
    t.optimizer = adam.make({t.parameters.begin(), t.parameters.begin() + 4});
    t.second = sgd.make({t.parameters.begin() + 4, t.parameters.end()});
  };
  for (const GivenCalls& calls : calls_of_two_optimizers()) {
    expect_same_steps(calls, adam, Kept::half, device(), split);
    expect_same_steps(calls, adam, Kept::mixed, device(), split);
  }
}

}  // namespace
}  // namespace halfgrad::amp
