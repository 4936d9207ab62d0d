#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halfgrad::emulator {

/// A reader of shared memory that goes on after its instruction: a product of wgmma, or a bulk copy
/// to global memory or to another block of the cluster.
enum class AsyncReader : std::uint8_t { product, bulk_copy, cluster_copy };

/// The 16-byte chunks of a block's shared memory that products and bulk copies read which no wait
/// has ended. A store to one of them comes too early, whatever orders it.
class ReadsInFlight {
 public:
  struct Chunk {
    std::uint16_t reads = 0;   ///< under way, one for each warp of a product
    std::uint16_t thread = 0;  ///< the thread that issued the last one
    std::uint32_t place = 0;   ///< Function::places of its instruction
    AsyncReader reader{};
  };

  bool any() const { return in_flight_ != 0; }
  void clear() {
    if (!chunks_.empty()) chunks_.assign(chunks_.size(), Chunk());
    in_flight_ = 0;
  }
  /// `addresses`: byte offsets of chunks. `bytes`: the block's shared memory. `last`: what the
  /// chunks keep, except for its number of reads.
  void issue(std::span<const std::uint32_t> addresses, std::size_t bytes, Chunk last) {
    chunks_.resize(bytes / kBytes + 1);
    for (const std::uint32_t address : addresses) {
      Chunk& chunk = chunks_[address / kBytes];
      last.reads = static_cast<std::uint16_t>(chunk.reads + 1);
      chunk = last;
    }
    in_flight_ += addresses.size();
  }
  void finish(std::span<const std::uint32_t> addresses) {
    for (const std::uint32_t address : addresses) --chunks_[address / kBytes].reads;
    in_flight_ -= addresses.size();
  }
  /// A chunk that is being read among these bytes, or nullptr.
  const Chunk* find(std::uint64_t offset, unsigned bytes) const {
    if (!any() || bytes == 0) return nullptr;
    for (std::uint64_t i = offset / kBytes; i <= (offset + bytes - 1) / kBytes; ++i) {
      if (i < chunks_.size() && chunks_[i].reads != 0) return &chunks_[i];
    }
    return nullptr;
  }

 private:
  static constexpr unsigned kBytes = 16;
  std::vector<Chunk> chunks_;
  std::size_t in_flight_ = 0;
};

}  // namespace halfgrad::emulator
