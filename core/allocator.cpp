#include <halfgrad/core/allocator.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/memory/caching_allocator.h>

namespace halfgrad {

namespace {

std::string size_text(std::size_t bytes) {
  return allocator::text_of_bytes(static_cast<std::int64_t>(bytes));
}

}  // namespace

OutOfMemoryError::OutOfMemoryError(std::size_t bytes, std::string refusal)
    : Raised(detail::message("allocate", "expected {} {}", {size_text(bytes), refusal})),
      bytes_(bytes),
      refusal_(std::move(refusal)) {}

OutOfMemoryError::OutOfMemoryError(const OutOfMemoryError& cause, const std::string& op,
                                   const std::string& array)
    : Raised(detail::message(op, "expected {} for {} {}",
                             {size_text(cause.bytes_), array, cause.refusal_})),
      bytes_(cause.bytes_),
      refusal_(cause.refusal_) {}

}  // namespace halfgrad

namespace halfgrad::allocator {

std::string text_of_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double size = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; size >= 1024 && unit < 2; ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", size, kUnits[unit]);
  return text;
}

namespace {

using detail::CachingAllocator;
using detail::MemorySource;

constexpr std::size_t kCacheLine = 64;  // and the widest SIMD register
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Large blocks ask Linux for pages of 2 MiB: programs that pass through memory look up fewer
// addresses of pages, and a message to another process locks fewer of them.
void* request_host_memory(std::size_t bytes) {
  const std::size_t alignment = bytes < kHugePage ? kCacheLine : kHugePage;
  void* block = nullptr;
  if (posix_memalign(&block, alignment, bytes) != 0) return nullptr;
#ifdef __linux__
  // Advice may be refused, which costs only speed.
  if (bytes >= kHugePage) madvise(block, bytes, MADV_HUGEPAGE);
#endif
  return block;
}

MemorySource host_memory() { return {.request = request_host_memory, .release = std::free}; }

// Never destroyed: arrays of static lifetime may outlive every other static object.
CachingAllocator& host() {
  static auto* const instance = new CachingAllocator("cpu", host_memory());
  return *instance;
}

CachingAllocator& pinned() {
  static auto* const instance =
      cuda::is_available() ? new CachingAllocator("cpu (pinned)", detail::runtime::pinned_memory())
                           : &host();
  return *instance;
}

CachingAllocator& of(Device device) {
  if (device.is_cpu()) return host();
  static const auto& on_cuda = *new std::vector<std::unique_ptr<CachingAllocator>>([] {
    std::vector<std::unique_ptr<CachingAllocator>> all;
    for (int i = 0; i < cuda::device_count(); ++i) {
      all.push_back(std::make_unique<CachingAllocator>(Device(kCUDA, i).str(),
                                                       detail::runtime::device_memory(i)));
    }
    return all;
  }());
  const auto index = static_cast<std::size_t>(device.index());
  if (index < on_cuda.size()) return *on_cuda[index];
  const std::string reason = cuda::why_unavailable();
  detail::fail<std::runtime_error>("allocate",
                                   "expected a device this process can use, got {} ({})", device,
                                   reason.empty() ? "no such GPU" : reason);
}

// The pool of the innermost PoolScope of this thread.
thread_local constinit PoolScope::Current scoped;

std::uint64_t pool_for(const CachingAllocator* owner) {
  return scoped.owner == owner ? scoped.id : 0;
}

}  // namespace

Block allocate(Device device, std::size_t bytes) {
  CachingAllocator& owner = of(device);
  if (bytes == 0) return {};
  if (device.is_cpu()) return owner.allocate(bytes, {});
  return owner.allocate(bytes, {current_stream(device).native(), pool_for(&owner)});
}

Block allocate_pinned(std::size_t bytes) {
  return bytes == 0 ? Block{} : pinned().allocate(bytes, {});
}

bool is_pinned(const Block& block) {
  return cuda::is_available() && block.data != nullptr && block.owner == &pinned();
}

void deallocate(const Block& block) noexcept {
  if (block.owner != nullptr) block.owner->deallocate(block, pool_for(block.owner));
}

void record_stream(const Block& block, const Stream& stream) {
  if (block.owner == nullptr || stream.device().is_cpu()) return;
  if (is_pinned(block) || block.stream != stream.native()) {
    block.owner->record_stream(block, stream);
  }
}

Stats stats(Device device) { return of(device).stats(); }
void reset_peak(Device device) { of(device).reset_peak(); }
void set_limit(Device device, std::size_t bytes) { of(device).set_limit(bytes); }
void fail_allocation(Device device, std::int64_t n) { of(device).fail_allocation(n); }

void empty_cache(Device device) {
  of(device).empty_cache();
  if (device.is_cpu()) pinned().empty_cache();
}

Pool::Pool(Device device) {
  if (device.is_cpu()) return;
  owner_ = &of(device);
  id_ = owner_->open_pool(current_stream(device));
}

Pool::~Pool() {
  if (owner_ != nullptr) owner_->close_pool(id_);
}

PoolScope::PoolScope(const Pool& pool) {
  if (pool.owner_ != nullptr) current_.emplace("PoolScope", scoped, Current{pool.owner_, pool.id_});
}

}  // namespace halfgrad::allocator
