// Memory pools by location. Only devices have pools here.
#include <halfgrad/emulator/runtime/process.h>

#if CUDART_VERSION >= 13000
namespace halfgrad::emulator {
namespace {

/// Whether the emulator has pools for memory of that kind.
cudaError_t pool_location(const cudaMemLocation* location, cudaMemAllocationType type) {
  if (location == nullptr) return cudaErrorInvalidValue;
  const bool has_pools =
      location->type == cudaMemLocationTypeDevice && type == cudaMemAllocationTypePinned;
  return has_pools ? cudaSuccess : cudaErrorNotSupported;
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool,
                                                           cudaMemLocation* location,
                                                           cudaMemAllocationType type) {
  if (const cudaError_t error = pool_location(location, type)) return set_error(error);
  return cudaDeviceGetDefaultMemPool(pool, location->id);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                                    cudaMemAllocationType type) {
  if (const cudaError_t error = pool_location(location, type)) return set_error(error);
  return cudaDeviceGetMemPool(pool, location->id);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemSetMemPool(cudaMemLocation* location,
                                                    cudaMemAllocationType type,
                                                    cudaMemPool_t pool) {
  if (const cudaError_t error = pool_location(location, type)) return set_error(error);
  return cudaDeviceSetMemPool(location->id, pool);
}

}  // namespace halfgrad::emulator
#endif
