#include <halfgrad/async/update_thread.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/core/fail.h>

namespace halfgrad::optim {

UpdateThread::UpdateThread(Observer observer)
    : observer_(std::move(observer)), thread_([this] { work(); }) {}

UpdateThread::~UpdateThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_arrived_.notify_one();
  thread_.join();
}

UpdateThread::Ticket UpdateThread::launch(std::function<void()> job) {
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ticket = ++launched_;
  }
  work_arrived_.notify_one();
  reach(Point::launched, ticket);
  return ticket;
}

void UpdateThread::wait(Ticket ticket) {
  const std::unique_lock lock = ended(ticket);
  if (failure_ == nullptr || failed_ > ticket) return;
  forgiven_ = launched_;
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

void UpdateThread::wait() { wait(launched()); }

void UpdateThread::drain() { ended(launched()); }

UpdateThread::Ticket UpdateThread::launched() {
  const std::lock_guard lock(mutex_);
  return launched_;
}

std::unique_lock<std::mutex> UpdateThread::ended(Ticket ticket) {
  if (is_current()) {
    detail::fail<std::runtime_error>(
        "wait", "expected a call from outside the update thread, got one from a job on it");
  }
  reach(Point::waits, ticket);
  std::unique_lock lock(mutex_);
  job_ended_.wait(lock, [&] { return ended_ >= ticket; });
  return lock;
}

void UpdateThread::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    work_arrived_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    const Ticket ticket = ended_ + 1;
    lock.unlock();
    reach(Point::begins, ticket);
    run(ticket, std::move(job));
    reach(Point::ended, ticket);
  }
}

void UpdateThread::run(Ticket ticket, std::function<void()> job) {
  std::exception_ptr failure;
  try {
    job();
  } catch (...) {
    failure = std::current_exception();
  }
  job = nullptr;  // frees its captures before a waiting thread continues
  const std::lock_guard lock(mutex_);
  ended_ = ticket;
  if (failure != nullptr && failure_ == nullptr && ticket > forgiven_) {
    failure_ = std::move(failure);
    failed_ = ticket;
  }
  job_ended_.notify_all();
}

void UpdateThread::reach(Point point, Ticket ticket) const {
  if (observer_) observer_(point, ticket);
}

}  // namespace halfgrad::optim
