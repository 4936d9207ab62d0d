#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <halfgrad/dist/local_communicators.h>

/// Runs ranks as threads of the test.
namespace halfgrad::dist {

using Communicators = std::vector<std::shared_ptr<Communicator>>;

/// Calls f(communicator) on a thread for each rank, and returns when all have ended. Each thread
/// destroys its communicator at the end. Throws the exception of the lowest rank that threw one.
inline void on_ranks(Communicators communicators, const std::function<void(Communicator&)>& f) {
  std::vector<std::exception_ptr> failures(communicators.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < communicators.size(); ++r) {
      threads.emplace_back(
          [&failures, &f, r, communicator = std::move(communicators[r])]() mutable {
            try {
              const std::shared_ptr<Communicator> own = std::move(communicator);
              f(*own);
            } catch (...) {
              failures[r] = std::current_exception();
            }
          });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

inline void on_ranks(int size, const std::function<void(Communicator&)>& f) {
  on_ranks(make_local_communicators(size, std::chrono::seconds(60)), f);
}

}  // namespace halfgrad::dist
