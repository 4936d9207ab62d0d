#include <halfgrad/compat/autocast.h>

#include <cstddef>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::autocast {
namespace {

// The innermost region of this thread. Outside all regions a rule that lasts as long as the thread,
// at first with everything disabled.
detail::AutocastRule& current() {
  detail::ScopeEntry<CastRule*>::end_abandoned();
  if (auto* rule = dynamic_cast<detail::AutocastRule*>(detail::cast_rule)) return *rule;
  static thread_local detail::AutocastRule outermost = detail::AutocastRule::outermost();
  detail::cast_rule = &outermost;
  return outermost;
}

detail::AutocastRule::Settings& settings(DeviceType type) {
  return current().settings[static_cast<std::size_t>(type)];
}

}  // namespace

bool is_autocast_enabled(DeviceType type) { return amp::is_autocast_enabled(type); }

void set_autocast_enabled(DeviceType type, bool enabled) { settings(type).enabled = enabled; }

DType get_autocast_dtype(DeviceType type) { return amp::get_autocast_dtype(type); }

void set_autocast_dtype(DeviceType type, DType dtype) {
  if (!is_reduced(dtype)) {
    detail::fail("set_autocast_dtype", "expected float16 or bfloat16, got {}", dtype);
  }
  settings(type).dtype = dtype;
}

bool is_autocast_cache_enabled() { return amp::is_autocast_cache_enabled(); }

void set_autocast_cache_enabled(bool enabled) { current().cache_enabled = enabled; }

void clear_cache() { amp::clear_autocast_cache(); }

int increment_nesting() { return ++current().depth; }

int decrement_nesting() { return --current().depth; }

}  // namespace halfgrad::autocast
