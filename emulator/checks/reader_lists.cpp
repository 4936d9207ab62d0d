#include <halfgrad/emulator/checks/reader_lists.h>

#include <algorithm>
#include <array>

#include <halfgrad/emulator/checks/shadow.h>

namespace halfgrad::emulator {
namespace {

std::size_t hash(const Reader& reader) {
  std::uint64_t bits = (std::uint64_t{reader.next} << 32 | reader.clock) * 0x9e3779b97f4a7c15u;
  bits ^= (std::uint64_t{reader.block} << 32 | reader.warp << 20 | reader.instruction) *
          0xc2b2ae3d27d4eb4fu;
  return (bits ^ reader.lanes * 0x165667b19e3779f9u) >> 40;
}

}  // namespace

/// The lists that were made last, by contents: of a launch, for each host thread.
struct ReaderLists::Recent {
  std::uint64_t owner = 0;
  std::array<std::uint32_t, 4096> numbers{};
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
  own_recent_->numbers.fill(0);
}

ReaderLists::Recent& ReaderLists::recent() {
  if (own_recent_ != nullptr) return *own_recent_;
  thread_local Recent of_launch;
  if (of_launch.owner != serial_) {
    of_launch.owner = serial_;
    of_launch.numbers.fill(0);
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
  std::array<std::uint32_t, 4096>& numbers = recent().numbers;
  std::uint32_t& known = numbers[hash(reader) % numbers.size()];
  if (known != 0 && !is_forgotten(known) && (*this)[known].same_as(reader)) return known;
  reader.latest = reader.clock;
  if (reader.next != 0) {
    const Reader& next = (*this)[reader.next];
    reader.length = static_cast<std::uint16_t>(std::min(next.length + 1, 0xffff));
    reader.latest = std::max(reader.latest, next.latest);
    reader.one_block = next.one_block && next.block == reader.block;
  }
  const std::uint32_t index = count_.fetch_add(1, std::memory_order_relaxed);
  place(index) = reader;
  return known = first_ + index;
}

}  // namespace halfgrad::emulator
