#include <halfgrad/testing/shared_memory.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace halfgrad::testing {
namespace {

constexpr std::size_t kWindow = std::size_t{32} << 20;

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

SharedMemory& SharedMemory::instance() {
  static SharedMemory* const memory = new SharedMemory;  // outlives every array
  return *memory;
}

SharedMemory::SharedMemory() {
  // Pages take memory from their first write on, so the whole machine's size costs nothing.
  size_ = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes();
  file_ = ::memfd_create("halfgrad-arrays", MFD_CLOEXEC);
  if (file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(size_)) == 0) {
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    void* const mapped = ::mmap(nullptr, size_, kProtection, MAP_SHARED | MAP_NORESERVE, file_, 0);
    if (mapped != MAP_FAILED) base_ = static_cast<std::byte*>(mapped);
  }
  if (base_ == nullptr) {
    throw std::runtime_error(std::string("check_kernel: cannot map memory for arrays: ") +
                             std::strerror(errno));
  }
}

bool SharedMemory::is_free(std::size_t offset, std::size_t bytes) const {
  if (offset + bytes > size_) return false;
  const auto after = blocks_.lower_bound(offset);
  if (after != blocks_.end() && after->first < offset + bytes) return false;
  if (after == blocks_.begin()) return true;
  const auto before = std::prev(after);
  return before->first + before->second <= offset;
}

std::byte* SharedMemory::allocate(std::size_t bytes) {
  const std::size_t page = page_bytes();
  bytes = (bytes + page - 1) / page * page;
  const std::lock_guard lock(mutex_);
  std::size_t offset = next_;
  if (offset + bytes > kWindow || !is_free(offset, bytes)) {
    offset = kMessageBytes;
    for (const auto& [start, size] : blocks_) {
      if (is_free(offset, bytes)) break;
      offset = start + size;
    }
    if (!is_free(offset, bytes)) throw std::bad_alloc();
  }
  blocks_[offset] = bytes;
  next_ = offset + bytes;
  return base_ + offset;
}

void SharedMemory::free(std::byte* block) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<std::size_t>(block - base_));
  if (found == blocks_.end()) return;
  if (found->first >= kWindow) ::madvise(block, found->second, MADV_REMOVE);
  blocks_.erase(found);
}

std::optional<std::size_t> SharedMemory::offset_of(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  if (byte < base_ || byte >= base_ + size_) return std::nullopt;
  return static_cast<std::size_t>(byte - base_);
}

}  // namespace halfgrad::testing
