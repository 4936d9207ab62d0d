#include <halfgrad/emulator/runtime/streams/graph_memory.h>

#include <cstring>
#include <map>
#include <mutex>

#include <halfgrad/emulator/runtime/memory_pools.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

constexpr int kUnwritten = 0xA5;  // byte of fresh device memory

std::mutex allocations_mutex;
std::map<std::uint64_t, std::weak_ptr<GraphMemory>>& memories() {
  static auto& all = *new std::map<std::uint64_t, std::weak_ptr<GraphMemory>>;
  return all;
}

}  // namespace

GraphMemory::~GraphMemory() {
  if (address() == 0) return;
  {
    const std::lock_guard lock(allocations_mutex);
    memories().erase(address());
  }
  Allocations& allocations = process().memory;
  const bool ends_with_graph = is_freed_by_graph || !has_run;
  if (ends_with_graph && allocations.find(address(), 1) != nullptr) allocations.free(address());
}

cudaError_t allocate_graph_memory(cudaMemAllocNodeParams& parameters,
                                  std::shared_ptr<GraphMemory>& memory) {
  constexpr std::size_t kAlignment = 512;
  const int device = parameters.poolProps.location.id;
  if (parameters.bytesize == 0 || parameters.poolProps.location.type != cudaMemLocationTypeDevice ||
      parameters.poolProps.handleTypes != cudaMemHandleTypeNone || device < 0 ||
      device >= process().settings.devices) {
    return cudaErrorInvalidValue;
  }
  const Allocation* const made =
      process().memory.allocate(MemoryKind::device, device, parameters.bytesize, kAlignment,
                                "a memory allocation node of a graph", kGraphPool);
  if (made == nullptr) return cudaErrorMemoryAllocation;
  parameters.dptr = reinterpret_cast<void*>(made->begin);
  memory = std::make_shared<GraphMemory>();
  memory->parameters = parameters;
  const std::lock_guard lock(allocations_mutex);
  memories()[made->begin] = memory;
  return cudaSuccess;
}

std::shared_ptr<GraphMemory> graph_memory_at(const void* address) {
  const std::lock_guard lock(allocations_mutex);
  const auto found = memories().find(reinterpret_cast<std::uint64_t>(address));
  return found == memories().end() ? nullptr : found->second.lock();
}

std::uint64_t graph_memory_bytes(int device) {
  const std::lock_guard lock(allocations_mutex);
  std::uint64_t bytes = 0;
  for (const auto& [address, memory] : memories()) {
    const auto live = memory.lock();
    if (live == nullptr || live->parameters.poolProps.location.id != device) continue;
    bytes += live->parameters.bytesize;
  }
  return bytes;
}

std::shared_ptr<const Work> graph_memory_work(const GraphMemory& memory, const char* name) {
  auto work = std::make_shared<Work>();
  work->kind = WorkKind::allocation;
  work->name = name;
  work->detail = std::to_string(memory.parameters.bytesize) + " bytes";
  work->device = memory.parameters.poolProps.location.id;
  work->run = [address = memory.address(), bytes = memory.parameters.bytesize, name](OperationId) {
    const Allocation* const allocation = process().memory.find(address, bytes);
    if (allocation == nullptr) {
      report_call(FindingKind::use_after_free, name,
                  "the memory of an allocation node was freed outside the graph, and the emulator "
                  "cannot allocate the same address again");
      return;
    }
    if (const auto live = graph_memory_at(reinterpret_cast<const void*>(address))) {
      live->has_run = true;
    }
    std::byte* const begin = allocation->host + (address - allocation->begin);
    std::memset(begin, kUnwritten, bytes);
    if (allocation->written != nullptr) {
      std::memset(allocation->written + (address - allocation->begin), 0, bytes);
    }
  };
  return work;
}

}  // namespace halfgrad::emulator
