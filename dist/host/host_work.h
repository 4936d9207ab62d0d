#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include <halfgrad/core/stream.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// The progress of a collective of HostCommunicator.
class HostWork final : public Work::State {
 public:
  /// Records the work that the caller has queued on `device` so far. wait() counts its thread in
  /// `waiting_threads`.
  HostWork(Device device, std::shared_ptr<std::atomic<int>> waiting_threads);

  void wait() override;
  bool is_completed() override;

  /// Called by the thread of communication. begin() waits for the caller's work; end() records this
  /// thread's.
  void begin();
  void end();
  void fail(const std::string& error);

 private:
  const Device device_;
  const std::shared_ptr<std::atomic<int>> waiting_threads_;
  Event called_, written_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string error_;  // empty: none
};

}  // namespace halfgrad::dist
