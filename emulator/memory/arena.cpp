#include <halfgrad/emulator/memory/arena.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kPiece = std::size_t{16} << 20;  // bytes of the view that one mmap call maps
constexpr std::size_t kLeast = std::size_t{1} << 30;
constexpr std::size_t kQuarantinedRanges = 65536;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

std::byte* map(std::size_t bytes, int protection) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* address = mmap(nullptr, bytes, protection, flags, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

/// A file of kPiece bytes 0xA5. Private mappings of it make fresh memory: a page is copied when it
/// is first written, and reads 0xA5 again after madvise(MADV_DONTNEED). -1 if the system has no
/// memfd.
int fresh_bytes_file() {
  static const int file = [] {
    const int made = memfd_create("halfgrad fresh memory", MFD_CLOEXEC);
    if (made < 0) return -1;
    const std::string block(std::size_t{1} << 20, static_cast<char>(Arena::kFresh));
    for (std::size_t done = 0; done < kPiece; done += block.size()) {
      if (write(made, block.data(), block.size()) != static_cast<ssize_t>(block.size())) return -1;
    }
    return made;
  }();
  return file;
}

}  // namespace

Arena::Arena(std::size_t bytes, bool guarded) : guarded_(guarded) {
  for (; bytes >= kLeast && view_ == nullptr; bytes /= 2) {
    view_ = map(bytes, PROT_NONE);
    reserved_ = bytes;
    if (view_ == nullptr || !guarded_) continue;
    const std::byte* seen = map(bytes, PROT_NONE);
    if (seen != nullptr) {
      begin_ = reinterpret_cast<std::uint64_t>(seen);
    } else {
      munmap(view_, bytes);
      view_ = nullptr;
    }
  }
  if (view_ == nullptr) {
    throw std::runtime_error(std::string("expected to reserve 1 GiB of addresses, got ") +
                             std::strerror(errno));
  }
  if (!guarded_) begin_ = reinterpret_cast<std::uint64_t>(view_);
  unused_ = begin_ + kGap;
  mapped_ = begin_;
}

Arena::~Arena() {
  munmap(view_, reserved_);
  if (guarded_) munmap(reinterpret_cast<void*>(begin_), reserved_);
  if (shadow_ != nullptr) munmap(shadow_, reserved_);
}

std::byte* Arena::shadow(std::uint64_t address) {
  if (shadow_ == nullptr) shadow_ = map(reserved_, PROT_READ | PROT_WRITE);
  if (shadow_ == nullptr) throw std::runtime_error("no addresses are left for shadow memory");
  return shadow_ + (address - begin_);
}

std::size_t Arena::gap_after(std::size_t bytes) { return std::clamp(bytes, kGap, kLargestGap); }

void Arena::map_view_until(std::uint64_t end) {
  for (; mapped_ < end; mapped_ += kPiece) {
    const int file = fresh_bytes_file();
    const int kind = file >= 0 ? 0 : MAP_ANONYMOUS;
    void* piece = mmap(host(mapped_), kPiece, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED | kind, file, 0);
    if (piece == MAP_FAILED) throw std::runtime_error("no memory is left for the device's memory");
    if (file < 0) std::memset(piece, kFresh, kPiece);
  }
}

std::uint64_t Arena::take_unused(std::size_t bytes, std::size_t alignment) {
  const std::uint64_t at = round_up(unused_, alignment);
  if (bytes > reserved_ || at + bytes + gap_after(bytes) > end()) return 0;
  unused_ = at + bytes + gap_after(bytes);
  map_view_until(unused_);
  return at;
}

std::uint64_t Arena::take_reusable(std::size_t bytes, std::size_t alignment) {
  for (auto range = reusable_.begin(); range != reusable_.end(); ++range) {
    const auto [from, size] = *range;
    const std::uint64_t at = round_up(from, alignment), to = at + bytes + gap_after(bytes);
    if (to > from + size) continue;
    reusable_.erase(range);
    if (at > from) reusable_.emplace(from, at - from);
    if (to < from + size) reusable_.emplace(to, from + size - to);
    return at;
  }
  return 0;
}

std::uint64_t Arena::take(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, kAlignment);
  std::uint64_t at = take_reusable(bytes, alignment);
  if (at == 0) at = take_unused(bytes, alignment);
  while (at == 0 && !quarantine_.empty()) {
    make_oldest_reusable();
    at = take_reusable(bytes, alignment);
  }
  return at;
}

void Arena::make_oldest_reusable() {
  Range range = quarantine_.front();
  quarantine_.pop_front();
  quarantined_bytes_ -= range.bytes;
  auto after = reusable_.lower_bound(range.begin);
  if (after != reusable_.end() && after->first == range.begin + range.bytes) {
    range.bytes += after->second;
    after = reusable_.erase(after);
  }
  if (after != reusable_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == range.begin) {
      before->second += range.bytes;
      return;
    }
  }
  reusable_.emplace(range.begin, range.bytes);
}

void Arena::give_back(std::uint64_t begin, std::size_t bytes) {
  release_pages(begin, bytes);
  const std::size_t with_gap = bytes + gap_after(bytes);
  quarantine_.push_back({begin, with_gap});
  quarantined_bytes_ += with_gap;
  while (quarantine_.size() > kQuarantinedRanges || quarantined_bytes_ > reserved_ / 4) {
    make_oldest_reusable();
  }
}

void Arena::release_pages(std::uint64_t begin, std::size_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t end = begin + bytes;
  const std::uint64_t first = std::min(round_up(begin, page), end);
  const std::uint64_t last = std::max(end / page * page, first);
  std::memset(host(begin), kFresh, first - begin);
  std::memset(host(last), kFresh, end - last);
  if (last > first) {
    madvise(host(first), last - first, MADV_DONTNEED);
    if (fresh_bytes_file() < 0) std::memset(host(first), kFresh, last - first);
  }
  if (shadow_ == nullptr) return;
  std::memset(shadow(begin), 0, first - begin);
  std::memset(shadow(last), 0, end - last);
  if (last > first) madvise(shadow(first), last - first, MADV_DONTNEED);
}

}  // namespace halfgrad::emulator
