#include <halfgrad/emulator/memory/access.h>

#include <algorithm>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/banks.h>
#include <halfgrad/emulator/memory/coalescing.h>
#include <halfgrad/emulator/memory/lookup.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

/// One access on its way through resolve().
struct Site {
  Execution& execution;
  const Instruction& instruction;
  const Access& access;
  const LaneAddresses& addresses;
  const std::byte* stored;
};

std::string text_of(const Access& access) {
  static constexpr const char* kNames[] = {"load", "store", "atomic"};
  return std::string(kNames[static_cast<int>(access.kind)]) + " of " +
         std::to_string(access.bytes) + (access.bytes == 1 ? " byte" : " bytes");
}

std::string hexadecimal(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

[[noreturn]] void abort_access(const Site& site, unsigned lane, FindingKind kind,
                               const std::string& where, std::uint64_t address) {
  abort_kernel(site.execution, site.instruction, lane, kind, text_of(site.access) + " at " + where,
               address);
}

[[noreturn]] void abort_misaligned(const Site& site, unsigned lane, const std::string& where,
                                   std::uint64_t address) {
  abort_access(site, lane, FindingKind::misaligned,
               where + ", which must be a multiple of " + std::to_string(site.access.alignment),
               address);
}

[[noreturn]] void abort_outside_global(const Site& site, unsigned lane, std::uint64_t address) {
  const Allocations& memory = site.execution.launch->machine.memory;
  const bool freed = memory.was_freed(address);
  const std::string neighbour = memory.describe_neighbour(address);
  abort_access(site, lane, freed ? FindingKind::use_after_free : FindingKind::out_of_bounds,
               "global address " + hexadecimal(address) +
                   (neighbour.empty() ? ", where no allocation is near" : ", " + neighbour),
               address);
}

void tell_checks(const Site& site, const HostPointers& pointers) {
  LaunchChecks* checks = site.execution.launch->checks.get();
  const bool lands_later = site.access.asynchronous && site.access.kind == AccessKind::store &&
                           site.access.space == Space::shared;
  if (checks == nullptr || lands_later) return;
  checks->access(site.execution, site.instruction, site.access, site.addresses, pointers,
                 site.stored);
}

void count(const Site& site, const Sectors& sectors) {
  InstructionCounters& counters = counters_of(site.execution, site.instruction);
  counters.sectors += sectors.touched;
  counters.sectors_needed += sectors.needed;
  if (site.access.kind != AccessKind::store) counters.bytes_loaded += sectors.bytes;
  if (site.access.kind != AccessKind::load) counters.bytes_stored += sectors.bytes;
}

/// Whether all 32 lanes are active and each one's bytes follow those of the lane before it.
bool contiguous(LaneMask mask, const LaneAddresses& addresses, unsigned bytes) {
  if (mask != kAllLanes) return false;
  std::uint64_t difference = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    difference |= addresses[lane] ^ (addresses[0] + std::uint64_t{lane} * bytes);
  }
  return difference == 0;
}

/// Pointers to contiguous lanes from `first`.
HostPointers pointers_from(std::byte* first, unsigned bytes) {
  HostPointers pointers;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    pointers.lane[lane] = first + std::size_t{lane} * bytes;
  }
  pointers.contiguous = true;
  return pointers;
}

bool aligned(std::uint64_t address, unsigned alignment) {
  return (address & (alignment - 1u)) == 0;
}

// ---- Global and constant memory

HostPointers resolve_global(const Site& site) {
  const Access& access = site.access;
  const LaneMask mask = site.execution.mask;
  const Allocations& memory = site.execution.launch->machine.memory;
  const std::uint64_t first = site.addresses[0];
  if (contiguous(mask, site.addresses, access.bytes) &&
      aligned(first | access.bytes, access.alignment)) {
    const unsigned all = kWarpSize * access.bytes;
    if (std::byte* host = host_address(memory, first, all)) {
      count(site, sectors_of_range(first, all));
      const HostPointers pointers = pointers_from(host, access.bytes);
      tell_checks(site, pointers);
      return pointers;
    }
  }
  HostPointers pointers;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = site.addresses[lane];
    if (!aligned(address, access.alignment)) {
      abort_misaligned(site, lane, "global address " + hexadecimal(address), address);
    }
    pointers.lane[lane] = host_address(memory, address, access.bytes);
    if (pointers.lane[lane] == nullptr) abort_outside_global(site, lane, address);
  });
  count(site, sectors_of(mask, site.addresses, access.bytes));
  tell_checks(site, pointers);
  return pointers;
}

