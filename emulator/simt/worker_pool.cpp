#include <halfgrad/emulator/simt/worker_pool.h>

namespace halfgrad::emulator {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

WorkerPool& WorkerPool::instance() {
  // Never destroyed: a program may end while its destructors still launch kernels.
  static WorkerPool& pool = *new WorkerPool;
  return pool;
}

bool WorkerPool::start(Task& task, unsigned helpers) {
  const std::lock_guard lock(mutex_);
  if (task_ != nullptr || helpers == 0) return false;
  task_ = &task;
  wanted_ = helpers;
  ++serial_;
  while (threads_.size() < helpers) {
    const auto number = static_cast<unsigned>(threads_.size());
    threads_.emplace_back([this, number] { work(number); });
  }
  wake_.notify_all();
  return true;
}

void WorkerPool::finish() {
  std::unique_lock lock(mutex_);
  wanted_ = 0;  // helpers that did not start yet need not
  done_.wait(lock, [&] { return running_ == 0; });
  task_ = nullptr;
}

void WorkerPool::work(unsigned number) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return ending_ || (serial_ != seen && number < wanted_); });
    if (ending_) return;
    seen = serial_;
    Task* task = task_;
    ++running_;
    lock.unlock();
    task->help();
    lock.lock();
    if (--running_ == 0) done_.notify_all();
  }
}

}  // namespace halfgrad::emulator
