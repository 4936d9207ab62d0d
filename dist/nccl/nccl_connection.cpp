#include <halfgrad/dist/nccl/nccl_connection.h>

#include <exception>
#include <utility>

#include <nccl.h>

#include <halfgrad/dist/host/errors.h>

namespace halfgrad::dist {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);

// Lets this thread ask about events while another one captures a graph.
class DuringCaptures {
 public:
  DuringCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~DuringCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  DuringCaptures(const DuringCaptures&) = delete;
  DuringCaptures& operator=(const DuringCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace

void Failure::set(const std::string& error) {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = error;
}

std::string Failure::text() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Failure::throw_any() const {
  const std::string error = text();
  if (!error.empty()) throw CommunicationError(error);
}

void check_nccl(int result, const std::string& call, ncclComm* comm) {
  const auto code = static_cast<ncclResult_t>(result);
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* const details = ncclGetLastError(comm);
  std::string text = call + ": NCCL says " + ncclGetErrorString(code);
  if (details != nullptr && *details != '\0') text += std::string(" (") + details + ")";
  throw CommunicationError(text);
}

NcclConnection::NcclConnection(ncclComm* comm, std::string name, std::chrono::milliseconds timeout)
    : name_(std::move(name)), timeout_(timeout), comm_(comm), thread_([this] { run(); }) {}

NcclConnection::~NcclConnection() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  thread_.join();
  if (comm_ != nullptr) ncclCommDestroy(comm_);
}

void NcclConnection::group(const std::string& collective, const std::function<void(ncclComm*)>& f) {
  try {
    const std::lock_guard lock(calls_);
    failure_->throw_any();
    check_nccl(ncclGroupStart(), "ncclGroupStart", comm_);
    try {
      f(comm_);
    } catch (...) {
      ncclGroupEnd();
      throw;
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd", comm_);
  } catch (const CommunicationError& error) {
    if (failure_->text().empty()) abort(collective + ", on " + name_ + ": " + error.what());
    failure_->throw_any();
  }
}

void NcclConnection::watch(const std::string& collective, std::shared_ptr<const Event> end) {
  const std::lock_guard lock(mutex_);
  newest_ = std::move(end);
  newest_text_ = collective;
}

void NcclConnection::abort(const std::string& error) {
  failure_->set(error);
  // A call that waits for a missing rank holds the mutex; only an abort ends it.
  const bool locked = calls_.try_lock_for(timeout_);
  if (ncclComm* const comm = std::exchange(comm_, nullptr)) ncclCommAbort(comm);
  if (locked) calls_.unlock();
}

void NcclConnection::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    stopped_.wait_for(lock, kTick);
    if (stopping_ || !failure_->text().empty()) continue;
    const std::string error = error_now();
    if (error.empty()) continue;
    lock.unlock();
    abort(error);
    lock.lock();
  }
}

// One event is watched at a time: if it has passed in time, the newest one is next. So nothing is
// asked of the GPU before the time-out.
std::string NcclConnection::error_now() {
  if (calls_.try_lock()) {
    ncclResult_t result = ncclSuccess;
    if (comm_ != nullptr) ncclCommGetAsyncError(comm_, &result);
    calls_.unlock();
    if (result != ncclSuccess && result != ncclInProgress) {
      return newest_text_ + ", on " + name_ + ": NCCL says " + ncclGetErrorString(result);
    }
  }
  const Time now = std::chrono::steady_clock::now();
  if (watched_ == nullptr) {
    watched_ = std::exchange(newest_, nullptr);
    watched_text_ = newest_text_;
    watched_since_ = now;
  }
  if (watched_ == nullptr || now - watched_since_ < timeout_) return "";
  const DuringCaptures scope;
  try {
    if (watched_->query()) {
      watched_ = nullptr;
      return "";
    }
  } catch (const std::exception& error) {
    return watched_text_ + ", on " + name_ + ": " + error.what();
  }
  return watched_text_ + ", on " + name_ + ": has not ended within " + text_of(timeout_) +
         "; another rank did not call it, or is gone";
}

}  // namespace halfgrad::dist
