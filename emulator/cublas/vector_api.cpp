// Level 1 of BLAS: vectors.
#include <cmath>
#include <utility>

#include <halfgrad/emulator/cublas/context.h>
#include <halfgrad/emulator/runtime/process.h>

using namespace halfgrad::emulator;

namespace {

/// A vector's arguments, as BLAS writes them.
struct Vector {
  const void* data;
  std::int64_t stride;
};

template <class T>
DeviceMatrix view_of(const Vector& vector, std::int64_t n) {
  return device_vector(vector.data, kTypeOf<T>, n, vector.stride);
}

template <class T>
cublasStatus_t axpy(BlasCall call, std::int64_t n, const T* alpha, Vector x, Vector y) {
  const Factor scale = call.factor_at(alpha, kTypeOf<T>);
  if (call.is_valid() && n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const double factor = scale.at(library);
    const Values a = read(library, view_of<T>(x, n));
    Values b = read(library, view_of<T>(y, n));
    for (std::int64_t i = 0; i < n; ++i) b.elements[i] += factor * a.elements[i];
    write(library, b, view_of<T>(y, n));
  });
}

template <class T>
cublasStatus_t scal(BlasCall call, std::int64_t n, const T* alpha, Vector x) {
  const Factor scale = call.factor_at(alpha, kTypeOf<T>);
  if (call.is_valid() && (n <= 0 || x.stride <= 0)) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const double factor = scale.at(library);
    Values values = read(library, view_of<T>(x, n));
    for (double& value : values.elements) value *= factor;
    write(library, values, view_of<T>(x, n));
  });
}

template <class T>
cublasStatus_t copy(BlasCall call, std::int64_t n, Vector x, Vector y) {
  if (call.is_valid() && n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    write(library, read(library, view_of<T>(x, n)), view_of<T>(y, n));
  });
}

template <class T>
cublasStatus_t swap(BlasCall call, std::int64_t n, Vector x, Vector y) {
  if (call.is_valid() && n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const Values a = read(library, view_of<T>(x, n)), b = read(library, view_of<T>(y, n));
    write(library, b, view_of<T>(x, n));
    write(library, a, view_of<T>(y, n));
  });
}

/// x' = c x + s y,  y' = c y - s x
template <class T>
cublasStatus_t rot(BlasCall call, std::int64_t n, Vector x, Vector y, const T* c, const T* s) {
  const Factor cosine = call.factor_at(c, kTypeOf<T>), sine = call.factor_at(s, kTypeOf<T>);
  if (call.is_valid() && n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.run([=](const LibraryCall& library) {
    const double cos = cosine.at(library), sin = sine.at(library);
    Values a = read(library, view_of<T>(x, n)), b = read(library, view_of<T>(y, n));
    for (std::int64_t i = 0; i < n; ++i) {
      const double old = a.elements[i];
      a.elements[i] = cos * old + sin * b.elements[i];
      b.elements[i] = cos * b.elements[i] - sin * old;
    }
    write(library, a, view_of<T>(x, n));
    write(library, b, view_of<T>(y, n));
  });
}

/// Calls f(element) for the elements of a vector, which is empty for sizes and strides up to 0.
template <class T, class F>
void each_element(const LibraryCall& library, std::int64_t n, Vector x, F f) {
  if (n <= 0 || x.stride <= 0) return;
  for (const double value : read(library, view_of<T>(x, n)).elements) f(value);
}

template <class T>
cublasStatus_t dot(BlasCall call, std::int64_t n, Vector x, Vector y, T* result) {
  return call.reduce(result, kTypeOf<T>, [=](const LibraryCall& library) {
    double sum = 0;
    if (n <= 0) return sum;
    const Values a = read(library, view_of<T>(x, n)), b = read(library, view_of<T>(y, n));
    for (std::int64_t i = 0; i < n; ++i) sum += a.elements[i] * b.elements[i];
    return sum;
  });
}

template <class T>
cublasStatus_t nrm2(BlasCall call, std::int64_t n, Vector x, T* result) {
  return call.reduce(result, kTypeOf<T>, [=](const LibraryCall& library) {
    double norm = 0;  // hypot neither overflows nor underflows
    each_element<T>(library, n, x, [&](double value) { norm = std::hypot(norm, value); });
    return norm;
  });
}

template <class T>
cublasStatus_t asum(BlasCall call, std::int64_t n, Vector x, T* result) {
  return call.reduce(result, kTypeOf<T>, [=](const LibraryCall& library) {
    double sum = 0;
    each_element<T>(library, n, x, [&](double value) { sum += std::fabs(value); });
    return sum;
  });
}

/// The first index, from 1, of the largest or smallest magnitude; 0 of an empty vector. `index`
/// points to an integer that is as large as the sizes.
template <class T>
cublasStatus_t iamax(BlasCall call, std::int64_t n, Vector x, void* index, bool wide,
                     bool largest) {
  const auto find = [=](const LibraryCall& library) {
    double best = 0;
    std::int64_t at = 0, i = 0;
    each_element<T>(library, n, x, [&](double value) {
      ++i;
      const double magnitude = std::fabs(value);
      if (at != 0 && !(largest ? magnitude > best : magnitude < best)) return;
      best = magnitude;
      at = i;
    });
    return static_cast<double>(at);
  };
  if (!wide) return call.reduce(index, CUDA_R_32I, find);
  // An index of 64 bits is written as two words; vectors here have fewer than 2^31 elements.
  const cublasStatus_t status = call.reduce(index, CUDA_R_32I, find);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return call.reduce(static_cast<std::byte*>(index) + 4, CUDA_R_32I,
                     [](const LibraryCall&) { return 0.0; });
}

}  // namespace

