#include <halfgrad/core/memory/caching_allocator.h>

#include <algorithm>
#include <bit>
#include <iomanip>
#include <new>
#include <sstream>
#include <utility>

namespace halfgrad::detail {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest SIMD register

}  // namespace

// Size classes: four per power of two, so rounding wastes at most a quarter.
CachingAllocator::SizeClass CachingAllocator::size_class(std::size_t bytes) {
  if (bytes <= 4 * kAlignment) {
    const std::size_t lines = (bytes + kAlignment - 1) / kAlignment;
    return {lines - 1, lines * kAlignment};
  }
  const auto log = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t step = std::size_t{1} << (log - 2);
  const std::size_t steps = (bytes + step - 1) / step;  // 5, 6, 7 or 8 quarters of 2^log
  return {4 * (log - 8) + steps - 1, steps * step};
}

// The size of the blocks of a class: the inverse of size_class().
std::size_t CachingAllocator::class_bytes(std::size_t index) {
  if (index < 4) return (index + 1) * kAlignment;
  return (index % 4 + 5) << (index / 4 + 5);
}

allocator::Block CachingAllocator::allocate(std::size_t bytes, Queue queue) {
  const SizeClass wanted = size_class(bytes);
  const auto size = static_cast<std::int64_t>(wanted.bytes);
  const std::lock_guard lock(mutex_);
  if (fail_at_ > 0 && --fail_at_ == 0) refuse("fault injection", bytes);
  if (limit_ > 0 && stats_.current + size > limit_) refuse("the limit", bytes);
  if (!pending_.empty()) collect_pending();
  void* data = take_cached(queue, wanted);
  // Blocks of a graph's pool keep what its replays write.
  if (data != nullptr && queue.pool == 0 && source_.forget_contents != nullptr) {
    source_.forget_contents(data, wanted.bytes);
  }
  if (data == nullptr) data = request(wanted.bytes, queue.pool == 0);
  if (data == nullptr) refuse("the system", bytes);
  ++live_[wanted.index];
  ++stats_.allocations;
  stats_.current += size;
  stats_.peak = std::max(stats_.peak, stats_.current);
  return {data, bytes, queue.stream, queue.pool, this};
}

void CachingAllocator::deallocate(const allocator::Block& block, std::uint64_t pool) noexcept {
  const SizeClass given = size_class(block.bytes);
  const std::lock_guard lock(mutex_);
  --live_[given.index];
  stats_.current -= static_cast<std::int64_t>(given.bytes);
  stats_.cached += static_cast<std::int64_t>(given.bytes);
  Pending freed{block, {}, {}};
  if (const auto users = other_streams_.find(block.data); users != other_streams_.end()) {
    freed.streams = std::move(users->second);
    other_streams_.erase(users);
  }
  if (pool != 0) move_to_pool(freed, pool);
  if (done(freed)) {
    keep(freed.block, given);
  } else {
    pending_.push_back(std::move(freed));
  }
}

// Moves the block to the home stream of the pool, and records its old stream so that pending work
// there finishes first. A block of another open pool stays there, because replays of its graph
// write to it.
void CachingAllocator::move_to_pool(Pending& freed, std::uint64_t pool) {
  const Queue from = queue_of({freed.block.stream, freed.block.pool});
  if (from.pool != 0) return;
  const Stream& home = pools_.at(pool).home;
  if (from.stream != home.native()) freed.streams.emplace_back(home.device(), from.stream);
  freed.block.stream = home.native();
  freed.block.pool = pool;
}

