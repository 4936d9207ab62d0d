// Shared memory: byte offsets in the block's memory, or in that of another block of the cluster.
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/memory/banks.h>
#include <halfgrad/emulator/memory/cluster_address.h>
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

/// Lanes whose access is out of bounds or misaligned.
LaneMask locate(const AccessSite& site, const LaneAddresses& offsets,
                std::vector<std::byte>& shared, HostPointers& pointers) {
  const Launch& launch = *site.execution.launch;
  LaneMask wrong = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t offset = offsets[lane];
    wrong |= LaneMask{!is_inside(launch, offset, site.access.bytes) || !site.aligned(offset)}
             << lane;
    pointers.lane[lane] =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(shared.data()) + offset);
  }
  return wrong & site.execution.mask;
}

/// The block of the cluster in whose memory the lane's address lies.
Block& owner_of(const AccessSite& site, unsigned lane) {
  Block& own = *site.execution.block;
  const std::uint64_t rank = site.addresses[lane] >> kRankShift;
  if (rank == 0) return own;
  if (rank > own.cluster.size()) {
    site.abort(lane, FindingKind::out_of_bounds,
               "shared memory of block " + std::to_string(rank - 1) + " of a cluster of " +
                   std::to_string(own.cluster.size()));
  }
  Block& owner = *own.cluster[rank - 1];
  if (owner.finished) {
    site.abort(lane, FindingKind::use_after_free,
               "shared memory of block " + std::to_string(rank - 1) +
                   " of the cluster, which has exited: a barrier of the cluster must come before");
  }
  return owner;
}

/// Lanes that access different blocks: one block after the other.
HostPointers in_cluster(const AccessSite& site) {
  HostPointers all;
  LaneAddresses offsets;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    offsets[lane] = site.addresses[lane] & kOffsetMask;
  }
  for (LaneMask left = site.execution.mask; left != 0;) {
    Block& owner = owner_of(site, first_lane(left));
    LaneMask part = 0;
    each_lane(left, [&](unsigned lane) {
      if (&owner_of(site, lane) == &owner) part |= LaneMask{1} << lane;
    });
    Execution execution = site.execution;
    execution.mask = part;
    const AccessSite some{execution, site.instruction, site.access, offsets, site.stored};
    HostPointers pointers;
    const LaneMask wrong = locate(some, offsets, owner.shared, pointers);
    if (wrong != 0) {
      some.abort_offset(first_lane(wrong), "shared memory", "block",
                        site.execution.launch->shared_bytes);
    }
    some.tell_checks(pointers, owner);
    each_lane(part, [&](unsigned lane) { all.lane[lane] = pointers.lane[lane]; });
    left &= ~part;
  }
  return all;
}

HostPointers scattered_shared(const AccessSite& site) {
  std::vector<std::byte>& shared = site.execution.block->shared;
  HostPointers pointers;
  const LaneMask wrong = locate(site, site.addresses, shared, pointers);
  if (wrong != 0) {
    site.abort_offset(first_lane(wrong), "shared memory", "block",
                      site.execution.launch->shared_bytes);
  }
  counters_of(site.execution, site.instruction).bank_conflicts +=
      bank_conflicts(site.execution.mask, site.addresses, site.access.bytes);
  return pointers;
}

bool names_a_rank(const AccessSite& site) {
  std::uint64_t bits = 0;
  each_lane(site.execution.mask, [&](unsigned lane) { bits |= site.addresses[lane]; });
  const std::uint64_t ranks = bits >> kRankShift;
  // Wrapped addresses below 0 have all upper bits set; no cluster has so many blocks.
  return ranks != 0 && ranks < 0x80;
}

/// Reports a lane whose address is computed from one array and lies outside of it. A GPU accesses
/// what lies there, mostly another array, so the kernel goes on.
void check_array(const AccessSite& site) {
  const Function& function = *site.execution.frame->function;
  if (function.array_of.empty()) return;
  const std::int32_t index = function.array_of[site.instruction.index];
  if (index < 0) return;
  const SharedArray& array = function.shared_arrays[static_cast<std::size_t>(index)];
  for (LaneMask rest = site.execution.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    const std::uint64_t offset = site.addresses[lane];
    if (offset >= array.begin && offset + site.access.bytes <= array.end) continue;
    return site.report_outside(lane, array.name, offset - array.begin, array.end - array.begin);
  }
}

}  // namespace

HostPointers resolve_shared(const AccessSite& site) {
  std::vector<std::byte>& shared = site.execution.block->shared;
  const std::uint64_t first = site.addresses[0];
  const bool together = site.contiguous() && first + kWarpSize * site.access.bytes <=
                                                 site.execution.launch->shared_bytes;
  if (!together && names_a_rank(site)) return in_cluster(site);
  const HostPointers pointers =
      together ? pointers_from(shared.data() + first, site.access.bytes) : scattered_shared(site);
  if (site.execution.launch->machine.settings.check_memory) check_array(site);
  site.tell_checks(pointers);
  return pointers;
}

}  // namespace halfgrad::emulator
