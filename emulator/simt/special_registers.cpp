#include <halfgrad/emulator/simt/special_registers.h>

namespace halfgrad::emulator {
namespace {

bool changes_with_block(Special special) {
  switch (special) {
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
    case Special::smid:  // clang-format off
    case Special::cluster_ctaid_x: case Special::cluster_ctaid_y: case Special::cluster_ctaid_z:
    case Special::clusterid_x: case Special::clusterid_y: case Special::clusterid_z:
    case Special::cluster_ctarank: return true;  // clang-format on
    default:
      return false;
  }
}

std::uint32_t lane_value(Special special, unsigned lane, unsigned thread, const Dim3& block) {
  const LaneMask own = LaneMask{1} << lane;
  switch (special) {
    case Special::tid_x:
      return thread % block.x;
    case Special::tid_y:
      return thread / block.x % block.y;
    case Special::tid_z:
      return thread / block.x / block.y;
    case Special::laneid:
      return lane;
    case Special::lanemask_eq:
      return own;
    case Special::lanemask_lt:
      return own - 1;
    case Special::lanemask_le:
      return own | (own - 1);
    case Special::lanemask_gt:
      return ~(own | (own - 1));
    case Special::lanemask_ge:
      return ~(own - 1);
    default:
      return 0;
  }
}

bool differs_by_lane(Special special) {
  switch (special) {
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z:
    case Special::laneid:  // clang-format off
    case Special::lanemask_eq: case Special::lanemask_lt: case Special::lanemask_le:
    case Special::lanemask_gt: case Special::lanemask_ge: return true;  // clang-format on
    default:
      return false;
  }
}

/// Registers of clusters. A block of a launch without clusters is a cluster of its own.
std::uint64_t cluster_value(const LaunchRequest& request, const Block& block, Special special) {
  const Dim3 &cluster = request.cluster, &own = block.index_in_cluster;
  switch (special) {
    case Special::cluster_ctaid_x:
      return own.x;
    case Special::cluster_ctaid_y:
      return own.y;
    case Special::cluster_ctaid_z:
      return own.z;
    case Special::cluster_nctaid_x:
      return cluster.x;
    case Special::cluster_nctaid_y:
      return cluster.y;
    case Special::cluster_nctaid_z:
      return cluster.z;
    case Special::clusterid_x:
      return block.index.x / cluster.x;
    case Special::clusterid_y:
      return block.index.y / cluster.y;
    case Special::clusterid_z:
      return block.index.z / cluster.z;
    case Special::nclusterid_x:
      return request.grid.x / cluster.x;
    case Special::nclusterid_y:
      return request.grid.y / cluster.y;
    case Special::nclusterid_z:
      return request.grid.z / cluster.z;
    case Special::cluster_ctarank:
      return block.rank;
    case Special::cluster_nctarank:
      return cluster.product();
    case Special::is_explicit_cluster:
      return cluster.product() > 1 || request.kernel.required_cluster[0] != 0 ? kAllLanes : 0;
    default:
      return 0;
  }
}

/// A register that has one value for all lanes of a warp.
std::uint64_t warp_value(const Launch& launch, const Warp& warp, const Frame& frame,
                         Special special) {
  const LaunchRequest& request = launch.request;
  const Block& block = *warp.block;
  const std::uint64_t workspace = launch.workspace == nullptr ? 0 : launch.workspace->begin;
  switch (special) {
    case Special::ntid_x:
      return request.block.x;
    case Special::ntid_y:
      return request.block.y;
    case Special::ntid_z:
      return request.block.z;
    case Special::ctaid_x:
      return block.index.x;
    case Special::ctaid_y:
      return block.index.y;
    case Special::ctaid_z:
      return block.index.z;
    case Special::nctaid_x:
      return request.grid.x;
    case Special::nctaid_y:
      return request.grid.y;
    case Special::nctaid_z:
      return request.grid.z;
    case Special::warpid:
      return warp.index;
    case Special::nwarpid:
      return (block.threads + kWarpSize - 1) / kWarpSize;
    case Special::smid:
      return block.number % launch.machine.multiprocessors;
    case Special::nsmid:
      return launch.machine.multiprocessors;
    case Special::gridid:
      return request.operation;
    case Special::envreg1:
      return workspace >> 32;
    case Special::envreg2:
      return workspace & 0xffffffffu;
    case Special::dynamic_smem_size:
      return request.dynamic_shared_bytes;
    case Special::total_smem_size:
      return launch.shared_bytes;
    case Special::dynamic_smem_begin:
      return launch.dynamic_shared_begin;
    case Special::local_begin:
      return frame.local_begin;
    case Special::reserved_smem_begin:
    case Special::reserved_smem_offset_1:
      return launch.reserved_shared_begin;
    case Special::reserved_smem_end:
      return launch.reserved_shared_begin + kReservedShared;
    case Special::reserved_smem_cap:
      return kReservedShared;
    default:
      return cluster_value(request, block, special);
  }
}

void fill(const Launch& launch, const Warp& warp, Frame& frame, bool block_specials) {
  for (const Function::SpecialUse& use : frame.function->specials) {
    if (changes_with_block(use.special) != block_specials) continue;
    const bool by_lane = differs_by_lane(use.special);
    const std::uint64_t same = by_lane ? 0 : warp_value(launch, warp, frame, use.special);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const unsigned thread = warp.index * kWarpSize + lane;
      const std::uint64_t value =
          use.addend +
          (by_lane ? lane_value(use.special, lane, thread, launch.request.block) : same);
      std::byte* place = frame.registers + use.offset;
      if (use.wide) {
        reinterpret_cast<std::uint64_t*>(place)[lane] = value;
      } else {
        reinterpret_cast<std::uint32_t*>(place)[lane] = static_cast<std::uint32_t>(value);
      }
    }
  }
}

}  // namespace

void fill_launch_specials(const Launch& launch, const Warp& warp, Frame& frame) {
  fill(launch, warp, frame, false);
}

void fill_block_specials(const Launch& launch, const Warp& warp, Frame& frame) {
  fill(launch, warp, frame, true);
}

}  // namespace halfgrad::emulator
