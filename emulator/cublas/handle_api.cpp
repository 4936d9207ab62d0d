// cublasCreate, cublasDestroy and what a handle remembers.
#include <cstdio>

#include <cublasLt.h>

#include <halfgrad/emulator/cublas/context.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {
constexpr std::uint32_t kMagic = 0x424c4153;

/// Calls f(context) if the handle is valid.
template <class F>
cublasStatus_t with_context(cublasHandle_t handle, F f) {
  BlasContext* context = context_of(handle);
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  f(*context);
  return CUBLAS_STATUS_SUCCESS;
}
}  // namespace

namespace halfgrad::emulator {
BlasContext* context_of(cublasHandle_t handle) {
  auto* context = reinterpret_cast<BlasContext*>(handle);
  return context != nullptr && context->magic == kMagic ? context : nullptr;
}
}  // namespace halfgrad::emulator

HALFGRAD_EMULATOR_API cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (sticky_error() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  auto* context = new BlasContext{kMagic,
                                  current_device(),
                                  nullptr,
                                  CUBLAS_POINTER_MODE_HOST,
                                  CUBLAS_DEFAULT_MATH,
                                  CUBLAS_ATOMICS_NOT_ALLOWED,
                                  0,
                                  nullptr,
                                  0};
  *handle = reinterpret_cast<cublasHandle_t>(context);
  return CUBLAS_STATUS_SUCCESS;
}
/// Waits for the device, as the documentation says.
HALFGRAD_EMULATOR_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  BlasContext* context = context_of(handle);
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaDeviceSynchronize();
  context->magic = 0;
  delete context;
  return CUBLAS_STATUS_SUCCESS;
}

/// Takes the workspace away, as the manual says: it must be set after the stream.
HALFGRAD_EMULATOR_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle,
                                                        cudaStream_t stream) {
  return with_context(handle, [&](BlasContext& context) {
    context.stream = stream;
    context.workspace = nullptr;
    context.workspace_bytes = 0;
  });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasGetStream_v2(cublasHandle_t handle,
                                                        cudaStream_t* stream) {
  return with_context(handle, [&](BlasContext& context) { *stream = context.stream; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace,
                                                           size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) {
    return refuse_call("cublasSetWorkspace", CUBLAS_STATUS_INVALID_VALUE,
                       "the workspace is not aligned to 256 bytes");
  }
  return with_context(handle, [&](BlasContext& context) {
    context.workspace = workspace;
    context.workspace_bytes = workspace == nullptr ? 0 : bytes;
  });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                                             cublasPointerMode_t mode) {
  return with_context(handle, [&](BlasContext& context) { context.pointer_mode = mode; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle,
                                                             cublasPointerMode_t* mode) {
  return with_context(handle, [&](BlasContext& context) { *mode = context.pointer_mode; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return with_context(handle, [&](BlasContext& context) { context.math_mode = mode; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return with_context(handle, [&](BlasContext& context) { *mode = context.math_mode; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle,
                                                          cublasAtomicsMode_t mode) {
  return with_context(handle, [&](BlasContext& context) { context.atomics_mode = mode; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle,
                                                          cublasAtomicsMode_t* mode) {
  return with_context(handle, [&](BlasContext& context) { *mode = context.atomics_mode; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return with_context(handle, [&](BlasContext& context) { context.multiprocessors = count; });
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return with_context(handle, [&](BlasContext& context) { *count = context.multiprocessors; });
}

HALFGRAD_EMULATOR_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = static_cast<int>(cublasLtGetVersion());
  return CUBLAS_STATUS_SUCCESS;
}
HALFGRAD_EMULATOR_API size_t cublasGetCudartVersion() { return cublasLtGetCudartVersion(); }
HALFGRAD_EMULATOR_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return cublasLtGetProperty(type, value);
}
HALFGRAD_EMULATOR_API const char* cublasGetStatusName(cublasStatus_t status) {
  return cublasLtGetStatusName(status);
}
HALFGRAD_EMULATOR_API const char* cublasGetStatusString(cublasStatus_t status) {
  return cublasLtGetStatusString(status);
}
// The stand-in keeps no log.
HALFGRAD_EMULATOR_API cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) {
  return CUBLAS_STATUS_SUCCESS;
}
HALFGRAD_EMULATOR_API cublasStatus_t cublasSetLoggerCallback(cublasLogCallback) {
  return CUBLAS_STATUS_SUCCESS;
}
