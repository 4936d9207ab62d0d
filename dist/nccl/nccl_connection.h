#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <halfgrad/core/stream.h>
#include <halfgrad/dist/communicator.h>

struct ncclComm;

namespace halfgrad::dist {

/// The error that broke a communicator, which its collectives share.
class Failure {
 public:
  /// Keeps the first error.
  void set(const std::string& error);
  std::string text() const;
  /// Throws CommunicationError if there is an error.
  void throw_any() const;

 private:
  mutable std::mutex mutex_;
  std::string error_;
};

/// Throws CommunicationError unless an ncclResult_t is a success.
void check_nccl(int result, const std::string& call, ncclComm* comm);

/// An ncclComm_t, and a thread that aborts it after an error or when a collective does not end: a
/// GPU that waits for a missing rank would wait for ever, and so would every host that waits for
/// the GPU.
class NcclConnection {
 public:
  /// Takes over `comm`. `name` is the rank's for messages.
  NcclConnection(ncclComm* comm, std::string name, std::chrono::milliseconds timeout);
  ~NcclConnection();
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;

  /// Runs calls of NCCL. Those of one f are a group, which NCCL runs at once.
  void group(const std::string& collective, const std::function<void(ncclComm*)>& f);
  /// A collective was queued and ends with the event.
  void watch(const std::string& collective, std::shared_ptr<const Event> end);
  /// Gives up all collectives.
  void abort(const std::string& error);

  const std::shared_ptr<Failure>& failure() const { return failure_; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  void run();
  std::string error_now();

  const std::string name_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
  std::timed_mutex calls_;  // held during calls of NCCL
  ncclComm* comm_;

  std::mutex mutex_;  // guards everything below
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::string newest_text_, watched_text_;
  std::shared_ptr<const Event> newest_, watched_;
  Time watched_since_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace halfgrad::dist
