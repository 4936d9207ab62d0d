#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <halfgrad/emulator/checks/clocks.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// Lanes of a warp that read a word, and the readers before them.
struct Reader {
  std::uint32_t next = 0;  ///< number of the next older reader, 0: none
  std::uint32_t block = 0;
  std::uint16_t warp = 0, length = 1;  ///< length of the list from here
  std::uint32_t instruction = 0;
  LaneMask lanes = 0;
  Clock clock = 0;
  Clock latest = 0;  ///< largest clock of the list
  bool strong = false, device = false;
  bool one_block = true;  ///< all readers of the list are of this block

  bool same_as(const Reader& other) const {
    return next == other.next && block == other.block && warp == other.warp &&
           instruction == other.instruction && lanes == other.lanes && clock == other.clock &&
           strong == other.strong && device == other.device;
  }
};

/// Lists of readers of a launch. Words that the same warps read in the same order share a list, so
/// that a tile which every warp of a block reads costs one list. Thread-safe.
class ReaderLists {
 public:
  ReaderLists();
  ~ReaderLists();
  /// The number of the list that begins with `reader`; `next`, `length`, `latest` and `one_block`
  /// are derived from `next`.
  std::uint32_t add(Reader reader);
  const Reader& operator[](std::uint32_t number) const {
    return chunks_[number / kChunk].load(std::memory_order_acquire)[number % kChunk];
  }
  /// Whether memory for lists is left.
  bool is_full() const { return count_.load(std::memory_order_relaxed) >= kChunk * kChunks - 64; }

 private:
  static constexpr std::uint32_t kChunk = 1u << 14, kChunks = 1u << 12;
  std::uint64_t serial_;
  std::atomic<std::uint32_t> count_{1};
  std::mutex mutex_;
  std::unique_ptr<std::atomic<Reader*>[]> chunks_ =
      std::make_unique<std::atomic<Reader*>[]>(kChunks);
};

}  // namespace halfgrad::emulator
