#include <halfgrad/emulator/checks/reader_lists.h>

#include <algorithm>
#include <array>

#include <halfgrad/emulator/checks/shadow.h>

namespace halfgrad::emulator {
namespace {

/// The lists that a host thread made last, by contents.
struct Recent {
  std::uint64_t owner = 0;
  std::array<std::uint32_t, 4096> numbers{};
};

std::size_t hash(const Reader& reader) {
  std::uint64_t bits = (std::uint64_t{reader.next} << 32 | reader.clock) * 0x9e3779b97f4a7c15u;
  bits ^= (std::uint64_t{reader.block} << 32 | reader.warp << 20 | reader.instruction) *
          0xc2b2ae3d27d4eb4fu;
  return (bits ^ reader.lanes * 0x165667b19e3779f9u) >> 40;
}

}  // namespace

ReaderLists::ReaderLists() : serial_(next_serial()) {}

ReaderLists::~ReaderLists() {
  for (std::uint32_t i = 0; i < kChunks; ++i) delete[] chunks_[i].load();
}

std::uint32_t ReaderLists::add(Reader reader) {
  thread_local Recent recent;
  if (recent.owner != serial_) {
    recent.owner = serial_;
    recent.numbers.fill(0);
  }
  std::uint32_t& known = recent.numbers[hash(reader) % recent.numbers.size()];
  if (known != 0 && (*this)[known].same_as(reader)) return known;
  reader.latest = reader.clock;
  if (reader.next != 0) {
    const Reader& next = (*this)[reader.next];
    reader.length = static_cast<std::uint16_t>(std::min(next.length + 1, 0xffff));
    reader.latest = std::max(reader.latest, next.latest);
    reader.one_block = next.one_block && next.block == reader.block;
  }
  const std::uint32_t number = count_.fetch_add(1);
  std::atomic<Reader*>& chunk = chunks_[number / kChunk];
  if (chunk.load(std::memory_order_acquire) == nullptr) {
    const std::lock_guard lock(mutex_);
    if (chunk.load() == nullptr) chunk.store(new Reader[kChunk], std::memory_order_release);
  }
  chunk.load()[number % kChunk] = reader;
  return known = number;
}

}  // namespace halfgrad::emulator
