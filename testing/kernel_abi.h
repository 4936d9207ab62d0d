#ifndef HALFGRAD_TESTING_KERNEL_ABI_H
#define HALFGRAD_TESTING_KERNEL_ABI_H

/* How halfgrad-check calls a kernel in a shared library. Plain C, includes nothing of halfgrad. */

/* NOLINTBEGIN(modernize-*, readability-identifier-naming): C has no <cstdint>, no namespaces. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum halfgrad_dtype {
  halfgrad_float64,
  halfgrad_float32,
  halfgrad_float16,
  halfgrad_bfloat16,
  halfgrad_int64,
  halfgrad_int32,
  halfgrad_uint8,
  halfgrad_bool,
  halfgrad_int16,
  halfgrad_int8
};

/** A strided array that the kernel reads or writes. */
struct halfgrad_tensor {
  void* data;    /* the first element, in memory of the device where the check runs */
  int32_t dtype; /* enum halfgrad_dtype */
  int32_t ndim;
  const int64_t* sizes;   /* ndim elements, as strides */
  const int64_t* strides; /* in elements */
};

/* Writes every element of output, or of outputs output[0], output[1], ... for an op with several:
   their count and order are in docs/kernel_budget.md, beside the op. `stream` is a cudaStream_t,
   NULL on the host. Returns 0, or another code if it refuses the operands. */
typedef int (*halfgrad_kernel)(const struct halfgrad_tensor* inputs, int32_t input_count,
                               const struct halfgrad_tensor* output, void* stream);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*, readability-identifier-naming) */

#endif