/// Constant memory has a cache of its own: no sectors, and nothing writes it during a launch.
HostPointers resolve_constant(const Site& site) {
  HostPointers pointers;
  const Allocations& memory = site.execution.launch->machine.memory;
  each_lane(site.execution.mask, [&](unsigned lane) {
    const std::uint64_t address = site.addresses[lane];
    if (!aligned(address, site.access.alignment)) {
      abort_misaligned(site, lane, "constant address " + hexadecimal(address), address);
    }
    pointers.lane[lane] = host_address(memory, address, site.access.bytes);
    if (pointers.lane[lane] == nullptr) abort_outside_global(site, lane, address);
  });
  return pointers;
}

// ---- Shared memory

/// Aborts for an offset that is out of bounds in `size` bytes, or else misaligned.
[[noreturn]] void abort_in_window(const Site& site, unsigned lane, const std::string& memory,
                                  const char* owner, std::size_t size) {
  const std::uint64_t offset = site.addresses[lane];
  const std::string where = "byte " + std::to_string(offset) + " of " + memory;
  if (offset <= size && site.access.bytes <= size - offset) {
    abort_misaligned(site, lane, where, offset);
  }
  abort_access(site, lane, FindingKind::out_of_bounds,
               where + ", of which the " + owner + " has " + std::to_string(size) + " bytes",
               offset);
}

HostPointers resolve_shared_offsets(const Site& site) {
  const Access& access = site.access;
  const LaneMask mask = site.execution.mask;
  std::vector<std::byte>& shared = site.execution.block->shared;
  HostPointers pointers;
  if (contiguous(mask, site.addresses, access.bytes) &&
      site.addresses[0] + kWarpSize * access.bytes <= shared.size() &&
      aligned(site.addresses[0] | access.bytes, access.alignment)) {
    pointers = pointers_from(shared.data() + site.addresses[0], access.bytes);
  } else {
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t offset = site.addresses[lane];
      if (offset + access.bytes > shared.size() || !aligned(offset, access.alignment)) {
        abort_in_window(site, lane, "shared memory", "block", shared.size());
      }
      pointers.lane[lane] = shared.data() + offset;
    });
    counters_of(site.execution, site.instruction).bank_conflicts +=
        bank_conflicts(mask, site.addresses, access.bytes);
  }
  tell_checks(site, pointers);
  return pointers;
}

/// Shared addresses are 32 bits wide and wrap: `[base + 4294967292]` lies 4 bytes before base.
HostPointers resolve_shared(const Site& site) {
  LaneAddresses offsets;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    offsets[lane] = site.addresses[lane] & 0xffffffffu;
  }
  return resolve_shared_offsets(
      {site.execution, site.instruction, site.access, offsets, site.stored});
}

// ---- Local and parameter memory

HostPointers resolve_local(const Site& site) {
  const Frame& frame = *site.execution.frame;
  const Warp& warp = *site.execution.warp;
  const std::size_t size = std::size_t{frame.local_begin} + frame.function->local_bytes;
  HostPointers pointers;
  each_lane(site.execution.mask, [&](unsigned lane) {
    const std::uint64_t offset = site.addresses[lane];
    if (offset + site.access.bytes > size || !aligned(offset, site.access.alignment)) {
      abort_in_window(site, lane, "local memory", "thread", size);
    }
    pointers.lane[lane] = warp.local + lane * warp.local_stride + offset;
  });
  tell_checks(site, pointers);
  return pointers;
}

[[noreturn]] void abort_parameter(const Site& site, unsigned lane, std::size_t size) {
  const std::uint64_t offset = site.addresses[lane];
  abort_access(site, lane, FindingKind::out_of_bounds,
               "byte " + std::to_string(offset) + " of parameter memory, which has " +
                   std::to_string(size) + " bytes and whose kernel parameters are read-only",
               offset);
}

