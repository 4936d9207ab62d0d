#include <halfgrad/emulator/checks/reader_lists.h>

#include <algorithm>
#include <array>

#include <halfgrad/emulator/checks/shadow.h>

namespace halfgrad::emulator {
namespace {

std::uint64_t hash(const Reader& reader) {
  std::uint64_t bits = (std::uint64_t{reader.next} << 32 | reader.clock) * 0x9e3779b97f4a7c15u;
  bits ^= (std::uint64_t{reader.block} << 32 | reader.warp << 20 | reader.instruction) *
          0xc2b2ae3d27d4eb4fu;
  return (bits ^ reader.lanes * 0x165667b19e3779f9u) >> 16;
}

}  // namespace

/// The lists that were made last, by contents: of a launch, for each host thread.
struct ReaderLists::Recent {
  std::uint64_t owner = 0;
  /// A list's number below the upper half of its hash: most misses are told without the list.
  std::array<std::uint64_t, 2048> entries{};
};

ReaderLists::ReaderLists(Owner owner) : serial_(next_serial()) {
  if (owner == Owner::block) own_recent_ = std::make_unique<Recent>();
}

ReaderLists::~ReaderLists() {
  for (std::uint32_t i = 0; i < kChunks; ++i) delete[] chunks_[i].load();
}

void ReaderLists::forget() {
  first_ += count_.load(std::memory_order_relaxed);
  count_.store(first_ == 0 ? 1 : 0, std::memory_order_relaxed);
}

void ReaderLists::start_block() {
  forget();
  if (first_ < 1u << 30) return;
  first_ = 0;
  count_.store(1, std::memory_order_relaxed);
  own_recent_->entries.fill(0);
}

ReaderLists::Recent& ReaderLists::recent() {
  if (own_recent_ != nullptr) return *own_recent_;
  thread_local Recent of_launch;
  if (of_launch.owner != serial_) {
    of_launch.owner = serial_;
    of_launch.entries.fill(0);
  }
  return of_launch;
}

Reader& ReaderLists::place(std::uint32_t index) {
  std::atomic<Reader*>& chunk = chunks_[index / kChunk];
  if (chunk.load(std::memory_order_acquire) == nullptr) {
    const std::lock_guard lock(mutex_);
    if (chunk.load() == nullptr) chunk.store(new Reader[kChunk], std::memory_order_release);
  }
  return chunk.load(std::memory_order_relaxed)[index % kChunk];
}

std::uint32_t ReaderLists::add(Reader reader) {
  const std::uint64_t bits = hash(reader), tag = bits >> 16 << 32;
  auto& entries = recent().entries;
  std::uint64_t& entry = entries[bits % entries.size()];
  const auto known = static_cast<std::uint32_t>(entry);
  const bool possible = known != 0 && (entry ^ tag) >> 32 == 0 && !is_forgotten(known);
  if (possible && (*this)[known].same_as(reader)) return known;
  reader.latest = reader.clock;
  if (reader.next != 0) {
    const Reader& next = (*this)[reader.next];
    reader.length = static_cast<std::uint16_t>(std::min(next.length + 1, 0xffff));
    reader.latest = std::max(reader.latest, next.latest);
    reader.one_block = next.one_block && next.block == reader.block;
  }
  const std::uint32_t index = count_.fetch_add(1, std::memory_order_relaxed);
  place(index) = reader;
  const std::uint32_t number = first_ + index;
  entry = tag | number;
  return number;
}

}  // namespace halfgrad::emulator
