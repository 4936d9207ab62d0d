#include <halfgrad/emulator/report/process_report.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include <cxxabi.h>

namespace halfgrad::emulator {
namespace {

double seconds_now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

/// Registers of 32 bits that hold a thread's values; constants need none.
unsigned estimated_registers(const Function& function) {
  std::size_t constant_bytes = 0;
  for (const Function::Constant& constant : function.constants) {
    constant_bytes += kWarpSize * bytes_of(constant.type);
  }
  const std::size_t bytes =
      function.register_bytes - std::min(function.register_bytes, constant_bytes);
  return static_cast<unsigned>(std::clamp<std::size_t>(bytes / (4 * kWarpSize), 16, 255));
}

}  // namespace

LaunchLog::LaunchLog() : begin_(seconds_now()) {}

std::size_t LaunchLog::kernel_index(const LaunchRequest& request) {
  const Function& main = *request.kernel.main;
  const auto [place, is_new] = index_.try_emplace(main.name, kernels_.size());
  if (is_new) {
    kernels_.push_back({.name = demangled(main.name),
                        .registers = estimated_registers(main),
                        .shared_bytes = request.kernel.static_shared_bytes,
                        .lines = {}});
  }
  return place->second;
}

void LaunchLog::add(const LaunchRequest& request, const LaunchCounters& counters) {
  const std::scoped_lock lock(mutex_);
  LaunchRecord launch{.kernel = kernel_index(request),
                      .grid = request.grid,
                      .block = request.block,
                      .dynamic_shared_bytes = request.dynamic_shared_bytes,
                      .begin_seconds = seconds_now() - begin_ - counters.host_seconds,
                      .host_seconds = counters.host_seconds,
                      .warps = counters.warps,
                      .total = counters.total()};
  KernelRecord& kernel = kernels_[launch.kernel];
  ++kernel.launches;
  for (const Function* function : request.kernel.functions) {
    for (std::size_t i = 0; i < function->code.size(); ++i) {
      const std::size_t at = function->first_counter + i;
      if (at >= counters.instructions.size() || counters.instructions[at].executed == 0) continue;
      launch.classes[static_cast<std::size_t>(function->code[i].kind)] +=
          counters.instructions[at].executed;
      const Location& place = function->statements[i].location;
      const bool known = place.line != 0;
      const std::string file = known ? request.module.file_name(place.file) : "";
      kernel.lines[{file, known ? place.line : place.ptx_line}] += counters.instructions[at];
    }
  }
  launches_.push_back(launch);
}

void LaunchLog::add(CallRecord call) {
  const std::scoped_lock lock(mutex_);
  calls_.push_back(std::move(call));
}

std::vector<KernelRecord> LaunchLog::kernels() const {
  const std::scoped_lock lock(mutex_);
  return kernels_;
}

std::vector<LaunchRecord> LaunchLog::launches() const {
  const std::scoped_lock lock(mutex_);
  return launches_;
}

std::vector<CallRecord> LaunchLog::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

}  // namespace halfgrad::emulator