/// Offsets below `in_launch` are in the launch's buffer, the others in the frame's parameter memory
/// (see Parameter).
HostPointers resolve_parameter(const Site& site, std::size_t in_launch) {
  const Frame& frame = *site.execution.frame;
  const std::size_t in_frame = frame.function->parameter_bytes, size = in_launch + in_frame;
  const bool reads = site.access.kind == AccessKind::load;
  HostPointers pointers;
  each_lane(site.execution.mask, [&](unsigned lane) {
    const std::uint64_t offset = site.addresses[lane];
    const std::size_t end = offset < in_launch ? in_launch : size;
    if (offset >= end || site.access.bytes > end - offset || (offset < in_launch && !reads)) {
      abort_parameter(site, lane, size);
    }
    pointers.lane[lane] =
        offset < in_launch
            ? const_cast<std::byte*>(site.execution.launch->request.parameters) + offset
            : frame.parameters + lane * in_frame + (offset - in_launch);
  });
  return pointers;
}

// ---- Generic addresses

Space space_of_window(std::uint64_t window) {
  if (window == 0) return Space::global;
  if (window == kSharedWindow) return Space::shared;
  if (window == kLocalWindow) return Space::local;
  if (window == kParameterWindow) return Space::parameter;
  return Space::generic;
}

HostPointers resolve_in_window(const Site& site, Space space) {
  switch (space) {
    case Space::global:
      return resolve_global(site);
    case Space::shared:
      return resolve_shared_offsets(site);
    case Space::local:
      return resolve_local(site);
    case Space::parameter:
      return resolve_parameter(site, site.execution.launch->request.kernel.parameter_bytes);
    default:
      break;
  }
  const unsigned lane = first_lane(site.execution.mask);
  const std::uint64_t address = site.addresses[lane];
  abort_access(site, lane, FindingKind::out_of_bounds,
               "generic address " + hexadecimal(address) + ", which is in no state space", address);
}

/// Lanes whose address has the window of the first lane, and their offsets in it.
LaneMask lanes_of_window(LaneMask mask, const LaneAddresses& addresses, std::uint64_t window,
                         LaneAddresses& offsets) {
  LaneMask same = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    same |= LaneMask{(addresses[lane] & kWindowMask) == window} << lane;
    offsets[lane] = addresses[lane] & ~kWindowMask;
  }
  return same & mask;
}

HostPointers resolve_generic(const Site& site) {
  const LaneMask mask = site.execution.mask;
  HostPointers all;
  for (LaneMask left = mask; left != 0;) {
    const std::uint64_t window = site.addresses[first_lane(left)] & kWindowMask;
    const Space space = space_of_window(window);
    LaneAddresses offsets;
    const LaneMask part = lanes_of_window(left, site.addresses, window, offsets);
    Access access = site.access;
    access.space = space;
    const LaneAddresses& addresses = space == Space::generic ? site.addresses : offsets;
    Execution execution = site.execution;
    execution.mask = part;
    const HostPointers some =
        resolve_in_window({execution, site.instruction, access, addresses, site.stored}, space);
    if (part == mask) return some;
    each_lane(part, [&](unsigned lane) { all.lane[lane] = some.lane[lane]; });
    left &= ~part;
  }
  return all;
}

}  // namespace

HostPointers resolve(Execution& execution, const Instruction& instruction, const Access& access,
                     const LaneAddresses& addresses, const std::byte* stored) {
  const Site site{execution, instruction, access, addresses, stored};
  switch (access.space) {
    case Space::global:
      return resolve_global(site);
    case Space::constant:
      return resolve_constant(site);
    case Space::shared:
      return resolve_shared(site);
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
  LaneAddresses addresses;
  if (base_bytes == 4) {
    const auto* base = execution.lanes<std::uint32_t>(instruction.source(i));
    const auto add = static_cast<std::uint32_t>(offset);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) addresses[lane] = base[lane] + add;
  } else {
    const auto* base = execution.lanes<std::uint64_t>(instruction.source(i));
    const auto add = static_cast<std::uint64_t>(offset);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) addresses[lane] = base[lane] + add;
  }
  return addresses;
}

}  // namespace halfgrad::emulator
