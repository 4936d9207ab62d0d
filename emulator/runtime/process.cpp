#include <halfgrad/emulator/runtime/process.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <halfgrad/emulator/checks/host_watch.h>
#include <halfgrad/emulator/checks/suppressions.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/ending.h>
#include <halfgrad/emulator/runtime/kernel_api.h>
#include <halfgrad/emulator/runtime/streams/conditional.h>
#include <halfgrad/emulator/runtime/streams/scheduler.h>
#include <halfgrad/emulator/runtime/texture_objects.h>
#include <halfgrad/emulator/runtime/work.h>
#include <halfgrad/emulator/simt/device_heap.h>

namespace halfgrad::emulator {

namespace {

const Suppressions& suppressions() {
  static const auto* const read = new Suppressions(
      settings().suppress.empty() ? Suppressions() : Suppressions::read(settings().suppress));
  return *read;
}

/// A call has no line of a kernel, but callers. Work that waited in a lazy stream has lost them.
void complete_finding(Finding& finding) {
  const bool late = settings().lazy_streams && Scheduler::running_operation() != 0;
  const bool at_end =
      finding.kind == FindingKind::leak || finding.kind == FindingKind::unchecked_error;
  if (finding.kernel.empty() && finding.called_at.empty() && !late && !at_end) {
    finding.called_at = call_sites();
  }
  suppressions().apply(finding);
}

}  // namespace

Process& process() {
  // It is never destroyed: destructors of the program's static objects free device memory.
  static Process* const one = [] {
    auto* made = new Process{settings(), {}, {}};
    if (!made->settings.quiet) made->findings.listen(print_finding);
    suppressions();  // a wrong file ends the program before it begins
    made->findings.complete(complete_finding);
    return made;
  }();
  return *one;
}

DeviceHeap& device_heap(int device) {
  static std::mutex mutex;
  static auto* const heaps = new std::map<int, DeviceHeap>;  // never destroyed, as the process
  const std::lock_guard lock(mutex);
  return heaps->try_emplace(device, process().memory, device).first->second;
}

Machine machine(int device) {
  const Gpu& gpu = gpu_of(device);
  Process& here = process();
  return {here.memory,
          here.findings,
          here.settings,
          gpu.multiprocessors,
          gpu.shared_bytes_per_block_optin,
          &device_heap(device),
          &texture_table(),
          &kernel_api(device),
          &set_condition,
          device,
          &may_access};
}

void watch_host_memory(const OperationOrder& order, const std::function<OperationId()>& host) {
  watch_host_accesses(process().memory, process().findings, order, host);
}

void report_call(FindingKind kind, const char* function, std::string message, Severity severity) {
  Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.message = std::string(function) + ": " + std::move(message);
  process().findings.add(std::move(finding));
}

std::byte* host_view(const void* pointer, std::size_t bytes, AccessKind kind, OperationId operation,
                     const char* function) {
  Process& here = process();
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* found = here.memory.find(address, bytes);
  if (found == nullptr) {
    const bool freed = here.memory.was_freed(address);
    report_call(freed ? FindingKind::use_after_free : FindingKind::out_of_bounds, function,
                (kind == AccessKind::load ? "reads " : "writes ") + std::to_string(bytes) +
                    " bytes at " + address_text(address) + ": " +
                    here.memory.describe_neighbour(address));
    return nullptr;
  }
  check_range(here.findings, here.memory, operation_order(), operation, address, bytes, kind);
  return found->host + (address - found->begin);
}

}  // namespace halfgrad::emulator
