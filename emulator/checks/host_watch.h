#pragma once

#include <functional>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// Finds accesses of the host to pinned and managed memory that a kernel or copy may still write,
/// or still read while the host writes. Eager streams only: there all work has run when a call
/// returns, so an access to its memory before a wait is the host's.
///
/// Between two calls the pages of such memory are inaccessible. The host's first access to a page
/// faults, is compared with the shadow's last write and read of that word, and then goes on. A page
/// is watched if work that the host has not waited for has touched all of its allocated words, so
/// that neighbours of such memory never fault. A system call on a watched page fails with EFAULT.
/// Nothing is watched if the program handles SIGSEGV itself.
///
/// A kernel that writes host memory by atomics or volatile stores may tell the host by a flag that
/// its results are there. Its accesses are not compared.

/// Protects pages. `host` gives the host's operation between this call and the next one.
void watch_host_accesses(const Allocations& memory, FindingLog& findings,
                         const OperationOrder& order, const std::function<OperationId()>& host);
/// Makes all pages accessible.
void end_host_watch();

/// Makes all pages accessible, and watches none while it exists: work runs, whose accesses are not
/// the host's. Another thread may return from a call meanwhile.
class HostWatchPause {
 public:
  HostWatchPause();
  ~HostWatchPause();
  HostWatchPause(const HostWatchPause&) = delete;
  HostWatchPause& operator=(const HostWatchPause&) = delete;
};

}  // namespace halfgrad::emulator
