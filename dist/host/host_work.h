#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include <halfgrad/core/stream.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// The progress of a collective of HostCommunicator.
class HostWork final : public Work::State {
 public:
  /// Records the work that the caller has queued on `device` so far.
  explicit HostWork(Device device);

  void wait() override;
  bool is_completed() override;

  /// Called by the thread of communication. begin() waits for the caller's work; end() records this
  /// thread's.
  void begin();
  void end();
  void fail(const std::string& error);

 private:
  const Device device_;
  Event called_, written_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string error_;  // empty: none
};

}  // namespace halfgrad::dist
