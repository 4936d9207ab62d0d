#include <halfgrad/emulator/simt/device_heap.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kAlignment = 16;

std::size_t rounded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

bool DeviceHeap::resize(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (was_used_) return false;
  bytes_ = bytes;
  return true;
}

std::size_t DeviceHeap::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::uint64_t DeviceHeap::allocate(std::size_t bytes, const std::string& made_at) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > bytes_ || rounded(bytes) > bytes_ - in_use_) return 0;
  const std::string name = made_at.empty() ? name_ : std::string(name_) + " at " + made_at;
  const Allocation* const made =
      memory_.allocate(MemoryKind::device, device_, bytes, kAlignment, name);
  if (made == nullptr) return 0;
  was_used_ = true;
  in_use_ += rounded(bytes);
  used_[made->begin] = bytes;
  return made->begin;
}

std::size_t DeviceHeap::bytes_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto piece = used_.find(address);
  return piece == used_.end() ? 0 : piece->second;
}

void DeviceHeap::release() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, bytes] : used_) memory_.free(address);
  used_.clear();
  in_use_ = 0;
}

bool DeviceHeap::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto piece = used_.find(address);
  if (piece == used_.end()) return false;
  in_use_ -= rounded(piece->second);
  used_.erase(piece);
  memory_.free(address);
  return true;
}

}  // namespace halfgrad::emulator
