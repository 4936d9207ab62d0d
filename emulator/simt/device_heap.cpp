#include <halfgrad/emulator/simt/device_heap.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kAlignment = 16;

}  // namespace

bool DeviceHeap::resize(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (allocation_ != nullptr) return false;
  bytes_ = bytes;
  return true;
}

std::size_t DeviceHeap::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::uint64_t DeviceHeap::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > bytes_) return 0;
  if (allocation_ == nullptr) {
    allocation_ = memory_.allocate(MemoryKind::device, device_, bytes_, 256, name_);
    if (allocation_ == nullptr) return 0;
    free_[0] = bytes_;
  }
  const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto piece =
      std::find_if(free_.begin(), free_.end(), [&](const auto& one) { return one.second >= size; });
  if (piece == free_.end()) return 0;
  const auto [offset, available] = *piece;
  free_.erase(piece);
  if (available > size) free_[offset + size] = available - size;
  used_[offset] = size;
  // A fresh piece is not written, whatever it held before.
  if (allocation_->written != nullptr) std::memset(allocation_->written + offset, 0, size);
  return allocation_->begin + offset;
}

void DeviceHeap::release() {
  const std::lock_guard lock(mutex_);
  if (allocation_ != nullptr) memory_.free(allocation_->begin);
  allocation_ = nullptr;
  free_.clear();
  used_.clear();
}

bool DeviceHeap::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  if (allocation_ == nullptr || address < allocation_->begin) return false;
  const auto piece = used_.find(address - allocation_->begin);
  if (piece == used_.end()) return false;
  auto [offset, size] = *piece;
  used_.erase(piece);
  // Joins the piece with free neighbours.
  const auto after = free_.lower_bound(offset);
  if (after != free_.end() && offset + size == after->first) {
    size += after->second;
    free_.erase(after);
  }
  const auto behind = free_.lower_bound(offset);
  if (behind != free_.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == offset) {
      before->second += size;
      return true;
    }
  }
  free_[offset] = size;
  return true;
}

}  // namespace halfgrad::emulator
