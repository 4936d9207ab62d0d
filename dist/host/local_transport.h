#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/dist/host/transport.h>

namespace halfgrad::dist {

/// A message on its way: posted by the sender, copied by the receiver.
struct LocalMessage {
  enum State { none, posted, being_copied } state = none;
  SentBytes bytes;
};

/// The memory that ranks of one process share: for each pair of ranks, the message on its way.
class LocalGroup {
 public:
  explicit LocalGroup(int size) : size_(size), messages_(size * size), members_(size) {}

 private:
  friend class LocalTransport;

  struct Member {
    std::optional<std::string> left;  // why it left
    bool interrupted = false;
  };

  LocalMessage& message(int from, int to) { return messages_[from * size_ + to]; }

  const int size_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::vector<LocalMessage> messages_;
  std::vector<Member> members_;
};

/// Sends bytes between threads of one process.
class LocalTransport final : public Transport {
 public:
  /// `shared_memory` must be the same for all ranks of the group.
  LocalTransport(std::shared_ptr<LocalGroup> group, int rank, std::chrono::milliseconds timeout,
                 bool shared_memory)
      : group_(std::move(group)), rank_(rank), timeout_(timeout), shared_memory_(shared_memory) {}

  int rank() const override { return rank_; }
  int size() const override { return group_->size_; }
  std::string name_of(int rank) const override { return "rank " + std::to_string(rank); }

  void exchange(std::span<const SentBytes> sends, std::span<const ReceivedBytes> receives) override;
  std::vector<const std::byte*> addresses(const std::byte* memory) override;
  void leave(const std::string& reason, bool after_error) noexcept override;
  void interrupt() noexcept override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Deadline = std::chrono::steady_clock::time_point;

  void post(std::span<const SentBytes> sends);
  void receive(int from, ReceivedBytes bytes, Lock& lock, Deadline deadline);
  void withdraw(Lock& lock);
  void wait_for(int peer, Lock& lock, Deadline deadline, const std::function<bool()>& done);

  const std::shared_ptr<LocalGroup> group_;
  const int rank_;
  const std::chrono::milliseconds timeout_;
  const bool shared_memory_;
};

}  // namespace halfgrad::dist
