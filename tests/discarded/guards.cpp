#include <optional>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/custom_function.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/core/device.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/scoped_value.h>
#include <halfgrad/core/stream.h>

/// Guards that are temporaries end at once. The compiler must warn about every line with the
/// comment `discarded`; guards.cmake checks it. `Autocast(hg::kCPU);` is missing, because clang++
/// parses it as a declaration and refuses it.
namespace hg = halfgrad;

bool flag = false;

void discards(const hg::Stream& stream, const hg::allocator::Pool& pool, hg::Generator& generator,
              hg::detail::CapturedRandom& random, hg::autograd::AutogradContext* context) {
  hg::amp::Autocast{hg::kCPU};                                 // discarded
  hg::amp::Autocast(hg::kCPU, hg::kHalf);                      // discarded
  hg::amp::Autocast(hg::kCPU, {.enabled = false});             // discarded
  hg::amp::custom_bwd(context, hg::kCPU);                      // discarded
  hg::amp::custom_fwd(context, hg::kCPU, hg::kHalf);           // discarded
  hg::AutoGradMode(true);                                      // discarded
  hg::NoGradGuard();                                           // discarded
  hg::EnableGradGuard{};                                       // discarded
  hg::InferenceMode();                                         // discarded
  hg::autograd::DetectAnomalyGuard();                          // discarded
  hg::DeviceGuard(hg::Device(hg::kCPU));                       // discarded
  hg::StreamScope{stream};                                     // discarded
  hg::allocator::PoolScope{pool};                              // discarded
  hg::detail::ModesScope{hg::detail::Modes()};                 // discarded
  hg::detail::CastRuleScope(nullptr);                          // discarded
  hg::detail::GeneratorScope{generator};                       // discarded
  hg::detail::CapturedRandom::Scope{random};                   // discarded
  hg::detail::BackwardScale();                                 // discarded
  hg::detail::ScopedValue<bool>(flag, true);                   // discarded
  hg::detail::GuardedValue<bool>("GuardedValue", flag, true);  // discarded
}

void keeps(const hg::Stream& stream) {
  const hg::amp::Autocast autocast(hg::kCPU);
  const std::optional<hg::amp::Autocast> perhaps(std::in_place, hg::kCPU);
  const hg::NoGradGuard no_grad;
  const hg::StreamScope scope(stream);
}
