#pragma once

#include <cstdint>
#include <string>

namespace halfgrad::emulator {

class Arena;
class Allocations;

/// Called when host code dereferences an address of device memory, before the process crashes.
using HostAccessReport = void (*)(std::uint64_t address, const std::string& message);

/// Sets the function to call; by default the message goes to stderr.
void set_host_access_report(HostAccessReport report);

/// Called first for every segmentation fault, with the address and whether it was a store. Returns
/// whether the access may be tried again.
using FaultHandler = bool (*)(std::uint64_t address, bool writes);
/// Returns false if the program has installed a handler of SIGSEGV that comes before.
bool set_fault_handler(FaultHandler handler);

/// Watches an arena: a host access to its addresses is reported with the allocation's name, then
/// handed to the SIGSEGV handler that was installed before, which by default ends the process.
/// Unwatches when destroyed.
class HostGuard {
 public:
  HostGuard(const Arena& arena, const Allocations& allocations);
  ~HostGuard();
  HostGuard(const HostGuard&) = delete;
  HostGuard& operator=(const HostGuard&) = delete;

 private:
  unsigned slot_;
};

}  // namespace halfgrad::emulator
