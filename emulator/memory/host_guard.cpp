#include <halfgrad/emulator/memory/host_guard.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include <ucontext.h>

#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/memory/arena.h>

namespace halfgrad::emulator {
namespace {

struct Watched {
  std::atomic<std::uint64_t> begin{0}, end{0};
  std::atomic<const Allocations*> allocations{nullptr};
};

// Atomics, because a signal handler may not take a lock that its own thread holds.
std::array<Watched, 64> watched;
std::atomic<HostAccessReport> report_access{nullptr};
std::atomic<FaultHandler> fault_handler{nullptr};
struct sigaction earlier_action;

void print_report(std::uint64_t address) {
  for (const Watched& arena : watched) {
    if (address < arena.begin || address >= arena.end) continue;
    const std::string neighbour = arena.allocations.load()->describe_neighbour(address);
    char hexadecimal[32];
    std::snprintf(hexadecimal, sizeof hexadecimal, "0x%llx",
                  static_cast<unsigned long long>(address));
    const std::string message = std::string("host code dereferences device address ") +
                                hexadecimal + (neighbour.empty() ? "" : ", " + neighbour) +
                                "; copy the memory to the host with cudaMemcpy first";
    const HostAccessReport report = report_access;
    if (report != nullptr) return report(address, message);
    std::fprintf(stderr, "halfgrad-emulate: %s\n", message.c_str());
    return;
  }
}

/// Passes the signal to the handler that was installed before the emulator's.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((earlier_action.sa_flags & SA_SIGINFO) != 0) {
    earlier_action.sa_sigaction(signal, info, context);
  } else if (earlier_action.sa_handler == SIG_DFL || earlier_action.sa_handler == SIG_IGN) {
    std::signal(signal, SIG_DFL);  // the access faults again when this handler returns
  } else {
    earlier_action.sa_handler(signal);
  }
}

/// Whether the access that faulted was a store; true where the processor does not tell.
bool is_store([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;  // bit 1 of the page fault's error code
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#else
  return true;
#endif
}

void on_segmentation_fault(int signal, siginfo_t* info, void* context) {
  const FaultHandler handler = fault_handler;
  const int code = errno;
  if (handler != nullptr &&
      handler(reinterpret_cast<std::uint64_t>(info->si_addr), is_store(context))) {
    errno = code;
    return;
  }
  static std::atomic_flag reported = ATOMIC_FLAG_INIT;
  if (!reported.test_and_set()) print_report(reinterpret_cast<std::uint64_t>(info->si_addr));
  reported.clear();
  pass_on(signal, info, context);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_segmentation_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &earlier_action);
  });
}

}  // namespace

bool set_fault_handler(FaultHandler handler) {
  fault_handler = handler;
  install_handler();
  struct sigaction now {};
  return sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == on_segmentation_fault;
}

void set_host_access_report(HostAccessReport report) { report_access = report; }

HostGuard::HostGuard(const Arena& arena, const Allocations& allocations) {
  install_handler();
  for (slot_ = 0; slot_ < watched.size(); ++slot_) {
    const Allocations* none = nullptr;
    if (!watched[slot_].allocations.compare_exchange_strong(none, &allocations)) continue;
    watched[slot_].end = arena.end();
    watched[slot_].begin = arena.begin();
    return;
  }
  throw std::runtime_error("expected at most 64 devices in a process");
}

HostGuard::~HostGuard() {
  watched[slot_].end = 0;
  watched[slot_].begin = 0;
  watched[slot_].allocations = nullptr;
}

}  // namespace halfgrad::emulator
