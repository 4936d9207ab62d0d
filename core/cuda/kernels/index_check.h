#pragma once

#if !defined(__CUDACC__)
#error "expected nvcc: this header is for kernels"
#endif

#include <cstdint>

#include <halfgrad/core/cuda/runtime/index_report.h>
#include <halfgrad/core/device.h>

/// The check of indices inside a kernel: see core/cuda/kernels/indices.h.
namespace halfgrad::detail {

/// The report of a device, in pinned memory. It is never freed: captured graphs keep its address.
IndexReport* index_report_of(Device device);

/// Checks indices that must be in [0, size). `op` must live as long as the process.
struct IndexCheck {
  const char* op;
  std::int64_t size;
  IndexReport* report;

  /// Returns `index`, or 0 if it is out of range. The first such index is reported.
  __device__ std::int64_t operator()(std::int64_t index) const {
    if (index >= 0 && index < size) return index;
    const unsigned found =
        atomicCAS_system(&report->state, IndexReport::kFree, IndexReport::kClaimed);
    if (found == IndexReport::kFree) {
      report->found = {op, index, size};
      __threadfence_system();
      atomicExch_system(&report->state, IndexReport::kWritten);
    }
    return 0;
  }
};

}  // namespace halfgrad::detail
