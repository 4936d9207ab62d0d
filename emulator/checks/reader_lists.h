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

/// Lists of readers of a launch or of a block. Words that the same warps read in the same order
/// share a list, so that a tile which every warp of a block reads costs one list.
class ReaderLists {
 public:
  /// A block's lists are not thread-safe, a launch's are.
  enum class Owner : std::uint8_t { launch, block };
  explicit ReaderLists(Owner owner);
  ~ReaderLists();
  /// The number of the list that begins with `reader`; `next`, `length`, `latest` and `one_block`
  /// are derived from `next`.
  std::uint32_t add(Reader reader);
  const Reader& operator[](std::uint32_t number) const {
    const std::uint32_t index = number - first_;
    return chunks_[index / kChunk].load(std::memory_order_acquire)[index % kChunk];
  }
  /// Whether no memory for lists is left.
  bool is_full() const {
    return count_.load(std::memory_order_relaxed) >= kChunk * kChunks - 64 || first_ > 3u << 30;
  }

  /// Forgets the lists of a block: all that its threads do later is ordered after these reads.
  /// Their memory is used again, so that a loop over tiles stays in the cache.
  void forget();
  bool is_forgotten(std::uint32_t number) const { return number < first_; }
  /// Starts with a block whose shadow names no list.
  void start_block();

 private:
  struct Recent;
  static constexpr std::uint32_t kChunk = 1u << 14, kChunks = 1u << 12;
  Recent& recent();
  Reader& place(std::uint32_t index);

  std::uint64_t serial_;
  std::unique_ptr<Recent> own_recent_;   ///< used if a block owns the lists
  std::uint32_t first_ = 0;              ///< number of the list at index 0
  std::atomic<std::uint32_t> count_{1};  ///< number 0 means "no list"
  std::mutex mutex_;
  std::unique_ptr<std::atomic<Reader*>[]> chunks_ =
      std::make_unique<std::atomic<Reader*>[]>(kChunks);
};

}  // namespace halfgrad::emulator