void CachingAllocator::record_stream(const allocator::Block& block, const Stream& stream) {
  if (source_.record_event == nullptr) return;
  const std::lock_guard lock(mutex_);
  std::vector<Stream>& streams = other_streams_[block.data];
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

CachingAllocator::FreeLists& CachingAllocator::free_lists(Queue queue) {
  return queue == Queue{} ? default_lists_ : free_[queue];
}

// Adds a free block to the list of its queue.
void CachingAllocator::keep(const allocator::Block& block, SizeClass given) noexcept {
  try {
    auto& list = free_lists(queue_of({block.stream, block.pool}))[given.index];
    if (list.size() == list.capacity()) list.reserve(std::max<std::size_t>(16, 2 * list.size()));
    list.push_back(block.data);
  } catch (const std::bad_alloc&) {
    stats_.cached -= static_cast<std::int64_t>(given.bytes);
    source_.release(block.data);
  }
}

// Blocks freed after their pool was closed go to its home stream.
Queue CachingAllocator::queue_of(Queue queue) const {
  if (queue.pool == 0) return queue;
  const Pool& pool = pools_.at(queue.pool);
  return pool.open ? queue : Queue{pool.home.native(), 0};
}

bool CachingAllocator::done(Pending& pending) {
  while (pending.events.size() < pending.streams.size()) {
    void* const event = source_.record_event(pending.streams[pending.events.size()]);
    if (event == nullptr) return false;
    pending.events.push_back(event);
  }
  while (!pending.events.empty() && source_.event_done(pending.events.back())) {
    pending.events.pop_back();
    pending.streams.pop_back();
  }
  return pending.events.empty();
}

void CachingAllocator::collect_pending() {
  std::erase_if(pending_, [this](Pending& pending) {
    if (!done(pending)) return false;
    keep(pending.block, size_class(pending.block.bytes));
    return true;
  });
}

void* CachingAllocator::take_cached(Queue queue, SizeClass wanted) {
  auto& list = free_lists(queue)[wanted.index];
  if (list.empty()) return nullptr;
  void* const data = list.back();
  list.pop_back();
  stats_.cached -= static_cast<std::int64_t>(wanted.bytes);
  return data;
}

void* CachingAllocator::request(std::size_t bytes, bool may_wait) {
  ++stats_.system_requests;
  void* data = source_.request(bytes);
  if (data == nullptr && may_wait) {
    drop_cache();
    data = source_.request(bytes);
  }
  return data;
}

void CachingAllocator::drop_cache() {
  for (const Pending& pending : pending_) {
    for (void* const event : pending.events) source_.wait_event(event);
  }
  collect_pending();
  for (auto& [queue, lists] : free_) {
    if (queue.pool != 0) continue;
    for (std::size_t i = 0; i < kClasses; ++i) {
      for (void* const data : lists[i]) source_.release(data);
      stats_.cached -= static_cast<std::int64_t>(lists[i].size() * class_bytes(i));
      lists[i].clear();
    }
  }
}

std::uint64_t CachingAllocator::open_pool(const Stream& home) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = pools_.size() + 1;
  pools_.emplace(id, Pool{home, true});
  return id;
}

void CachingAllocator::close_pool(std::uint64_t pool) noexcept {
  const std::lock_guard lock(mutex_);
  Pool& closing = pools_.at(pool);
  closing.open = false;
  for (auto entry = free_.begin(); entry != free_.end();) {
    if (entry->first.pool != pool) {
      ++entry;
      continue;
    }
    for (std::size_t i = 0; i < kClasses; ++i) {
      for (void* const data : entry->second[i]) {
        keep({data, class_bytes(i), closing.home.native(), 0, this}, {i, class_bytes(i)});
      }
    }
    entry = free_.erase(entry);
  }
}

allocator::Stats CachingAllocator::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void CachingAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.current;
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  drop_cache();
}

void CachingAllocator::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = static_cast<std::int64_t>(bytes);
}

void CachingAllocator::fail_allocation(std::int64_t n) {
  const std::lock_guard lock(mutex_);
  fail_at_ = n;
}

void CachingAllocator::refuse(const char* who, std::size_t bytes) const {
  using allocator::text_of_bytes;
  std::ostringstream refusal;
  refusal << "on " << place_ << ", got a refusal from " << who << "; "
          << text_of_bytes(stats_.current) << " are in use, " << text_of_bytes(stats_.cached)
          << " cached, the peak was " << text_of_bytes(stats_.peak) << ", "
          << (limit_ > 0 ? "the limit is " + text_of_bytes(limit_) : "there is no limit")
          << table();
  throw OutOfMemoryError(bytes, refusal.str());
}

// Table of the live and cached blocks by size class.
std::string CachingAllocator::table() const {
  std::array<std::size_t, kClasses> cached{};
  for (const auto& [queue, lists] : free_) {
    for (std::size_t i = 0; i < kClasses; ++i) cached[i] += lists[i].size();
  }
  std::ostringstream rows;
  const auto row = [&rows](auto... cells) {
    rows << '\n';
    ((rows << std::setw(16) << cells), ...);
  };
  row("bytes a block", "live", "bytes live", "cached", "bytes cached");
  for (std::size_t i = 0; i < kClasses; ++i) {
    const auto live = static_cast<std::size_t>(live_[i]);
    if (live + cached[i] == 0) continue;
    const std::size_t bytes = class_bytes(i);
    row(bytes, live, live * bytes, cached[i], cached[i] * bytes);
  }
  return rows.str();
}

}  // namespace halfgrad::detail
