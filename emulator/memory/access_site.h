#pragma once

#include <string>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/memory/access.h>

namespace halfgrad::emulator {

/// One access on its way through resolve(), and the steps that all state spaces share.
struct AccessSite {
  Execution& execution;
  const Instruction& instruction;
  const Access& access;
  const LaneAddresses& addresses;
  const std::byte* stored;

  bool aligned(std::uint64_t address) const { return (address & (access.alignment - 1u)) == 0; }
  /// Whether all 32 lanes are active, aligned, and each one's bytes follow those of the lane
  /// before.
  bool contiguous() const;
  /// Passes the access to the launch's checks, if there are any.
  void tell_checks(const HostPointers& pointers) const;
  /// Passes an access to shared memory of `owner`, another block of the cluster.
  void tell_checks(const HostPointers& pointers, Block& owner) const;
  /// Ends the kernel: "load of 4 bytes at <where>".
  [[noreturn]] void abort(unsigned lane, FindingKind kind, const std::string& where) const;
  [[noreturn]] void abort_misaligned(unsigned lane, const std::string& where) const;
  /// Ends the kernel for an offset in `memory`, such as "shared memory", of which the owner has
  /// `size` bytes: out of bounds, or else misaligned.
  [[noreturn]] void abort_offset(unsigned lane, const std::string& memory, const char* owner,
                                 std::size_t size) const;
  /// Adds an error about an offset outside of a shared variable of `size` bytes.
  void report_outside(unsigned lane, const std::string& mangled, std::uint64_t offset,
                      std::uint64_t size) const;
};

/// Pointers to contiguous lanes from `first`.
HostPointers pointers_from(std::byte* first, unsigned bytes);

std::string hexadecimal(std::uint64_t value);

// resolve() for each state space.
HostPointers resolve_global(const AccessSite& site);
HostPointers resolve_constant(const AccessSite& site);
HostPointers resolve_shared(const AccessSite& site);
HostPointers resolve_local(const AccessSite& site);
/// `in_launch` bytes from address 0 are in the launch's buffer (see Parameter).
HostPointers resolve_parameter(const AccessSite& site, std::size_t in_launch);

}  // namespace halfgrad::emulator
