#pragma once

#include <halfgrad/compat/names.h>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>

/// libtorch's switches of autocast, which stay as they are set: at::autocast. They belong to this
/// thread and change its innermost amp::Autocast region until the region ends; outside all regions,
/// until the next call.
///
///   at::autocast::set_autocast_enabled(at::kCPU, true);
///   auto loss = torch::cross_entropy_loss(net->forward(x), y);
///   at::autocast::clear_cache();
///   at::autocast::set_autocast_enabled(at::kCPU, false);
///
/// The cache keeps 16-bit copies of weights until clear_cache(), as in libtorch. amp::Autocast does
/// both by itself.
namespace halfgrad::autocast {

bool is_autocast_enabled(DeviceType type);
void set_autocast_enabled(DeviceType type, bool enabled);
DType get_autocast_dtype(DeviceType type);
/// Throws std::invalid_argument for a dtype other than float16 and bfloat16.
void set_autocast_dtype(DeviceType type, DType dtype);
bool is_autocast_cache_enabled();
void set_autocast_cache_enabled(bool enabled);
void clear_cache();
/// The number of regions, which a program counts to clear the cache at the end of the outermost.
int increment_nesting();
int decrement_nesting();

// libtorch's former names.
inline bool is_enabled() { return is_autocast_enabled(kCUDA); }
inline void set_enabled(bool enabled) { set_autocast_enabled(kCUDA, enabled); }
inline DType get_autocast_gpu_dtype() { return get_autocast_dtype(kCUDA); }
inline void set_autocast_gpu_dtype(DType dtype) { set_autocast_dtype(kCUDA, dtype); }
inline bool is_cpu_enabled() { return is_autocast_enabled(kCPU); }
inline void set_cpu_enabled(bool enabled) { set_autocast_enabled(kCPU, enabled); }
inline DType get_autocast_cpu_dtype() { return get_autocast_dtype(kCPU); }
inline void set_autocast_cpu_dtype(DType dtype) { set_autocast_dtype(kCPU, dtype); }

}  // namespace halfgrad::autocast
