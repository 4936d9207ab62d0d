#pragma once

#include <halfgrad/testing/kernel_abi.h>

/// Returns whether every operand and the output hold float32. A kernel that reads another dtype as
/// float32 would read beyond the end of its buffers.
inline bool all_float32(const halfgrad_tensor* inputs, int32_t input_count,
                        const halfgrad_tensor& output) {
  bool all = output.dtype == halfgrad_float32;
  for (int32_t i = 0; i < input_count; ++i) all = all && inputs[i].dtype == halfgrad_float32;
  return all;
}
