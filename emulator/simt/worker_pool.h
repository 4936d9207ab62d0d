#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace halfgrad::emulator {

/// Host threads that stay alive from launch to launch and help the thread that launches.
class WorkerPool {
 public:
  struct Task {
    virtual void help() = 0;  ///< runs once on each helper thread
    virtual ~Task() = default;
  };

  ~WorkerPool();

  /// Lets up to `helpers` threads call task.help(), and returns at once. Does nothing and returns
  /// false if the pool serves another task.
  bool start(Task& task, unsigned helpers);
  /// Waits until no helper works on the task that start() accepted.
  void finish();

  static WorkerPool& instance();

 private:
  void work(unsigned number);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  Task* task_ = nullptr;
  std::uint64_t serial_ = 0;  ///< number of the newest task
  unsigned wanted_ = 0, running_ = 0;
  bool ending_ = false;
};

}  // namespace halfgrad::emulator
