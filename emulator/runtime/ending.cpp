// End of the program: finishes all work, then reports leaks and unseen errors. A program that ends
// by _exit, quick_exit or abort gets a report, too, of what was found until then.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include <halfgrad/emulator/checks/host_watch.h>
#include <halfgrad/emulator/memory/host_guard.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/ending.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/launches.h>
#include <halfgrad/emulator/runtime/memory_pools.h>
#include <halfgrad/emulator/runtime/streams/unfinished.h>
#include <halfgrad/emulator/runtime/work.h>
#include <halfgrad/emulator/simt/device_heap.h>

namespace halfgrad::emulator {
namespace {

constexpr int kUnknownFunctionExit = 8;

/// After an aborted kernel every cudaFree fails, so nothing is known about leaks.
bool some_device_is_lost() {
  for (int device = 0; device < process().settings.devices; ++device) {
    if (device_is_lost(device)) return true;
  }
  return false;
}

void report_leaks() {
  for (const Allocation& allocation : process().memory.live()) {
    if (allocation.kind == MemoryKind::variable || allocation.made_by.empty()) continue;
    if (allocation.made_by.rfind("cudaHostRegister", 0) == 0) continue;
    if (allocation.made_by.rfind("variable ", 0) == 0) continue;
    if (allocation.made_by.rfind(DeviceHeap::kName, 0) == 0) continue;
    if (allocation.made_by.rfind(kGraphMemory, 0) == 0) continue;
    report_call(FindingKind::leak, allocation.made_by.c_str(),
                std::to_string(allocation.bytes) + " bytes were never freed");
  }
}

void finish_work() {
  expect_no_more_work();
  for (int device = 0; device < process().settings.devices; ++device) {
    if (!device_is_lost(device)) wait_for_device(device);
  }
}

void write_reports() { write_report(process().findings.all(), launch_log(), process().settings); }

/// Ends of which the program's own destructors are no part leave out leaks.
enum class Ending : std::uint8_t { exit, no_destructors, abrupt };

void end_process(Ending ending, int exit_code = 0) noexcept {
  static std::atomic<bool> ends{false};
  if (ends.exchange(true)) return;  // an abort while the process ends must not wait for itself
  try {
    // Static objects that a watch needs may be gone.
    [[maybe_unused]] static const auto* const no_watch = new HostWatchPause;
    if (ending != Ending::abrupt) finish_work();
    if (ending == Ending::exit) {
      check_unseen_errors(exit_code);
      const bool leaks = process().settings.check_leak && !some_device_is_lost();
      report_unfinished(leaks);
      if (leaks) report_leaks();
    }
    write_reports();
  } catch (...) {
    error_of_current_exception("end of the process");
  }
}

void end_at_exit(int exit_code, void*) { end_process(Ending::exit, exit_code); }
void end_without_destructors() { end_process(Ending::no_destructors); }

pid_t first_process() {
  static const pid_t one = getpid();
  return one;
}

/// _exit may be called while a thread holds a lock of the emulator, by a handler of a signal. The
/// report is given up then. A child of fork() leaves the report to its parent.
void end_at_exit_without_handlers() {
  constexpr unsigned kMostSeconds = 10;
  if (getpid() != first_process()) return;
  std::signal(SIGALRM, SIG_DFL);
  alarm(kMostSeconds);
  end_process(Ending::abrupt);
}

void end_at_abort(int signal) {
  end_process(Ending::abrupt);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A host access to device memory ends the program, so the report is written before.
void end_at_host_access(std::uint64_t, const std::string& message) {
  Finding finding;
  finding.kind = FindingKind::host_access;
  finding.message = message;
  process().findings.add(std::move(finding));
  end_process(Ending::abrupt);
}

/// This library is initialised before the program and the libraries that use it, so its handler
/// runs after all their destructors.
__attribute__((constructor)) void register_ending() {
  first_process();
  on_exit(end_at_exit, nullptr);
  std::at_quick_exit(end_without_destructors);
  std::signal(SIGABRT, end_at_abort);
  set_host_access_report(end_at_host_access);
}

[[noreturn]] void end_now(int exit_code) {
  syscall(SYS_exit_group, exit_code);
  __builtin_unreachable();
}

}  // namespace

void print_finding(const Finding& finding) {
  std::string text = to_string(finding);
  for (std::size_t at = text.find('\n'); at != std::string::npos && at + 1 < text.size();
       at = text.find('\n', at + 1)) {
    text.insert(at + 1, "==halfgrad-emulate== ");
  }
  std::fprintf(stderr, "==halfgrad-emulate== %s", text.c_str());
}

void end_at_unknown_function(const char* function) {
  std::fflush(stdout);
  report_call(FindingKind::unknown_function, function, "is not implemented by the emulator");
  std::fprintf(stderr, "halfgrad-emulate: %s is not implemented by the emulator\n", function);
  end_process(Ending::abrupt);
  std::fflush(nullptr);
  end_now(kUnknownFunctionExit);
}

}  // namespace halfgrad::emulator

// Programs find these before those of the C library.
extern "C" __attribute__((visibility("default"), noreturn)) void _exit(int exit_code) {
  halfgrad::emulator::end_at_exit_without_handlers();
  halfgrad::emulator::end_now(exit_code);
}
extern "C" __attribute__((visibility("default"), noreturn)) void _Exit(int exit_code) noexcept {
  _exit(exit_code);
}
