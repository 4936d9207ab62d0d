#include <halfgrad/core/thread_pool.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

thread_local bool in_chunk = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

bool more_than_cores(int threads) {
  static const unsigned cores = std::thread::hardware_concurrency();
  return cores != 0 && threads > static_cast<int>(cores);
}

// Waits for ready(value). Sleeping and waking costs both threads 10 us or more, so it first polls
// for 1 ms, longer than the pauses inside a training step. Between polls it yields only if several
// of the `threads` share a core: beside another busy program, a thread that yields gets its core
// back milliseconds later, and the others wait for it.
template <class Ready>
std::uint32_t await(const std::atomic<std::uint32_t>& state, int threads, const Ready& ready) {
  constexpr auto kPolling = std::chrono::milliseconds(1);
  while (true) {
    std::uint32_t value = 0;
    const auto deadline = std::chrono::steady_clock::now() + kPolling;
    do {
      for (int i = 0; i < 64; ++i) {
        value = state.load(std::memory_order_acquire);
        if (ready(value)) return value;
        pause();
      }
      if (more_than_cores(threads)) std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < deadline);
    state.wait(value, std::memory_order_acquire);
  }
}

// The chunks of one parallel_for.
struct Region {
  std::int64_t begin = 0, end = 0, grain = 1, chunks = 0;
  detail::ChunkFunction function = nullptr;
  const void* functor = nullptr;
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;

  void run_one(std::int64_t chunk) const {
    const std::int64_t first = begin + chunk * grain;
    function(functor, first, chunk + 1 == chunks ? end : first + grain);
  }

  // Runs chunks until none is left.
  void work() {
    std::int64_t chunk;
    while ((chunk = next.fetch_add(1, std::memory_order_relaxed)) < chunks) {
      try {
        run_one(chunk);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
        next.store(chunks, std::memory_order_relaxed);
      }
    }
  }
};

// Workers enter a region through a gate: one word with a bit that says whether it is open, the
// number of workers inside, and the number of the region, so that a sleeping worker sees a change.
// A thread that finds no chunk left closes the gate. The caller returns when no worker is inside,
// so it never waits for a worker that wakes late.
class Pool {
 public:
  ~Pool() { stop(); }

  void resize(int threads) {
    const std::scoped_lock lock(busy_);
    stop();
    gate_ = 0;
    threads_ = threads;
  }

  int threads() const { return threads_; }

  // Returns false and does nothing while another caller uses the workers.
  bool run(std::int64_t begin, std::int64_t end, std::int64_t grain, std::int64_t chunks,
           detail::ChunkFunction function, const void* functor) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock) return false;
    start();
    region_.begin = begin;
    region_.end = end;
    region_.grain = grain;
    region_.chunks = chunks;
    region_.function = function;
    region_.functor = functor;
    region_.next.store(0, std::memory_order_relaxed);
    gate_.store((gate_.load(std::memory_order_relaxed) & kRegion) + kNextRegion + kOpen,
                std::memory_order_release);
    gate_.notify_all();
    in_chunk = true;
    region_.work();
    in_chunk = false;
    gate_.fetch_and(~kOpen, std::memory_order_relaxed);
    await(gate_, threads_, [](std::uint32_t gate) { return (gate & kInside) == 0; });
    if (region_.failed.exchange(false)) {
      std::rethrow_exception(std::exchange(region_.failure, nullptr));
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kOpen = 1, kStop = 2, kOneInside = 4, kInside = 0xfffc;
  static constexpr std::uint32_t kNextRegion = 0x10000, kRegion = 0xffff0000;

  void start() {
    while (static_cast<int>(workers_.size()) + 1 < threads_) {
      workers_.emplace_back([this] { serve(); });
    }
  }

  void stop() {
    gate_ = kStop;
    gate_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  void serve() {
    in_chunk = true;
    while (true) {
      std::uint32_t gate = await(
          gate_, threads_, [](std::uint32_t value) { return (value & (kOpen | kStop)) != 0; });
      if ((gate & kStop) != 0) return;
      if (!gate_.compare_exchange_strong(gate, gate + kOneInside, std::memory_order_acquire)) {
        continue;
      }
      region_.work();
      gate_.fetch_and(~kOpen, std::memory_order_relaxed);
      gate_.fetch_sub(kOneInside, std::memory_order_release);
      gate_.notify_all();
    }
  }

  static int initial_threads() {
    const char* text = std::getenv("HALFGRAD_NUM_THREADS");
    if (text == nullptr) return std::max(1u, std::thread::hardware_concurrency());
    const std::string_view digits(text);
    int count = 0;
    const auto [stop, error] = std::from_chars(digits.begin(), digits.end(), count);
    if (error != std::errc{} || stop != digits.end() || count < 1) {
      detail::fail<std::runtime_error>(
          "get_num_threads", "expected a positive HALFGRAD_NUM_THREADS, got '{}'", digits);
    }
    return count;
  }

  std::mutex busy_;
  std::atomic<int> threads_ = initial_threads();
  Region region_;
  alignas(64) std::atomic<std::uint32_t> gate_ = 0;
  std::vector<std::thread> workers_;
};

Pool& pool() {
  static Pool pool;
  return pool;
}

}  // namespace

void set_num_threads(int count) {
  if (count < 1) {
    detail::fail("set_num_threads", "expected at least 1, got {}", count);
  }
  if (in_chunk) {
    detail::fail("set_num_threads", "expected a call outside parallel_for, got one inside");
  }
  if (count != pool().threads()) pool().resize(count);
}

int get_num_threads() { return pool().threads(); }

void detail::run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain,
                        ChunkFunction function, const void* functor) {
  if (grain < 1) {
    fail("parallel_for", "expected a grain of at least 1, got {}", grain);
  }
  if (begin >= end) return;
  const std::int64_t chunks = (end - begin - 1) / grain + 1;
  if (!in_chunk && chunks > 1 && pool().threads() > 1 &&
      pool().run(begin, end, grain, chunks, function, functor)) {
    return;
  }
  for (std::int64_t first = begin, last; first < end; first = last) {
    last = end - first > grain ? first + grain : end;
    function(functor, first, last);
  }
}

}  // namespace halfgrad
