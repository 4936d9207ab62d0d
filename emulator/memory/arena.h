#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace halfgrad::emulator {

/// A range of addresses from which allocations are cut, and the memory behind them.
///
/// Programs see addresses from `begin()`; the emulator reads and writes the same byte `shift()`
/// bytes further. A guarded arena's own addresses are inaccessible, so host code that dereferences
/// one faults. Memory that was never written, or was freed, reads 0xA5 and costs no physical page.
class Arena {
 public:
  /// Reserves addresses. `guarded`: programs' addresses are inaccessible to the host; otherwise the
  /// shift is 0. Reserves less if the system refuses `bytes`, down to 1 GiB, then throws
  /// std::runtime_error.
  Arena(std::size_t bytes, bool guarded);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns the address of a free range followed by a gap of gap_after(bytes), or 0 if none is
  /// left.
  std::uint64_t take(std::size_t bytes, std::size_t alignment);
  /// Returns a range that take() gave. Its pages go back to the system at once, its addresses are
  /// given out again as late as possible.
  void give_back(std::uint64_t begin, std::size_t bytes);

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return begin_ + reserved_; }
  bool guarded() const { return guarded_; }
  std::byte* host(std::uint64_t address) const { return view_ + (address - begin_); }
  /// The byte of the shadow for the byte at `address`; maps the shadow when first asked for.
  std::byte* shadow(std::uint64_t address);

  /// Bytes between two allocations, so that an index of up to twice an array's size meets no other
  /// array.
  static std::size_t gap_after(std::size_t bytes);
  static constexpr std::size_t kGap = 512, kLargestGap = std::size_t{16} << 20;
  static constexpr std::size_t kAlignment = 256;
  static constexpr unsigned char kFresh = 0xA5;

 private:
  struct Range {
    std::uint64_t begin;
    std::size_t bytes;
  };
  void map_view_until(std::uint64_t end);
  void release_pages(std::uint64_t begin, std::size_t bytes);
  std::uint64_t take_unused(std::size_t bytes, std::size_t alignment);
  std::uint64_t take_reusable(std::size_t bytes, std::size_t alignment);
  void make_oldest_reusable();

  std::uint64_t begin_ = 0;
  std::size_t reserved_ = 0;
  bool guarded_ = false;
  std::byte* view_ = nullptr;
  std::byte* shadow_ = nullptr;
  std::uint64_t unused_ = 0;      ///< first address that no allocation has had
  std::uint64_t mapped_ = 0;      ///< end of the part of the view that holds memory
  std::deque<Range> quarantine_;  ///< freed, oldest first
  std::size_t quarantined_bytes_ = 0;
  std::map<std::uint64_t, std::size_t> reusable_;  ///< begin, bytes; neighbours are merged
};

}  // namespace halfgrad::emulator
