#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halfgrad::emulator {

/// The 16-byte chunks of a block's shared memory that products of wgmma read which no wait has
/// ended. A store to one of them comes too early, whatever orders it.
class ProductsInFlight {
 public:
  struct Chunk {
    std::uint16_t products = 0;  ///< under way, one for each warp
    std::uint16_t warp = 0;      ///< the warp that issued the last one
    std::uint32_t place = 0;     ///< Function::places of its instruction
  };

  bool any() const { return in_flight_ != 0; }
  void clear() {
    if (!chunks_.empty()) chunks_.assign(chunks_.size(), Chunk());
    in_flight_ = 0;
  }
  /// `addresses`: byte offsets of chunks. `bytes`: the block's shared memory.
  void issue(std::span<const std::uint32_t> addresses, std::size_t bytes, std::uint16_t warp,
             std::uint32_t place) {
    chunks_.resize(bytes / kBytes + 1);
    for (const std::uint32_t address : addresses) {
      Chunk& chunk = chunks_[address / kBytes];
      chunk = {static_cast<std::uint16_t>(chunk.products + 1), warp, place};
    }
    in_flight_ += addresses.size();
  }
  void finish(std::span<const std::uint32_t> addresses) {
    for (const std::uint32_t address : addresses) --chunks_[address / kBytes].products;
    in_flight_ -= addresses.size();
  }
  /// A chunk that a product reads among these bytes, or nullptr.
  const Chunk* find(std::uint64_t offset, unsigned bytes) const {
    if (!any() || bytes == 0) return nullptr;
    for (std::uint64_t i = offset / kBytes; i <= (offset + bytes - 1) / kBytes; ++i) {
      if (i < chunks_.size() && chunks_[i].products != 0) return &chunks_[i];
    }
    return nullptr;
  }

 private:
  static constexpr unsigned kBytes = 16;
  std::vector<Chunk> chunks_;
  std::size_t in_flight_ = 0;
};

}  // namespace halfgrad::emulator
