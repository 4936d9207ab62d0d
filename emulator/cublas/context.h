#pragma once

#include <functional>
#include <string>

#include <cublas_v2.h>

#include <halfgrad/emulator/cublaslt/device_matrix.h>

namespace halfgrad::emulator {

/// State behind a cublasHandle_t.
struct BlasContext {
  std::uint32_t magic;
  int device;
  cudaStream_t stream;
  cublasPointerMode_t pointer_mode;
  cublasMath_t math_mode;
  cublasAtomicsMode_t atomics_mode;
  int multiprocessors;
  void* workspace;  ///< memory that the program lends to the handle, or nullptr
  std::size_t workspace_bytes;

  bool device_factors() const { return pointer_mode == CUBLAS_POINTER_MODE_DEVICE; }
  Factor factor_at(const void* pointer, cudaDataType type) const {
    return factor(pointer, type, device_factors());
  }
};

/// The context of a handle, or nullptr.
BlasContext* context_of(cublasHandle_t handle);

/// Returns the status and adds a note of the reason.
cublasStatus_t refuse_call(const char* function, cublasStatus_t status, const std::string& reason);

/// One call of cuBLAS: a handle, a name for messages, and whether the arguments are valid.
class BlasCall {
 public:
  BlasCall(cublasHandle_t handle, const char* function)
      : context_(context_of(handle)), function_(function) {}

  /// Remembers the first demand that does not hold.
  BlasCall& demand(bool holds, const char* what) {
    if (!holds && wrong_ == nullptr) wrong_ = what;
    return *this;
  }
  BlasCall& sizes(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t size : sizes) demand(size >= 0, "a size is negative");
    return *this;
  }
  BlasCall& leading(std::int64_t leading, std::int64_t rows) {
    return demand(leading >= (rows > 1 ? rows : 1), "a leading dimension is smaller than a column");
  }
  BlasCall& strides(std::initializer_list<std::int64_t> strides) {
    for (const std::int64_t stride : strides) demand(stride != 0, "a stride of a vector is 0");
    return *this;
  }

  const BlasContext& context() const { return *context_; }
  bool is_valid() const { return context_ != nullptr && wrong_ == nullptr; }
  /// Factors are read only if the handle is valid.
  Factor factor_at(const void* pointer, cudaDataType type) const {
    return context_ == nullptr ? Factor{} : context_->factor_at(pointer, type);
  }

  /// Gives the work to the handle's stream, or returns why the arguments are not valid.
  cublasStatus_t run(std::function<void(const LibraryCall&)> work,
                     std::optional<WorkCost> cost = std::nullopt) const;
  /// Runs a call with one scalar result. The pointer mode says whether `result` is a host or a
  /// device pointer. The host waits for a host result.
  cublasStatus_t reduce(void* result, cudaDataType type,
                        std::function<double(const LibraryCall&)> work) const;

 private:
  BlasContext* context_;
  const char* function_;
  const char* wrong_ = nullptr;
};

template <class T>
inline constexpr cudaDataType kTypeOf = CUDA_R_32F;
template <>
inline constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;

}  // namespace halfgrad::emulator

// Every function exists for float and double, with int and int64_t sizes: names that only the
// preprocessor can make.
#define HALFGRAD_FOR_EACH_SIZE(define, letter, T) \
  define(letter, T, , int) define(letter, T, _64, std::int64_t)
#define HALFGRAD_FOR_EACH_REAL(define)     \
  HALFGRAD_FOR_EACH_SIZE(define, S, float) \
  HALFGRAD_FOR_EACH_SIZE(define, D, double)
