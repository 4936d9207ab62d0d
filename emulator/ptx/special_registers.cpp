#include <halfgrad/emulator/ptx/special_registers.h>

#include <chrono>
#include <unordered_map>

#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {
namespace {

/// Nanoseconds. A GPU's clocks tick at about that rate, too, so loops that wait for a number of
/// cycles end after a time like that on a GPU.
std::uint64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

template <class T, unsigned shift>
void sample(Execution& execution, const Instruction& instruction) {
  const T value = static_cast<T>(now() >> shift);
  T* result = execution.lanes<T>(instruction.operands[0]);
  each_lane(execution.mask, [&](unsigned lane) { result[lane] = value; });
}

}  // namespace

std::optional<Special> special_named(std::string_view name) {
  using enum Special;
  static const std::unordered_map<std::string_view, Special> kNames = {
      {"%tid.x", tid_x},
      {"%tid.y", tid_y},
      {"%tid.z", tid_z},
      {"%ntid.x", ntid_x},
      {"%ntid.y", ntid_y},
      {"%ntid.z", ntid_z},
      {"%ctaid.x", ctaid_x},
      {"%ctaid.y", ctaid_y},
      {"%ctaid.z", ctaid_z},
      {"%nctaid.x", nctaid_x},
      {"%nctaid.y", nctaid_y},
      {"%nctaid.z", nctaid_z},
      {"%laneid", laneid},
      {"%warpid", warpid},
      {"%nwarpid", nwarpid},
      {"%smid", smid},
      {"%nsmid", nsmid},
      {"%gridid", gridid},
      {"%lanemask_eq", lanemask_eq},
      {"%lanemask_le", lanemask_le},
      {"%lanemask_lt", lanemask_lt},
      {"%lanemask_ge", lanemask_ge},
      {"%lanemask_gt", lanemask_gt},
      {"%envreg1", envreg1},
      {"%envreg2", envreg2},
      {"%dynamic_smem_size", dynamic_smem_size},
      {"%total_smem_size", total_smem_size},
      {"%aggr_smem_size", total_smem_size},
      {"%reserved_smem_offset_begin", reserved_smem_begin},
      {"%reserved_smem_offset_end", reserved_smem_end},
      {"%reserved_smem_offset_cap", reserved_smem_cap},
      {"%reserved_smem_offset_0", reserved_smem_begin},
      {"%reserved_smem_offset_1", reserved_smem_offset_1},
      {"%cluster_ctaid.x", cluster_ctaid_x},
      {"%cluster_ctaid.y", cluster_ctaid_y},
      {"%cluster_ctaid.z", cluster_ctaid_z},
      {"%cluster_nctaid.x", cluster_nctaid_x},
      {"%cluster_nctaid.y", cluster_nctaid_y},
      {"%cluster_nctaid.z", cluster_nctaid_z},
      {"%cluster_ctarank", cluster_ctarank},
      {"%cluster_nctarank", cluster_nctarank},
      {"%clusterid.x", clusterid_x},
      {"%clusterid.y", clusterid_y},
      {"%clusterid.z", clusterid_z},
      {"%nclusterid.x", nclusterid_x},
      {"%nclusterid.y", nclusterid_y},
      {"%nclusterid.z", nclusterid_z},
      {"%is_explicit_cluster", is_explicit_cluster},
  };
  const auto found = kNames.find(name);
  if (found == kNames.end()) return std::nullopt;
  return found->second;
}

std::optional<ClockRegister> clock_named(std::string_view name) {
  if (name == "%clock") return ClockRegister::clock;
  if (name == "%clock_hi") return ClockRegister::clock_hi;
  if (name == "%clock64") return ClockRegister::clock64;
  if (name == "%globaltimer") return ClockRegister::globaltimer;
  if (name == "%globaltimer_lo") return ClockRegister::globaltimer_lo;
  if (name == "%globaltimer_hi") return ClockRegister::globaltimer_hi;
  return std::nullopt;
}

unsigned bytes_of(ClockRegister clock) {
  return clock == ClockRegister::clock64 || clock == ClockRegister::globaltimer ? 8 : 4;
}

void sample_clock(ClockRegister clock, Instruction& instruction) {
  instruction.kind = InstructionClass::move;
  switch (clock) {
    case ClockRegister::clock64:
    case ClockRegister::globaltimer:
      instruction.execute = sample<std::uint64_t, 0>;
      break;
    case ClockRegister::clock:
    case ClockRegister::globaltimer_lo:
      instruction.execute = sample<std::uint32_t, 0>;
      break;
    case ClockRegister::clock_hi:
    case ClockRegister::globaltimer_hi:
      instruction.execute = sample<std::uint32_t, 32>;
      break;
  }
}

}  // namespace halfgrad::emulator
