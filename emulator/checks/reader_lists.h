#pragma once

#include <array>
#include <atomic>
#include <bit>
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
/// share a list, so that a tile which every warp of a block reads costs one list. All but forget()
/// and start_block() is thread-safe.
class ReaderLists {
 public:
  ReaderLists();
  ~ReaderLists();
  ReaderLists(const ReaderLists&) = delete;
  ReaderLists& operator=(const ReaderLists&) = delete;

  /// The number of the list that begins with `reader`; `length`, `latest` and `one_block` are
  /// derived from `next`.
  std::uint32_t add(Reader reader);
  /// The list that `reader` extends: that of number `list`, less readers that it makes superfluous.
  std::uint32_t extend(std::uint32_t list, Reader reader);
  const Reader& operator[](std::uint32_t number) const {
    const Place place = place_of(number - first_);
    return chunks_[place.chunk].load(std::memory_order_acquire)[place.index];
  }
  /// Whether no memory for lists is left.
  bool is_full() const {
    return count_.load(std::memory_order_relaxed) >= kMost - 64 || first_ > 3u << 30;
  }

  /// Forgets the lists of a block: all that its threads do later is ordered after these reads.
  /// Their memory is used again, so that a loop over tiles stays in the cache.
  void forget();
  bool is_forgotten(std::uint32_t number) const { return number < first_; }
  /// Starts with a block whose shadow names no list.
  void start_block();

 private:
  struct Recent;
  struct Place {
    std::uint32_t chunk, index;
  };
  /// Each chunk is twice as large as the one before: most launches are small.
  static constexpr std::uint32_t kFirstChunk = 256, kChunks = 18, kMost = kFirstChunk << kChunks;
  static Place place_of(std::uint32_t index) {
    index += kFirstChunk;
    const auto log = static_cast<std::uint32_t>(std::bit_width(index)) - 1;
    return {log - (std::bit_width(kFirstChunk) - 1), index - (1u << log)};
  }
  static Recent& recent();
  std::uint64_t hash(const Reader& reader) const;
  bool is_known(std::uint32_t number) const {
    return number != 0 && number >= first_ &&
           number - first_ < count_.load(std::memory_order_relaxed);
  }
  /// The list that begins with exactly this reader if it was made lately, or 0.
  std::uint32_t find(const Reader& reader, std::uint64_t bits);
  std::uint32_t compact(std::uint32_t list);
  void store(std::uint32_t index, const Reader& reader);

  std::uint64_t serial_;
  std::uint32_t first_ = 0;              ///< number of the list at index 0
  std::atomic<std::uint32_t> count_{1};  ///< number 0 means "no list"
  std::mutex mutex_;
  std::array<std::atomic<Reader*>, kChunks> chunks_{};
};

}  // namespace halfgrad::emulator
