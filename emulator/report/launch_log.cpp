#include <halfgrad/emulator/report/process_report.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <halfgrad/emulator/ptx/readable_name.h>

namespace halfgrad::emulator {
namespace {

double seconds_now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
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

std::size_t LaunchLog::record_of(const Kernel& kernel) {
  const auto [place, is_new] = index_.try_emplace(kernel.main->name, kernels_.size());
  if (is_new) {
    kernels_.push_back({.name = readable_name(kernel.main->name),
                        .registers = estimated_registers(*kernel.main),
                        .shared_bytes = kernel.static_shared_bytes,
                        .lines = {},
                        .mutants = {}});
  }
  return place->second;
}

LaunchLog::KernelSums& LaunchLog::sums_of(const LaunchRequest& request) {
  const auto [place, is_new] = sums_.try_emplace(request.kernel.serial);
  KernelSums& sums = place->second;
  if (!is_new) return sums;
  sums.record = record_of(request.kernel);
  sums.line.resize(request.kernel.instruction_count);
  sums.kind.resize(request.kernel.instruction_count);
  sums.mutant.resize(request.kernel.instruction_count);
  auto& lines = kernels_[sums.record].lines;
  for (const Function* function : request.kernel.functions) {
    for (std::size_t i = 0; i < function->code.size(); ++i) {
      const Location& place = function->statements[i].location;
      const bool known = place.line != 0;
      const std::string file = known ? request.module.file_name(place.file) : "";
      sums.line[function->first_counter + i] = &lines[{file, known ? place.line : place.ptx_line}];
      sums.kind[function->first_counter + i] = function->code[i].kind;
      const auto kind = mutant_kind(function->statements[i]);
      const auto at = kind ? request.module.mutant_place(place) : std::nullopt;
      if (at) sums.mutant[function->first_counter + i] = {*at, *kind};
    }
  }
  return sums;
}

void LaunchLog::add(const LaunchRequest& request, const LaunchCounters& counters) {
  const std::scoped_lock lock(mutex_);
  KernelSums& sums = sums_of(request);
  LaunchRecord launch{.kernel = sums.record,
                      .grid = request.grid,
                      .block = request.block,
                      .dynamic_shared_bytes = request.dynamic_shared_bytes,
                      .begin_seconds = seconds_now() - begin_ - counters.host_seconds,
                      .host_seconds = counters.host_seconds,
                      .warps = counters.warps,
                      .total = {}};
  ++kernels_[sums.record].launches;
  for (std::size_t i = 0; i < counters.instructions.size(); ++i) {
    const InstructionCounters& one = counters.instructions[i];
    if (one.executed == 0) continue;
    launch.total += one;
    launch.classes[static_cast<std::size_t>(sums.kind[i])] += one.executed;
    *sums.line[i] += one;
    if (auto mutant = std::exchange(sums.mutant[i], std::nullopt)) {
      kernels_[sums.record].mutants.insert(*std::move(mutant));
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
  std::vector<KernelRecord> kernels = kernels_;
  for (KernelRecord& kernel : kernels) {
    std::erase_if(kernel.lines, [](const auto& line) { return line.second.executed == 0; });
  }
  return kernels;
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
