#include <halfgrad/amp/custom_function.h>

#include <any>
#include <string>

#include <halfgrad/amp/policy.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

std::string key_of(DeviceType type) { return type == kCUDA ? "autocast cuda" : "autocast cpu"; }

}  // namespace

void detail::remember_autocast(autograd::AutogradContext* ctx, DeviceType type, bool enabled) {
  ctx->saved_data[key_of(type)] =
      amp::AutocastOptions{.dtype = amp::get_autocast_dtype(type), .enabled = enabled};
}

void detail::cast_if_eligible(Tensor& tensor, DeviceType type, DType dtype) {
  if (amp::is_eligible(tensor, type)) tensor = to(tensor, dtype);
}

namespace amp {

void custom_fwd(autograd::AutogradContext* ctx, DeviceType type) {
  detail::remember_autocast(ctx, type, is_autocast_enabled(type));
}

Autocast custom_bwd(autograd::AutogradContext* ctx, DeviceType type) {
  const auto remembered = ctx->saved_data.find(key_of(type));
  if (remembered == ctx->saved_data.end()) {
    detail::fail("custom_bwd",
                 "expected a forward that called custom_fwd for this device type, got none");
  }
  return Autocast(type, std::any_cast<const AutocastOptions&>(remembered->second));
}

}  // namespace amp
}  // namespace halfgrad
