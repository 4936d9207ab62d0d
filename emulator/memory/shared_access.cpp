// Shared memory: byte offsets in the block's memory.
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/memory/banks.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

/// Whether the bytes are the kernel's own, or are those that CUDA reserves in each block.
bool is_inside(const Launch& launch, std::uint64_t offset, unsigned bytes) {
  if (offset + bytes <= launch.shared_bytes) return true;
  const std::size_t reserved = launch.reserved_shared_begin;
  return reserved != 0 && offset >= reserved && offset + bytes <= reserved + kReservedShared;
}

HostPointers scattered(const AccessSite& site) {
  std::vector<std::byte>& shared = site.execution.block->shared;
  const Launch& launch = *site.execution.launch;
  const LaneMask mask = site.execution.mask;
  const unsigned bytes = site.access.bytes;
  HostPointers pointers;
  LaneMask wrong = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t offset = site.addresses[lane];
    wrong |= LaneMask{!is_inside(launch, offset, bytes) || !site.aligned(offset)} << lane;
    pointers.lane[lane] =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(shared.data()) + offset);
  }
  wrong &= mask;
  if (wrong != 0) {
    site.abort_offset(first_lane(wrong), "shared memory", "block", launch.shared_bytes);
  }
  counters_of(site.execution, site.instruction).bank_conflicts +=
      bank_conflicts(mask, site.addresses, bytes);
  return pointers;
}

}  // namespace

HostPointers resolve_shared(const AccessSite& site) {
  std::vector<std::byte>& shared = site.execution.block->shared;
  const std::uint64_t first = site.addresses[0];
  const bool together = site.contiguous() && first + kWarpSize * site.access.bytes <=
                                                 site.execution.launch->shared_bytes;
  const HostPointers pointers =
      together ? pointers_from(shared.data() + first, site.access.bytes) : scattered(site);
  site.tell_checks(pointers);
  return pointers;
}

}  // namespace halfgrad::emulator
