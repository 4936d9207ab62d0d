#pragma once

#include <limits>
#include <stdexcept>
#include <vector>

#include <halfgrad/tests/amp/training/given_calls.h>

/// Ways to clip between the scaler's calls. Without a scaler, unscale_ does nothing.
namespace halfgrad::amp {

inline const GivenCalls kClipAndLook{"clip, look at the norm", [](GivenGradients& t) {
                                       t.scaler.unscale_(*t.optimizer);
                                       t.total_norm = nn::utils::clip_grad_norm_(t.parameters, 1.5);
                                       static_cast<void>(t.total_norm.array());
                                       step_and_update_scale(t);
                                     }};

inline std::vector<GivenCalls> calls_with_clipping() {
  using nn::utils::clip_grad_norm_;
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  std::vector<GivenCalls> all = between_unscale_and_step({
      {"clip to a large norm",
       [](GivenGradients& t) { t.total_norm = clip_grad_norm_(t.parameters, 1e9); }},
      {"clip to inf",
       [](GivenGradients& t) { t.total_norm = clip_grad_norm_(t.parameters, kNoLimit); }},
      {"clip twice",
       [](GivenGradients& t) {
         clip_grad_norm_(t.parameters, 2);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
       }},
      {"norm, then clip",
       [](GivenGradients& t) {
         t.total_norm = nn::utils::get_total_norm(t.defined_gradients());
         nn::utils::clip_grads_with_norm_(t.parameters, 1.5, t.total_norm);
       }},
      {"norm, look at it, clip",
       [](GivenGradients& t) {
         t.total_norm = nn::utils::get_total_norm(t.defined_gradients());
         static_cast<void>(t.total_norm.item());
         nn::utils::clip_grads_with_norm_(t.parameters, 1.5, t.total_norm);
       }},
      {"norm, change it, clip",
       [](GivenGradients& t) {
         t.total_norm = nn::utils::get_total_norm(t.defined_gradients());
         t.total_norm.mul_(Scalar(3));
         nn::utils::clip_grads_with_norm_(t.parameters, 1.5, t.total_norm);
         t.total_norm = nn::utils::get_total_norm(t.defined_gradients());
       }},
      {"norm, then clip twice",
       [](GivenGradients& t) {
         t.total_norm = nn::utils::get_total_norm(t.defined_gradients());
         nn::utils::clip_grads_with_norm_(t.parameters, 1.5, t.total_norm);
         nn::utils::clip_grads_with_norm_(t.parameters, 1.5, t.total_norm);
       }},
      {"clip by a norm of the user's",
       [](GivenGradients& t) {
         t.total_norm = full({}, 7, {.device = t.parameters[0].device()});
         nn::utils::clip_grads_with_norm_(t.parameters, 1.5, t.total_norm);
       }},
      {"two norms, of which one is changed",
       [](GivenGradients& t) {
         nn::utils::get_total_norm(t.defined_gradients()).mul_(Scalar(3));
         t.total_norm = nn::utils::get_total_norm(t.defined_gradients());
       }},
      {"clip by an error for norms that are not finite",
       [](GivenGradients& t) {
         try {
           t.total_norm = clip_grad_norm_(t.parameters, 1.5, 2, true);
         } catch (const std::runtime_error&) {
         }
       }},
      {"clip by another norm",
       [](GivenGradients& t) {
         clip_grad_norm_(t.parameters, 0.5, kNoLimit);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5, 1);
       }},
      {"clip values",
       [](GivenGradients& t) {
         nn::utils::clip_grad_value_(t.parameters, 0.25);
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
       }},
      {"clip, then values",
       [](GivenGradients& t) {
         t.total_norm = clip_grad_norm_(t.parameters, 1.5);
         nn::utils::clip_grad_value_(t.parameters, 0.01);
       }},
      {"clip some",
       [](GivenGradients& t) {
         clip_grad_norm_({t.parameters[1], t.parameters[5]}, 0.5);
       }},
      {"clip one that the list has twice",
       [](GivenGradients& t) {
         clip_grad_norm_({t.parameters[5], t.parameters[4], t.parameters[5]}, 0.5);
       }},
      {"clip in another order",
       [](GivenGradients& t) {
         t.total_norm = clip_grad_norm_({t.parameters.rbegin(), t.parameters.rend()}, 1.5);
       }},
  });
  all.push_back(kFourCalls);
  all.push_back(kClipAndLook);
  return all;
}

}  // namespace halfgrad::amp
