#include <halfgrad/emulator/memory/access.h>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/memory/local_pointer.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

Space space_of_window(std::uint64_t window) {
  if (window == 0) return Space::global;
  if (window == kSharedWindow) return Space::shared;
  if (window == kLocalWindow) return Space::local;
  if (window == kParameterWindow) return Space::parameter;
  return Space::generic;
}

HostPointers resolve_in_window(const AccessSite& site) {
  switch (site.access.space) {
    case Space::global:
      return resolve_global(site);
    case Space::shared:
      return resolve_shared(site);
    case Space::local:
      return resolve_local(site);
    case Space::parameter:
      return resolve_parameter(site, site.execution.launch->request.kernel.parameter_bytes);
    default:
      break;
  }
  const unsigned lane = first_lane(site.execution.mask);
  site.abort(
      lane, FindingKind::out_of_bounds,
      "generic address " + hexadecimal(site.addresses[lane]) + ", which is in no state space");
}

/// Lanes whose address is in a window; their offsets in it.
LaneMask lanes_of_window(const LaneAddresses& addresses, std::uint64_t window,
                         LaneAddresses& offsets) {
  LaneMask same = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    same |= LaneMask{(addresses[lane] & kWindowMask) == window} << lane;
    offsets[lane] = addresses[lane] & ~kWindowMask;
  }
  return same;
}

/// Leaves the offsets in `addresses`. Reports lanes that use the pointer of another thread: they
/// access their own local memory instead.
void take_owners(const AccessSite& site, LaneMask lanes, LaneAddresses& addresses) {
  const Launch& launch = *site.execution.launch;
  const Warp& warp = *site.execution.warp;
  LaneMask wrong = 0;
  std::uint64_t other = 0;
  each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t owner = LocalPointer::owner_of(addresses[lane]);
    addresses[lane] = LocalPointer::offset_of(addresses[lane]);
    if (owner == 0 || owner == LocalPointer::owner(warp, lane)) return;
    if (wrong == 0) other = owner;
    wrong |= LaneMask{1} << lane;
  });
  if (wrong == 0 || !launch.machine.settings.check_memory) return;
  report(site.execution, site.instruction, first_lane(wrong), FindingKind::out_of_bounds,
         "a pointer to a local variable of " +
             thread_text(launch.request.grid, launch.request.block, LocalPointer::block_of(other),
                         LocalPointer::thread_of(other)) +
             ": each thread has its own local memory, so the address means another place here",
         kLocalWindow | addresses[first_lane(wrong)]);
}

/// Lanes of one warp may access several state spaces: one after the other.
HostPointers resolve_generic(const AccessSite& site) {
  const LaneMask mask = site.execution.mask;
  HostPointers all;
  for (LaneMask left = mask; left != 0;) {
    const std::uint64_t window = site.addresses[first_lane(left)] & kWindowMask;
    LaneAddresses offsets;
    const LaneMask part = lanes_of_window(site.addresses, window, offsets) & left;
    Access access = site.access;
    access.space = space_of_window(window);
    if (access.space == Space::local) take_owners(site, part, offsets);
    const bool known = access.space != Space::generic;
    Execution execution = site.execution;
    execution.mask = part;
    const HostPointers some = resolve_in_window(
        {execution, site.instruction, access, known ? offsets : site.addresses, site.stored});
    if (part == mask) return some;
    each_lane(part, [&](unsigned lane) { all.lane[lane] = some.lane[lane]; });
    left &= ~part;
  }
  return all;
}

/// Shared addresses are 32 bits wide and wrap: `[base + 4294967292]` lies 4 bytes before base.
HostPointers resolve_wrapped(const AccessSite& site) {
  LaneAddresses offsets;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    offsets[lane] = site.addresses[lane] & 0xffffffffu;
  }
  return resolve_shared({site.execution, site.instruction, site.access, offsets, site.stored});
}

template <class T>
LaneAddresses sums(const T* base, T offset) {
  LaneAddresses addresses;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    addresses[lane] = static_cast<T>(base[lane] + offset);
  }
  return addresses;
}

}  // namespace

HostPointers resolve(Execution& execution, const Instruction& instruction, const Access& access,
                     const LaneAddresses& addresses, const std::byte* stored) {
  const AccessSite site{execution, instruction, access, addresses, stored};
  // Atomic operations and waits count themselves, if they change something.
  const bool counts_itself =
      instruction.kind == InstructionClass::atomic || instruction.control == Control::pause;
  if (access.kind != AccessKind::load && !counts_itself) ++execution.block->changes;
  switch (access.space) {
    case Space::global:
      return resolve_global(site);
    case Space::constant:
      return resolve_constant(site);
    case Space::shared:
      return resolve_wrapped(site);
    case Space::local:
      return resolve_local(site);
    case Space::parameter:
      return resolve_parameter(site, execution.frame->function->launch_parameter_bytes);
    case Space::generic:
      break;
  }
  return resolve_generic(site);
}

LaneAddresses addresses_of(const Execution& execution, const Instruction& instruction, unsigned i,
                           unsigned base_bytes) {
  return addresses_of(execution, instruction, i, base_bytes, instruction.immediate);
}

LaneAddresses addresses_of(const Execution& execution, const Instruction& instruction, unsigned i,
                           unsigned base_bytes, std::int64_t offset) {
  const Offset base = instruction.source(i);
  if (base_bytes == 4) {
    return sums(execution.lanes<std::uint32_t>(base), static_cast<std::uint32_t>(offset));
  }
  return sums(execution.lanes<std::uint64_t>(base), static_cast<std::uint64_t>(offset));
}

}  // namespace halfgrad::emulator
