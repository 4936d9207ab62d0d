#include <halfgrad/emulator/checks/reader_lists.h>

#include <algorithm>
#include <new>
#include <vector>

#include <halfgrad/emulator/checks/shadow.h>

namespace halfgrad::emulator {
namespace {

/// Whether a reader of the same warp makes an older one superfluous: every lane of the older one
/// read again, and conflicts with as much.
bool covers(const Reader& later, const Reader& older) {
  return later.block == older.block && later.warp == older.warp &&
         (older.lanes & ~later.lanes) == 0 && later.strong <= older.strong &&
         later.device <= older.device;
}

}  // namespace

/// The lists that were made last, by contents. Entries of other owners stay: their tags differ.
struct ReaderLists::Recent {
  static constexpr std::size_t kEntries = 1u << 14, kCompactions = 1u << 10;
  struct Compaction {
    std::uint64_t owner = 0;
    std::uint32_t list = 0, compacted = 0;
  };

  /// A list's number below the upper half of its hash: most misses are told without the list.
  std::array<std::uint64_t, kEntries> entries{};
  std::array<Compaction, kCompactions> compactions{};
};

ReaderLists::ReaderLists() : serial_(next_serial()) {}

ReaderLists::~ReaderLists() {
  for (const std::atomic<Reader*>& chunk : chunks_) ::operator delete(chunk.load());
}

std::uint64_t ReaderLists::hash(const Reader& reader) const {
  std::uint64_t bits = (std::uint64_t{reader.next} << 32 | reader.clock) * 0x9e3779b97f4a7c15u;
  bits ^= (std::uint64_t{reader.block} << 32 | reader.warp << 20 | reader.instruction) *
          0xc2b2ae3d27d4eb4fu;
  bits ^= reader.lanes * 0x165667b19e3779f9u + serial_;
  bits *= 0x9e3779b97f4a7c15u;
  return bits ^ bits >> 32;
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
  serial_ = next_serial();
}

ReaderLists::Recent& ReaderLists::recent() {
  thread_local Recent recent;
  return recent;
}

void ReaderLists::store(std::uint32_t index, const Reader& reader) {
  const Place place = place_of(index);
  std::atomic<Reader*>& chunk = chunks_[place.chunk];
  if (chunk.load(std::memory_order_acquire) == nullptr) {
    const std::lock_guard lock(mutex_);
    const std::size_t count = std::size_t{kFirstChunk} << place.chunk;
    // Memory that no list uses yet stays untouched.
    if (chunk.load() == nullptr) {
      chunk.store(static_cast<Reader*>(::operator new(count * sizeof(Reader))),
                  std::memory_order_release);
    }
  }
  std::construct_at(chunk.load(std::memory_order_relaxed) + place.index, reader);
}

std::uint32_t ReaderLists::find(const Reader& reader, std::uint64_t bits) {
  const std::uint64_t entry = recent().entries[bits % Recent::kEntries];
  const auto known = static_cast<std::uint32_t>(entry);
  const bool possible = (entry ^ bits) >> 32 == 0 && is_known(known);
  return possible && (*this)[known].same_as(reader) ? known : 0;
}

std::uint32_t ReaderLists::add(Reader reader) {
  const std::uint64_t bits = hash(reader);
  if (const std::uint32_t known = find(reader, bits); known != 0) return known;
  reader.length = 1;
  reader.latest = reader.clock;
  reader.one_block = true;
  if (reader.next != 0) {
    const Reader& next = (*this)[reader.next];
    reader.length = static_cast<std::uint16_t>(std::min(next.length + 1, 0xffff));
    reader.latest = std::max(reader.latest, next.latest);
    reader.one_block = next.one_block && next.block == reader.block;
  }
  const std::uint32_t index = count_.fetch_add(1, std::memory_order_relaxed);
  store(index, reader);
  const std::uint32_t number = first_ + index;
  recent().entries[bits % Recent::kEntries] = bits >> 32 << 32 | number;
  return number;
}

std::uint32_t ReaderLists::extend(std::uint32_t list, Reader reader) {
  const auto is_compacted = [&](std::uint32_t number) {
    const unsigned length = (*this)[number].length;
    return length < 32 || !std::has_single_bit(length);
  };
  if (list != 0) {
    const Reader& head = (*this)[list];
    if (head.clock == reader.clock && covers(head, reader)) return list;
    // The result for another word of the same history holds here, too.
    reader.next = list;
    const std::uint32_t made = find(reader, hash(reader));
    if (made != 0 && is_compacted(made)) return made;
    unsigned steps = 1;
    for (std::uint32_t i = head.next; i != 0 && steps < 8; i = (*this)[i].next, ++steps) {
      const Reader& older = (*this)[i];
      if (older.clock == reader.clock && covers(older, reader)) return list;
    }
    const bool same_warp = head.block == reader.block && head.warp == reader.warp &&
                           head.strong == reader.strong && head.device == reader.device;
    if (same_warp && head.clock == reader.clock) reader.lanes |= head.lanes;
    if (covers(reader, head)) list = head.next;
  }
  reader.next = list;
  const std::uint32_t added = add(reader);
  if (is_compacted(added)) return added;
  Recent::Compaction& known = recent().compactions[added % Recent::kCompactions];
  if (known.owner != serial_ || known.list != added) known = {serial_, added, compact(added)};
  return known.compacted;
}

/// The list without readers that later ones of the same warp make superfluous.
std::uint32_t ReaderLists::compact(std::uint32_t list) {
  struct Entry {
    std::uint64_t warp;
    std::size_t position;  ///< 0: the latest
  };
  std::vector<const Reader*> readers;
  std::vector<Entry> by_warp;
  for (std::uint32_t i = list; i != 0; i = (*this)[i].next) {
    const Reader& reader = (*this)[i];
    by_warp.push_back({std::uint64_t{reader.block} << 32 | reader.warp, readers.size()});
    readers.push_back(&reader);
  }
  std::stable_sort(by_warp.begin(), by_warp.end(),
                   [](const Entry& a, const Entry& b) { return a.warp < b.warp; });
  const auto superfluous = [&](std::size_t i) {
    for (std::size_t j = i; j-- > 0 && by_warp[j].warp == by_warp[i].warp;) {
      if (covers(*readers[by_warp[j].position], *readers[by_warp[i].position])) return true;
    }
    return false;
  };
  std::vector<bool> dropped(readers.size());
  for (std::size_t i = 0; i < by_warp.size(); ++i) dropped[by_warp[i].position] = superfluous(i);
  if (std::find(dropped.begin(), dropped.end(), true) == dropped.end()) return list;
  std::uint32_t compacted = 0;
  for (std::size_t i = readers.size(); i-- > 0;) {
    if (dropped[i]) continue;
    Reader copy = *readers[i];
    copy.next = compacted;
    compacted = add(copy);
  }
  return compacted;
}

}  // namespace halfgrad::emulator
