// Global and constant memory: addresses of allocations.
#include <sys/uio.h>
#include <unistd.h>

#include <halfgrad/emulator/checks/device_scopes.h>
#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/memory/coalescing.h>
#include <halfgrad/emulator/memory/constant_reads.h>
#include <halfgrad/emulator/memory/lookup.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

/// Whether the program's own code could read the address: it lies on a stack, in the heap or in a
/// variable of the host.
bool is_host_memory(std::uint64_t address) {
  std::byte copy{};
  iovec to{&copy, 1}, from{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/// Describes an address where no allocation is near.
std::string describe_stray(std::uint64_t address) {
  switch (address & kWindowMask) {
    case kLocalWindow:
      return "local memory of another thread: a pointer to a local variable is valid only in the "
             "thread that has the variable";
    case kSharedWindow:
      return "shared memory of another block, or accessed by an instruction for global memory";
    default:
      break;
  }
  return is_host_memory(address) ? "memory of the host, which a kernel cannot access: expected "
                                   "memory of cudaMalloc, cudaMallocManaged or cudaMallocHost"
                                 : "where no allocation is near";
}

[[noreturn]] void abort_outside(const AccessSite& site, unsigned lane) {
  const std::uint64_t address = site.addresses[lane];
  const Allocations& memory = site.execution.launch->machine.memory;
  const bool freed = memory.was_freed(address);
  const std::string neighbour = memory.describe_neighbour(address);
  site.abort(lane, freed ? FindingKind::use_after_free : FindingKind::out_of_bounds,
             "global address " + hexadecimal(address) + ", " +
                 (neighbour.empty() ? describe_stray(address) : neighbour));
}

/// Ends the kernel if its device has no right to access the memory of another one.
void check_owner(const AccessSite& site, const HostRange& range, unsigned lane) {
  const Machine& machine = site.execution.launch->machine;
  if (range.owner == machine.device || range.owner == HostRange::kEveryDevice) return;
  const std::uint64_t address = site.addresses[lane];
  const Allocation* const allocation = machine.memory.find(address, 1);
  if (allocation == nullptr || machine.may_access == nullptr) return;
  if (machine.may_access(machine.device, *allocation)) return;
  const std::string here = std::to_string(machine.device);
  const std::string owner = std::to_string(range.owner);
  site.abort(lane, FindingKind::out_of_bounds,
             "global address " + hexadecimal(address) + " of device " + owner + ", " +
                 machine.memory.describe_neighbour(address) + ", by a kernel on device " + here +
                 (allocation->pool == kNoPool
                      ? ": expected cudaDeviceEnablePeerAccess(" + owner + ", 0) on device " + here
                      : ": expected cudaMemPoolSetAccess for device " + here));
}

/// Whether kernels of several devices may access the memory.
bool is_shared(const Machine& machine, std::uint64_t address) {
  const Allocation* const allocation = machine.memory.find(address, 1);
  if (allocation == nullptr) return false;
  if (allocation->kind == MemoryKind::pinned || allocation->kind == MemoryKind::managed) {
    return true;
  }
  if (allocation->device != machine.device) return true;
  for (int other = 0; other < machine.settings.devices; ++other) {
    if (other == machine.device || machine.may_access == nullptr) continue;
    if (machine.may_access(other, *allocation)) return true;
  }
  return false;
}

/// Reports an atomic access whose scope does not include another device that accesses the word.
void check_scope(const AccessSite& site) {
  const LaunchRequest& request = site.execution.launch->request;
  const Machine& machine = site.execution.launch->machine;
  const Access& access = site.access;
  if (machine.settings.devices < 2 || !machine.settings.check_race || request.order == nullptr) {
    return;
  }
  if (access.order == Order::weak && access.kind != AccessKind::atomic) return;
  const StrongAccess own{request.operation, machine.device, access.kind != AccessKind::load,
                         access.order == Order::volatile_ || access.scope == Scope::sys};
  each_lane(site.execution.mask, [&](unsigned lane) {
    const std::uint64_t address = site.addresses[lane];
    if (!is_shared(machine, address)) return;
    DeviceScopes& scopes = DeviceScopes::of(machine.memory);
    const OperationId other = scopes.meet(address / 4, own, *request.order);
    if (other == 0) return;
    report(site.execution, site.instruction, lane, FindingKind::stream_race,
           "kernels of two GPUs access this word by atomics, of which one is not of system scope: "
           "expected atomicAdd_system or the like on both",
           address, request.order->describe(other));
  });
}

void count(const AccessSite& site, const Sectors& sectors) {
  InstructionCounters& counters = counters_of(site.execution, site.instruction);
  counters.sectors += sectors.touched;
  counters.sectors_needed += sectors.needed;
  if (site.access.kind != AccessKind::store) counters.bytes_loaded += sectors.bytes;
  if (site.access.kind != AccessKind::load) counters.bytes_stored += sectors.bytes;
}

/// Remembers that the block may wait for the host.
void note_poll(const AccessSite& site, const HostRange& range) {
  if (site.instruction.control == Control::pause && range.owner == HostRange::kEveryDevice) {
    site.execution.block->polls_host_memory = true;
  }
}

/// Translates the lanes' addresses by one allocation. Returns the lanes that are inside it.
LaneMask translate(const AccessSite& site, const HostRange& range, HostPointers& pointers) {
  const std::uint64_t last = range.bytes - site.access.bytes;
  const auto host = reinterpret_cast<std::uintptr_t>(range.host);
  LaneMask inside = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t offset = site.addresses[lane] - range.begin;
    pointers.lane[lane] = reinterpret_cast<std::byte*>(host + offset);
    inside |= LaneMask{offset <= last} << lane;
  }
  return inside;
}

/// Most warps access one allocation, which the first lane's address finds.
HostPointers scattered(const AccessSite& site) {
  const LaneMask mask = site.execution.mask;
  const Allocations& memory = site.execution.launch->machine.memory;
  std::uint64_t bits = 0;
  each_lane(mask, [&](unsigned lane) { bits |= site.addresses[lane]; });
  if (!site.aligned(bits)) {
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t address = site.addresses[lane];
      if (site.aligned(address)) return;
      site.abort_misaligned(lane, "global address " + hexadecimal(address));
    });
  }
  HostPointers pointers;
  for (LaneMask left = mask; left != 0;) {
    const unsigned lane = first_lane(left);
    const HostRange range = host_range(memory, site.addresses[lane], site.access.bytes);
    if (range.host == nullptr) abort_outside(site, lane);
    check_owner(site, range, lane);
    note_poll(site, range);
    HostPointers some;
    const LaneMask inside = translate(site, range, some) & left;
    if (inside == mask) return some;
    each_lane(inside, [&](unsigned i) { pointers.lane[i] = some.lane[i]; });
    left &= ~inside;
  }
  return pointers;
}

}  // namespace

HostPointers resolve_global(const AccessSite& site) {
  const unsigned all = kWarpSize * site.access.bytes;
  const std::uint64_t first = site.addresses[0];
  if (site.contiguous()) {
    const HostRange range = host_range(site.execution.launch->machine.memory, first, all);
    if (range.host != nullptr) {
      check_owner(site, range, 0);
      note_poll(site, range);
      count(site, sectors_of_range(first, all));
      check_scope(site);
      const HostPointers pointers = pointers_from(range.at(first), site.access.bytes);
      site.tell_checks(pointers);
      return pointers;
    }
  }
  const HostPointers pointers = scattered(site);
  count(site, sectors_of(site.execution.mask, site.addresses, site.access.bytes));
  check_scope(site);
  site.tell_checks(pointers);
  return pointers;
}

/// Constant memory has a cache of its own: no sectors, and nothing writes it during a launch.
HostPointers resolve_constant(const AccessSite& site) {
  const HostPointers pointers = scattered(site);
  ConstantReads* const reads = site.execution.launch->constant_reads;
  if (reads != nullptr) reads->add(site.execution.mask, site.addresses, site.access.bytes);
  return pointers;
}

}  // namespace halfgrad::emulator
