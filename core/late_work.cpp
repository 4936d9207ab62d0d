#include <halfgrad/core/late_work.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace halfgrad::detail {

// One call of run_late() for which the home has not waited.
struct LateWork {
  const Stream home, stream;
  std::vector<Storage*> used;
  std::vector<Array> constant;
  Event done{};
  std::uint64_t order = 0;
  std::vector<allocator::Block> freed{};  // memory of `used` destroyed since

  ~LateWork() {
    for (const allocator::Block& block : freed) allocator::deallocate(block);
  }

  // Makes the stream wait for the home.
  void begin() const {
    Event reached;
    reached.record_alone(home);
    reached.wait(stream);
  }
  void end() { done.record_alone(stream); }

  // True if the home has waited for this work once it has waited for `other`: streams run in order.
  bool ends_with(const LateWork& other) const {
    return home == other.home && stream == other.stream && order <= other.order;
  }
  // Takes the memory over from earlier work: each storage refers to the one work that lists it.
  void mark() {
    for (Storage* const storage : used) {
      if (LateWork* const earlier = of(*storage)) std::erase(earlier->used, storage);
      storage->late_work_.store(this, std::memory_order_release);
    }
  }
  // Call it after the wait has been queued: another thread that then finds no work does not wait.
  void unmark() {
    for (Storage* const storage : used) {
      storage->late_work_.store(nullptr, std::memory_order_release);
    }
  }
  static LateWork* of(const Storage& storage) {
    return storage.late_work_.load(std::memory_order_relaxed);
  }
};

namespace {

using Works = std::vector<std::unique_ptr<LateWork>>;

struct Registry {
  std::mutex mutex;
  Works works;
  std::uint64_t count = 0;         // number of works so far
  std::atomic<bool> empty = true;  // works.empty(), read without the mutex
};

Registry& registry() {
  static auto* const instance = new Registry;  // arrays may outlive statics
  return *instance;
}

// Removes the works that `is_done` selects. Destroy them without the mutex: that frees memory.
template <class Predicate>
Works take(Registry& known, const Predicate& is_done) {
  const auto first = std::stable_partition(known.works.begin(), known.works.end(),
                                           [&](const auto& work) { return !is_done(*work); });
  Works done(std::make_move_iterator(first), std::make_move_iterator(known.works.end()));
  known.works.erase(first, known.works.end());
  known.empty.store(known.works.empty(), std::memory_order_relaxed);
  for (const auto& work : done) work->unmark();
  return done;
}

}  // namespace

void run_late(const Stream& stream, std::vector<Storage*> used, std::span<const Array> constant,
              const std::function<void()>& queue) {
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::unique_ptr<LateWork> work(new LateWork{current_stream(stream.device()),
                                              stream,
                                              std::move(used),
                                              {constant.begin(), constant.end()}});
  work->begin();
  std::exception_ptr error;  // part of the work may be queued
  try {
    const StreamScope scope(stream);
    queue();
  } catch (...) {
    error = std::current_exception();
  }
  work->end();
  {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    work->order = ++known.count;
    known.works.push_back(std::move(work));
    known.works.back()->mark();
    known.empty.store(false, std::memory_order_relaxed);
  }
  if (error) std::rethrow_exception(error);
}

void join_late_work(const Stream& home) {
  Registry& known = registry();
  if (known.empty.load(std::memory_order_relaxed)) return;
  Works done;  // destroyed after the mutex is free
  const std::lock_guard lock(known.mutex);
  const auto is_home = [&](const LateWork& work) { return work.home == home; };
  try {
    for (const auto& work : known.works) {
      const bool is_last =
          std::none_of(known.works.begin(), known.works.end(),
                       [&](const auto& it) { return it != work && work->ends_with(*it); });
      if (is_home(*work) && is_last) work->done.wait(home);
    }
  } catch (...) {
    done = take(known, is_home);  // the GPU is lost, or the capture is broken
    throw;
  }
  done = take(known, is_home);
}

bool has_late_work(const Storage& storage) { return LateWork::of(storage) != nullptr; }

void wait_for_late_work(const Storage& storage) {
  const Stream now = current_stream(storage.device());
  Registry& known = registry();
  Works done;  // destroyed after the mutex is free
  const std::lock_guard lock(known.mutex);
  const LateWork* const last = LateWork::of(storage);
  if (last == nullptr || last->stream == now) return;
  last->done.wait(now);
  if (last->home != now) return;
  done = take(known, [&](const LateWork& work) { return work.ends_with(*last); });
}

void free_after_late_work(Storage& storage) noexcept {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  LateWork* const last = LateWork::of(storage);
  if (last != nullptr) std::erase(last->used, &storage);
  try {
    if (last == nullptr) {
      allocator::deallocate(storage.block());
    } else if (storage.block().owner != nullptr) {
      last->freed.push_back(storage.block());
    } else {
      last->done.wait(current_stream(storage.device()));  // its owner frees it now
    }
  } catch (const std::exception&) {
    // The GPU or the host's memory is lost. The block is never reused.
  }
}

}  // namespace halfgrad::detail
