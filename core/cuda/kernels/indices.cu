#include <halfgrad/core/cuda/kernels/indices.h>

#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/runtime/index_report.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

constexpr int kMaxDevices = 64;
std::array<std::atomic<IndexReport*>, kMaxDevices> reports{};

IndexReport* report_of(Device device) {
  static std::mutex mutex;
  std::atomic<IndexReport*>& report = reports.at(static_cast<std::size_t>(device.index()));
  const std::lock_guard lock(mutex);
  if (report == nullptr) {
    // Never freed: captured graphs keep its address.
    report = new (allocator::allocate_pinned(sizeof(IndexReport)).data) IndexReport;
  }
  return report;
}

constexpr int kThreads = 256;

__global__ void check_indices(const char* op, const std::int64_t* in, std::int64_t n,
                              std::int64_t size, std::int64_t ignored, bool may_ignore,
                              std::int64_t* out, IndexReport* report) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::int64_t index = in[i];
  if (may_ignore && index == ignored) {
    out[i] = -1;
  } else if (index >= 0 && index < size) {
    out[i] = index;
  } else {
    out[i] = 0;
    const unsigned found =
        atomicCAS_system(&report->state, IndexReport::kFree, IndexReport::kClaimed);
    if (found == IndexReport::kFree) {
      report->found = {op, index, size};
      __threadfence_system();
      atomicExch_system(&report->state, IndexReport::kWritten);
    }
  }
}

}  // namespace

Array checked_indices_on_cuda(const char* op, const Array& index, std::int64_t size,
                              std::optional<std::int64_t> ignored) {
  const Array checked = Array::empty(index.sizes(), DType::i64, index.device());
  const std::int64_t n = index.numel();
  if (n == 0) return checked;
  IndexReport* const report = report_of(index.device());
  const Launch launch(index, op);
  check_indices<<<blocks_for(n, kThreads), kThreads, 0, launch.stream()>>>(
      op, index.data_as<std::int64_t>(), n, size, ignored.value_or(0), ignored.has_value(),
      checked.data_as<std::int64_t>(), report);
  launch.check();
  return checked;
}

void throw_reported_index(Device device) {
  IndexReport* const report = reports.at(static_cast<std::size_t>(device.index()));
  if (report == nullptr) return;
  const auto found = take(*report);
  if (!found) return;
  fail<std::out_of_range>(
      found->op,
      "expected indices >= 0 and below the size {}, got {} on {}, reported when "
      "the host next waited for it",
      found->size, found->index, device);
}

}  // namespace halfgrad::detail
