#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <halfgrad/core/rows.h>

namespace halfgrad::detail {

/// What the threads of a team share.
struct TeamRoom {
  explicit TeamRoom(int threads) : of_thread(static_cast<std::size_t>(threads)), barrier(threads) {}

  std::vector<double> of_thread;
  std::barrier<> barrier;
};

/// A Team of real threads with a barrier, which promises no more than a GPU's: each() and what
/// comes after it are in order only within a thread. So ThreadSanitizer sees what a functor omits.
template <class T>
class ThreadTeam {
 public:
  ThreadTeam(TeamRoom& room, std::int64_t rank) : room_(room), rank_(rank) {}

  template <class F>
  void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = rank_; i < n; i += size()) f(i);
  }
  template <class F>
  T sum(std::int64_t n, const F& f) const {
    double part = 0;
    each(n, [&](std::int64_t i) { part += static_cast<double>(f(i)); });
    return static_cast<T>(combine(part, [](double a, double b) { return a + b; }));
  }
  template <class F>
  T max(std::int64_t n, const F& f) const {
    const auto larger = [](double a, double b) { return a >= b || a != a ? a : b; };
    double largest = -std::numeric_limits<double>::infinity();
    each(n, [&](std::int64_t i) { largest = larger(largest, static_cast<double>(f(i))); });
    return static_cast<T>(combine(largest, larger));
  }
  /// f(value, ...) over the threads, in their order; each gets the result.
  template <class F>
  double combine(double value, const F& f) const {
    room_.of_thread[static_cast<std::size_t>(rank_)] = value;
    room_.barrier.arrive_and_wait();
    double total = room_.of_thread[0];
    for (std::size_t i = 1; i < room_.of_thread.size(); ++i) total = f(total, room_.of_thread[i]);
    room_.barrier.arrive_and_wait();  // before the next call writes
    return total;
  }
  template <class F>
  void once(const F& f) const {
    room_.barrier.arrive_and_wait();
    if (rank_ == 0) f();
    room_.barrier.arrive_and_wait();
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(room_.of_thread.size()); }

  TeamRoom& room_;
  std::int64_t rank_;
};

/// Runs a row functor by a team of so many threads.
template <class T, class F, class... Rows>
void run_by_threads(int threads, const F& f, const Rows&... rows) {
  TeamRoom room(threads);
  std::vector<std::thread> team;
  for (int rank = 0; rank < threads; ++rank) {
    team.emplace_back([&, rank] {
      const ThreadTeam<T> member(room, rank);
      f(member, rows...);
    });
  }
  for (std::thread& thread : team) thread.join();
}

}  // namespace halfgrad::detail
