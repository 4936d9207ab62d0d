#include <halfgrad/dist/host/local_transport.h>

#include <cstring>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/host/errors.h>
#include <halfgrad/dist/host/values_of_ranks.h>

namespace halfgrad::dist {

void LocalTransport::exchange(std::span<const SentBytes> sends,
                              std::span<const ReceivedBytes> receives) {
  const Deadline deadline = std::chrono::steady_clock::now() + timeout_;
  Lock lock(group_->mutex_);
  post(sends);
  try {
    for (int from = 0; from < size(); ++from) {
      if (from != rank_ && !receives[from].empty()) receive(from, receives[from], lock, deadline);
    }
    for (int to = 0; to < size(); ++to) {
      const LocalMessage& message = group_->message(rank_, to);
      wait_for(to, lock, deadline, [&] { return message.state == LocalMessage::none; });
    }
  } catch (...) {
    withdraw(lock);
    throw;
  }
}

std::vector<const std::byte*> LocalTransport::addresses(const std::byte* memory) {
  if (!shared_memory_) return {};
  return values_of_ranks(*this, memory);
}

void LocalTransport::post(std::span<const SentBytes> sends) {
  for (int to = 0; to < size(); ++to) {
    if (to == rank_ || sends[to].empty()) continue;
    group_->message(rank_, to) = {LocalMessage::posted, sends[to]};
  }
  group_->changed_.notify_all();
}

void LocalTransport::receive(int from, ReceivedBytes bytes, Lock& lock, Deadline deadline) {
  LocalMessage& message = group_->message(from, rank_);
  wait_for(from, lock, deadline, [&] { return message.state == LocalMessage::posted; });
  if (message.bytes.size() != bytes.size()) {
    halfgrad::detail::fail<std::logic_error>("exchange", "expected {} bytes, got {}", bytes.size(),
                                             message.bytes.size());
  }
  message.state = LocalMessage::being_copied;
  lock.unlock();
  std::memcpy(bytes.data(), message.bytes.data(), bytes.size());
  lock.lock();
  message.state = LocalMessage::none;
  group_->changed_.notify_all();
}

// Withdraws this rank's offers. When it returns, no rank reads this rank's memory any more.
void LocalTransport::withdraw(Lock& lock) {
  for (int to = 0; to < size(); ++to) {
    LocalMessage& message = group_->message(rank_, to);
    group_->changed_.wait(lock, [&] { return message.state != LocalMessage::being_copied; });
    message.state = LocalMessage::none;
  }
}

void LocalTransport::wait_for(int peer, Lock& lock, Deadline deadline,
                              const std::function<bool()>& done) {
  const auto& self = group_->members_[rank_];
  const auto& other = group_->members_[peer];
  const bool in_time = group_->changed_.wait_until(
      lock, deadline, [&] { return done() || other.left || self.interrupted; });
  if (done()) return;
  if (self.interrupted) fail_interrupted();
  if (other.left) fail_left(name_of(peer), *other.left);
  if (!in_time) fail_silent({name_of(peer)}, timeout_);
}

void LocalTransport::leave(const std::string& reason, bool /*after_error*/) noexcept {
  const Lock lock(group_->mutex_);
  auto& left = group_->members_[rank_].left;
  if (!left) left = reason;
  group_->changed_.notify_all();
}

void LocalTransport::interrupt() noexcept {
  const Lock lock(group_->mutex_);
  group_->members_[rank_].interrupted = true;
  group_->changed_.notify_all();
}

}  // namespace halfgrad::dist
