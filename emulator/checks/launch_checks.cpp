#include <halfgrad/emulator/checks/launch_checks.h>

namespace halfgrad::emulator {

struct LaunchChecks::State {};

LaunchChecks::LaunchChecks(Launch&, OperationId, const OperationOrder*) {}
LaunchChecks::~LaunchChecks() = default;
void LaunchChecks::block_starts(Block&) {}
void LaunchChecks::block_ends(Block&) {}
void LaunchChecks::access(Execution&, const Instruction&, const Access&, const LaneAddresses&,
                          const HostPointers&, const std::byte*) {}
void LaunchChecks::warp_synchronised(Warp&, LaneMask) {}
void LaunchChecks::barrier_arrive(Block&, unsigned, Arrival) {}
void LaunchChecks::barrier_complete(Block&, unsigned, std::span<const Arrival>) {}
void LaunchChecks::fence(Execution&, Order, Scope) {}
void LaunchChecks::async_copy_issued(Execution&, const Instruction&, unsigned, std::uint32_t,
                                     unsigned) {}
void LaunchChecks::async_copy_waited(Execution&, unsigned, std::uint32_t, unsigned) {}

void check_range(FindingLog&, Allocations&, const OperationOrder&, OperationId, std::uint64_t,
                 std::size_t, AccessKind) {}

}  // namespace halfgrad::emulator
