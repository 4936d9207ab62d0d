#pragma once

#include <csignal>
#include <cstddef>

/// Rules that a kernel cannot undo, although it runs in the process: who may change the
/// protection of the arrays' memory, and who is told of a stray access. A seccomp filter looks at
/// the system calls. Where the system has none, nothing is sealed.
namespace halfgrad::testing::detail {

/// Seals [base, base + bytes): a call of mprotect, munmap, mremap or mmap that begins in that
/// memory ends the process by SIGSYS, unless it comes from protect(). From now on the handlers of
/// SIGSEGV, SIGBUS and SIGSYS are fixed: sigaction() of the kernel succeeds and keeps its handler
/// aside.
void seal_process(const std::byte* base, std::size_t bytes);

/// mprotect() of sealed memory, for the server of the kernel.
int protect(std::byte* first, std::size_t bytes, int protection);

/// The handler that the kernel's own sigaction() set for SIGSEGV or SIGBUS, if it set one: it gets
/// accesses outside the sealed memory.
bool has_own_handler(int number);
void call_own_handler(int number, siginfo_t* info, void* context);

/// The handler of a signal as the process sees it: kept aside, or that of the system.
struct sigaction visible_handler(int number);
/// Restores a handler, or forgets the one that is kept aside.
void restore_handler(int number, const struct sigaction& handler);

/// Lets the signal end the process when it is raised next.
void reset_handler(int number);

}  // namespace halfgrad::testing::detail