#define HALFGRAD_LEVEL_1(letter, T, suffix, Int)                                              \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##axpy_v2##suffix(                       \
      cublasHandle_t handle, Int n, const T* alpha, const T* x, Int incx, T* y, Int incy) {   \
    return axpy<T>({handle, "cublas" #letter "axpy"}, n, alpha, {x, incx}, {y, incy});        \
  }                                                                                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##scal_v2##suffix(                       \
      cublasHandle_t handle, Int n, const T* alpha, T* x, Int incx) {                         \
    return scal<T>({handle, "cublas" #letter "scal"}, n, alpha, {x, incx});                   \
  }                                                                                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##copy_v2##suffix(                       \
      cublasHandle_t handle, Int n, const T* x, Int incx, T* y, Int incy) {                   \
    return copy<T>({handle, "cublas" #letter "copy"}, n, {x, incx}, {y, incy});               \
  }                                                                                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##swap_v2##suffix(                       \
      cublasHandle_t handle, Int n, T* x, Int incx, T* y, Int incy) {                         \
    return swap<T>({handle, "cublas" #letter "swap"}, n, {x, incx}, {y, incy});               \
  }                                                                                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##rot_v2##suffix(                        \
      cublasHandle_t handle, Int n, T* x, Int incx, T* y, Int incy, const T* c, const T* s) { \
    return rot<T>({handle, "cublas" #letter "rot"}, n, {x, incx}, {y, incy}, c, s);           \
  }                                                                                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##dot_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* x, Int incx, const T* y, Int incy, T* result) {  \
    return dot<T>({handle, "cublas" #letter "dot"}, n, {x, incx}, {y, incy}, result);         \
  }                                                                                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##nrm2_v2##suffix(                       \
      cublasHandle_t handle, Int n, const T* x, Int incx, T* result) {                        \
    return nrm2<T>({handle, "cublas" #letter "nrm2"}, n, {x, incx}, result);                  \
  }                                                                                           \
  HALFGRAD_EMULATOR_API cublasStatus_t cublas##letter##asum_v2##suffix(                       \
      cublasHandle_t handle, Int n, const T* x, Int incx, T* result) {                        \
    return asum<T>({handle, "cublas" #letter "asum"}, n, {x, incx}, result);                  \
  }
HALFGRAD_FOR_EACH_REAL(HALFGRAD_LEVEL_1)

#define HALFGRAD_INDICES(letter, T, suffix, Int)                                                \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasI##letter##amax_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* x, Int incx, Int* result) {                        \
    return iamax<T>({handle, "cublasI" #letter "amax"}, n, {x, incx}, result, sizeof(Int) == 8, \
                    true);                                                                      \
  }                                                                                             \
  HALFGRAD_EMULATOR_API cublasStatus_t cublasI##letter##amin_v2##suffix(                        \
      cublasHandle_t handle, Int n, const T* x, Int incx, Int* result) {                        \
    return iamax<T>({handle, "cublasI" #letter "amin"}, n, {x, incx}, result, sizeof(Int) == 8, \
                    false);                                                                     \
  }
HALFGRAD_FOR_EACH_SIZE(HALFGRAD_INDICES, s, float)
HALFGRAD_FOR_EACH_SIZE(HALFGRAD_INDICES, d, double)
