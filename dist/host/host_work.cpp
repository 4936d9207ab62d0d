#include <halfgrad/dist/host/host_work.h>

#include <utility>

namespace halfgrad::dist {

HostWork::HostWork(Device device, std::shared_ptr<std::atomic<int>> waiting_threads)
    : device_(device), waiting_threads_(std::move(waiting_threads)) {
  if (device.is_cuda()) called_.record(current_stream(device));
}

void HostWork::wait() {
  std::unique_lock lock(mutex_);
  ++*waiting_threads_;
  changed_.wait(lock, [this] { return done_; });
  --*waiting_threads_;
  if (!error_.empty()) throw CommunicationError(error_);
  if (device_.is_cuda()) written_.wait(current_stream(device_));
}

bool HostWork::is_completed() {
  const std::lock_guard lock(mutex_);
  if (!error_.empty()) throw CommunicationError(error_);
  return done_;
}

void HostWork::begin() {
  if (device_.is_cuda()) called_.wait(current_stream(device_));
}

void HostWork::end() {
  const std::lock_guard lock(mutex_);
  if (device_.is_cuda()) written_.record(current_stream(device_));
  done_ = true;
  changed_.notify_all();
}

void HostWork::fail(const std::string& error) {
  const std::lock_guard lock(mutex_);
  error_ = error;
  done_ = true;
  changed_.notify_all();
}

}  // namespace halfgrad::dist
