#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <halfgrad/core/engines/rows.h>

namespace halfgrad::detail {

/// State shared by the threads of a team.
struct TeamState {
  explicit TeamState(int threads) : values(static_cast<std::size_t>(threads)), barrier(threads) {}

  std::vector<double> values;
  std::barrier<> barrier;
};

/// A Team of real threads with a barrier. As on a GPU, each() and the code after it are ordered
/// only within a thread, so ThreadSanitizer finds a missing synchronisation of a functor.
template <class T>
class ThreadTeam {
 public:
  ThreadTeam(TeamState& state, std::int64_t rank) : state_(state), rank_(rank) {}

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
  /// Combines the values of all threads by f, in thread order, and returns the result to each.
  template <class F>
  double combine(double value, const F& f) const {
    state_.values[static_cast<std::size_t>(rank_)] = value;
    state_.barrier.arrive_and_wait();
    double total = state_.values[0];
    for (std::size_t i = 1; i < state_.values.size(); ++i) total = f(total, state_.values[i]);
    state_.barrier.arrive_and_wait();  // all have read before the next call writes
    return total;
  }
  template <class F>
  void once(const F& f) const {
    state_.barrier.arrive_and_wait();
    if (rank_ == 0) f();
    state_.barrier.arrive_and_wait();
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(state_.values.size()); }

  TeamState& state_;
  std::int64_t rank_;
};

/// Runs a row functor by a team of `threads` threads.
template <class T, class F, class... Rows>
void run_by_threads(int threads, const F& f, const Rows&... rows) {
  TeamState state(threads);
  std::vector<std::thread> team;
  for (int rank = 0; rank < threads; ++rank) {
    team.emplace_back([&, rank] {
      const ThreadTeam<T> member(state, rank);
      f(member, rows...);
    });
  }
  for (std::thread& thread : team) thread.join();
}

}  // namespace halfgrad::detail
