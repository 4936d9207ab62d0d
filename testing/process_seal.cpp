#include <halfgrad/testing/process_seal.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace halfgrad::testing::detail {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // nothing is sealed
#endif

/// The kernel's layout of sigaction, of x86-64 and aarch64. glibc's has another.
struct SystemAction {
  void* handler;
  std::uint64_t flags;
  void* restorer;
  std::uint64_t mask;
};

constexpr std::array kSealedSignals{SIGSEGV, SIGBUS, SIGSYS};

/// An argument that system calls ignore, and by which the filter knows the server's own calls.
std::uint64_t key = 0;
bool sealed = false;
/// The handlers that are in force, and those that the kernel believes to be.
std::array<SystemAction, NSIG> fixed{}, kept{};

bool is_sealed_signal(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGSYS;
}

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
std::size_t low_half(int argument) {
  return offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument);
}
std::size_t high_half(int argument) { return low_half(argument) + 4; }
sock_filter returned(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
/// Goes on after `skip` instructions unless the loaded word is `value`.
sock_filter unless_equal(std::uint32_t value, std::uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}
std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

using Filter = std::vector<sock_filter>;
void append(Filter& all, const Filter& part) { all.insert(all.end(), part.begin(), part.end()); }

/// Allows the call if this argument is the key.
Filter allowed_with_key(int argument) {
  return {load(low_half(argument)), unless_equal(low(key), 3), load(high_half(argument)),
          unless_equal(high(key), 1), returned(SECCOMP_RET_ALLOW)};
}

/// If the system call is `number`, runs `body`; else goes on behind it.
Filter if_call(long number, const Filter& body) {
  Filter all{
      load(offsetof(seccomp_data, nr)),
      unless_equal(static_cast<std::uint32_t>(number), static_cast<std::uint8_t>(body.size()))};
  append(all, body);
  return all;
}

/// Refuses a call whose first argument is an address in [first, last], in units of 4 GiB.
Filter refused_in(std::uint32_t first, std::uint32_t last, bool has_key) {
  Filter body{load(high_half(0))};
  Filter refusal = has_key ? allowed_with_key(3) : Filter{};
  refusal.push_back(returned(SECCOMP_RET_KILL_PROCESS));
  const auto size = static_cast<std::uint8_t>(refusal.size());
  body.push_back(
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, static_cast<std::uint8_t>(size + 1)));
  body.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, size, 0));
  append(body, refusal);
  body.push_back(returned(SECCOMP_RET_ALLOW));
  return body;
}

/// Traps rt_sigaction() that sets a handler of a sealed signal.
Filter trapped_handlers() {
  Filter body = allowed_with_key(4);
  append(body, {load(low_half(1)), unless_equal(0, 3), load(high_half(1)), unless_equal(0, 1),
                returned(SECCOMP_RET_ALLOW)});  // without a new handler
  for (const int number : kSealedSignals) {
    append(body, {load(low_half(0)), unless_equal(static_cast<std::uint32_t>(number), 1),
                  returned(SECCOMP_RET_TRAP)});
  }
  body.push_back(returned(SECCOMP_RET_ALLOW));
  return body;
}

Filter filter_of(const std::byte* base, std::size_t bytes) {
  Filter all{load(offsetof(seccomp_data, arch)),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0), returned(SECCOMP_RET_ALLOW)};
  append(all, if_call(SYS_rt_sigaction, trapped_handlers()));
  if (bytes > 0) {
    const auto first = reinterpret_cast<std::uintptr_t>(base), last = first + bytes - 1;
    append(all, if_call(SYS_mprotect, refused_in(high(first), high(last), true)));
    for (const long number : {SYS_pkey_mprotect, SYS_munmap, SYS_mremap, SYS_mmap}) {
      append(all, if_call(number, refused_in(high(first), high(last), false)));
    }
  }
  all.push_back(returned(SECCOMP_RET_ALLOW));
  return all;
}

/// Answers a trapped rt_sigaction(number, action, old): keeps the handler aside.
void keep_handler(int, siginfo_t*, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const long long arguments[] = {machine.gregs[REG_RDI], machine.gregs[REG_RSI],
                                 machine.gregs[REG_RDX]};
  auto& result = machine.gregs[REG_RAX];
#elif defined(__aarch64__)
  const unsigned long long arguments[] = {machine.regs[0], machine.regs[1], machine.regs[2]};
  auto& result = machine.regs[0];
#else
  const long long arguments[] = {0, 0, 0};
  long long result = 0;
  static_cast<void>(machine);
#endif
  const auto number = static_cast<std::size_t>(arguments[0]);
  // NOLINTBEGIN(performance-no-int-to-ptr): registers hold the arguments of a system call.
  const auto* const action =
      reinterpret_cast<const SystemAction*>(static_cast<std::uintptr_t>(arguments[1]));
  auto* const old = reinterpret_cast<SystemAction*>(static_cast<std::uintptr_t>(arguments[2]));
  // NOLINTEND(performance-no-int-to-ptr)
  const SystemAction before = kept.at(number);  // first: `old` and `action` may be one
  const SystemAction next = *action;
  if (old != nullptr) *old = before;
  kept.at(number) = next;
  result = 0;
}

}  // namespace

void seal_process(const std::byte* base, std::size_t bytes) {
  if (kArchitecture == 0) return;
  std::random_device random;
  key = std::uint64_t{random()} << 32 | random() | 1;
  struct sigaction action {};
  action.sa_sigaction = keep_handler;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  for (const int number : kSealedSignals) {
    ::syscall(SYS_rt_sigaction, number, nullptr, &fixed.at(static_cast<std::size_t>(number)),
              sizeof(std::uint64_t));
  }
  kept = fixed;
  Filter filter = filter_of(base, bytes);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  sealed = ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int protect(std::byte* first, std::size_t bytes, int protection) {
  return static_cast<int>(::syscall(SYS_mprotect, first, bytes, protection, key));
}

bool has_own_handler(int number) {
  if (!sealed || !is_sealed_signal(number)) return false;
  const void* const own = kept.at(static_cast<std::size_t>(number)).handler;
  return own != fixed.at(static_cast<std::size_t>(number)).handler &&
         own != reinterpret_cast<void*>(SIG_IGN) && own != reinterpret_cast<void*>(SIG_DFL);
}

void call_own_handler(int number, siginfo_t* info, void* context) {
  // A handler of one argument ignores the others.
  const auto handler = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(
      kept.at(static_cast<std::size_t>(number)).handler);
  handler(number, info, context);
}

struct sigaction visible_handler(int number) {
  struct sigaction handler {};
  ::sigaction(number, nullptr, &handler);
  if (!sealed || !is_sealed_signal(number)) return handler;
  handler.sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(
      kept.at(static_cast<std::size_t>(number)).handler);
  return handler;
}

void restore_handler(int number, const struct sigaction& handler) {
  if (sealed && is_sealed_signal(number)) {
    const auto index = static_cast<std::size_t>(number);
    kept.at(index) = fixed.at(index);
    return;
  }
  ::sigaction(number, &handler, nullptr);
}

void reset_handler(int number) {
  const SystemAction ends{};  // SIG_DFL
  ::syscall(SYS_rt_sigaction, number, &ends, nullptr, sizeof(std::uint64_t), key);
}

}  // namespace halfgrad::testing::detail
