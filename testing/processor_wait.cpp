#include <halfgrad/testing/processor_wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <sched.h>

namespace halfgrad::testing::detail {
namespace {

/// Processors that a process may use.
int processors_of(pid_t process) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(process, sizeof allowed, &allowed) == 0
             ? std::max(1, CPU_COUNT(&allowed))
             : 1;
}

}  // namespace

/// Linux has the times of a thread in /proc/PROCESS/task/THREAD/schedstat, in nanoseconds.
void ProcessorWait::add_threads(pid_t process, Threads& threads) {
  namespace fs = std::filesystem;
  std::error_code gone;  // threads end while their folders are read
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (fs::directory_iterator task(tasks, gone); !gone && task != fs::directory_iterator();
       task.increment(gone)) {
    Times times;
    std::ifstream(task->path() / "schedstat") >> times.running >> times.waiting;
    threads[static_cast<pid_t>(std::stol(task->path().filename().string()))] = {
        times.running * 1e-9, times.waiting * 1e-9};
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; children >> child;) add_threads(child, threads);
  }
}

ProcessorWait::ProcessorWait(pid_t process) : process_(process) { add_threads(process, before_); }

double ProcessorWait::seconds_served(double passed) const {
  Threads now;
  add_threads(process_, now);
  double running = 0, waiting = 0;
  for (const auto& [thread, times] : now) {
    const auto found = before_.find(thread);
    const Times before = found == before_.end() ? Times{} : found->second;
    running += times.running - before.running;
    waiting = std::max(waiting, times.waiting - before.waiting);
  }
  return std::max(passed - waiting, running / processors_of(process_));
}

}  // namespace halfgrad::testing::detail
