#include <halfgrad/core/cuda/kernels/indices.h>

#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/index_check.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

constexpr int kMaxDevices = 64;
std::array<std::atomic<IndexReport*>, kMaxDevices> reports{};

constexpr int kThreads = 256;

__global__ void check_indices(const IndexCheck checked, const std::int64_t* in, std::int64_t n,
                              std::int64_t ignored, bool may_ignore, std::int64_t* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::int64_t index = in[i];
  out[i] = may_ignore && index == ignored ? -1 : checked(index);
}

}  // namespace

IndexReport* index_report_of(Device device) {
  static std::mutex mutex;
  std::atomic<IndexReport*>& report = reports.at(static_cast<std::size_t>(device.index()));
  const std::lock_guard lock(mutex);
  if (report == nullptr) {
    report = new (allocator::allocate_pinned(sizeof(IndexReport)).data) IndexReport;
  }
  return report;
}

Array checked_indices_on_cuda(const char* op, const Array& index, std::int64_t size,
                              std::optional<std::int64_t> ignored) {
  const Array checked = Array::empty(index.sizes(), DType::i64, index.device());
  const std::int64_t n = index.numel();
  if (n == 0) return checked;
  const IndexCheck check{op, size, index_report_of(index.device())};
  const Launch launch(index, op);
  check_indices<<<blocks_for(n, kThreads), kThreads, 0, launch.stream()>>>(
      check, index.data_as<std::int64_t>(), n, ignored.value_or(0), ignored.has_value(),
      checked.data_as<std::int64_t>());
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
