#include <halfgrad/tests/emulator/streams/fake_runtime.h>

#include <cstring>
#include <map>
#include <mutex>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/launches.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>

// The parts of the runtime that streams use, without memory and kernels: work logs its name.

namespace halfgrad::emulator {

std::string call_sites() { return ""; }
void watch_host_memory(const OperationOrder&, const std::function<OperationId()>&) {}

namespace {

std::mutex mutex;
std::vector<std::string> ran;
std::map<std::string, OperationId> operations;
std::vector<Finding> found;
thread_local int selected_device = 0;
thread_local cudaError_t remembered = cudaSuccess;
cudaError_t sticky = cudaSuccess;

void write_down(const std::string& name, OperationId operation) {
  const std::lock_guard lock(mutex);
  ran.push_back(name);
  operations[name] = operation;
}

std::function<void(OperationId)> logs(std::string name) {
  return [name = std::move(name)](OperationId operation) { write_down(name, operation); };
}

}  // namespace

void restart(bool lazy, std::uint64_t seed, int devices) {
  Settings settings;
  settings.lazy_streams = lazy;
  settings.seed = seed;
  settings.devices = devices;
  reset_stream_state(settings);
  const std::lock_guard lock(mutex);
  ran.clear();
  operations.clear();
  found.clear();
  sticky = remembered = cudaSuccess;
  selected_device = 0;
}

LaunchLog& launch_log() {
  static LaunchLog log;
  return log;
}

void select_device(int device) { selected_device = device; }

std::vector<std::string> log() {
  const std::lock_guard lock(mutex);
  return ran;
}

OperationId operation_of(const std::string& name) {
  const std::lock_guard lock(mutex);
  const auto entry = operations.find(name);
  return entry == operations.end() ? 0 : entry->second;
}

std::size_t findings_of(FindingKind kind) {
  const std::lock_guard lock(mutex);
  std::size_t count = 0;
  for (const Finding& finding : found) count += finding.kind == kind ? 1 : 0;
  return count;
}

cudaError_t last_error() { return std::exchange(remembered, cudaSuccess); }

Work logged(const std::string& name, WorkKind kind) {
  Work work;
  work.kind = kind;
  work.name = name;
  work.device = selected_device;
  work.run = logs(name);
  return work;
}

cudaError_t give(cudaStream_t stream, const std::string& name) {
  return enqueue(stream, logged(name));
}

KernelNode::KernelNode(FakeKernel& kernel, int argument) : argument_(argument) {
  pointers_[0] = &argument_;
  parameters_.func = &kernel;
  parameters_.gridDim = parameters_.blockDim = {1, 1, 1};
  parameters_.kernelParams = pointers_;
}

Process& process() {
  static auto& one = *new Process{settings(), {}, {}};
  return one;
}
int current_device() { return selected_device; }
cudaError_t set_error(cudaError_t error) { return remembered = error; }
cudaError_t sticky_error() { return sticky; }
void set_sticky_error(cudaError_t error, int) { sticky = error; }
bool device_is_lost(int) { return sticky != cudaSuccess; }
cudaError_t error_after(FindingKind) { return cudaErrorIllegalAddress; }
cudaError_t error_of_current_exception(const char*) noexcept { return cudaErrorUnknown; }

void report_call(FindingKind kind, const char* function, std::string message, Severity) {
  Finding finding;
  finding.kind = kind;
  finding.message = std::string(function) + ": " + message;
  const std::lock_guard lock(mutex);
  found.push_back(std::move(finding));
}

cudaError_t kernel_work(const cudaKernelNodeParams& parameters, bool cooperative, Work& work) {
  int argument = 0;
  std::memcpy(&argument, parameters.kernelParams[0], sizeof argument);
  const auto* const kernel = static_cast<const FakeKernel*>(parameters.func);
  work = logged(kernel->name + " " + std::to_string(argument));
  auto kept = std::make_shared<WorkParameters>();
  kept->arguments.resize(sizeof argument);
  std::memcpy(kept->arguments.data(), &argument, sizeof argument);
  kept->argument_pointers = {kept->arguments.data()};
  cudaKernelNodeParams copy = parameters;
  copy.kernelParams = kept->argument_pointers.data();
  kept->values = copy;
  kept->cooperative = cooperative;
  work.parameters = std::move(kept);
  return cudaSuccess;
}

cudaError_t copy_work(const cudaMemcpy3DParms& parameters, Work& work) {
  work = logged("copy " + std::to_string(parameters.extent.width), WorkKind::copy);
  return cudaSuccess;
}
cudaError_t copy_work(void*, const void*, std::size_t bytes, cudaMemcpyKind, Work& work) {
  work = logged("copy " + std::to_string(bytes), WorkKind::copy);
  return cudaSuccess;
}
cudaError_t memset_work(const cudaMemsetParams& parameters, Work& work) {
  work = logged("memset " + std::to_string(parameters.value), WorkKind::memset);
  return cudaSuccess;
}
cudaError_t host_work(cudaHostFn_t function, void* data, Work& work) {
  work.kind = WorkKind::host_function;
  work.name = "host function";
  work.run = [=](OperationId operation) {
    write_down("host function", operation);
    function(data);
  };
  return cudaSuccess;
}

}  // namespace halfgrad::emulator

extern "C" cudaError_t cudaGetSymbolAddress(void**, const void*) { return cudaErrorInvalidSymbol; }
extern "C" cudaError_t cudaGetSymbolSize(std::size_t*, const void*) {
  return cudaErrorInvalidSymbol;
}
