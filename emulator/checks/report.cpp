#include <halfgrad/emulator/checks/report.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/ptx/readable_name.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

std::string to_text(const Dim3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

/// threadIdx of a thread that is number `linear` of its block.
Dim3 index_in(std::uint64_t linear, const Dim3& block) {
  return {static_cast<unsigned>(linear % block.x),
          static_cast<unsigned>(linear / block.x % block.y),
          static_cast<unsigned>(linear / block.x / block.y)};
}

const char* kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "device memory";
    case MemoryKind::pinned:
      return "pinned host memory";
    case MemoryKind::managed:
      return "managed memory";
    case MemoryKind::variable:
      return "a variable";
  }
  return "memory";
}

/// Describes the memory that contains a generic address, and the offset in it.
std::string memory_at(const Execution& execution, std::uint64_t address) {
  const std::string offset = std::to_string(address & ~kWindowMask);
  switch (address & kWindowMask) {
    case kSharedWindow:
      return "byte " + offset + " of the block's " +
             std::to_string(execution.launch->shared_bytes) + " bytes of shared memory";
    case kLocalWindow:
      return "byte " + offset + " of the thread's local memory";
    case kParameterWindow:
      return "byte " + offset + " of the kernel's parameters";
    default:
      break;
  }
  const Allocations& memory = execution.launch->machine.memory;
  const Allocation* const found = memory.find(address, 1);
  if (found == nullptr) return memory.describe_neighbour(address);
  return "byte " + std::to_string(address - found->begin) + " of " + std::to_string(found->bytes) +
         " bytes of " + kind_name(found->kind) + ", made by " + found->made_by;
}

const Location* location_of(const Execution& execution, const Instruction& instruction) {
  const auto& statements = execution.frame->function->statements;
  return instruction.index < statements.size() ? &statements[instruction.index].location : nullptr;
}

std::string place_text(const Module& module, const Location& location) {
  if (location.line == 0) return "PTX line " + std::to_string(location.ptx_line);
  std::string place = module.file_name(location.file) + ":" + std::to_string(location.line);
  if (location.inlined_line == 0) return place;
  return place + " (inlined at " + module.file_name(location.inlined_file) + ":" +
         std::to_string(location.inlined_line) + ")";
}

/// PTX text on one line: nvcc writes calls on several.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

/// Everything that a finding says about its instruction and lane.
Finding finding_at(const Execution& execution, const Instruction& instruction, unsigned lane) {
  Finding finding;
  const LaunchRequest& request = execution.launch->request;
  finding.kernel = readable_name(request.kernel.main->name);
  if (const Location* const location = location_of(execution, instruction)) {
    finding.ptx_line = location->ptx_line;
    finding.instruction = one_line(execution.frame->function->statements[instruction.index].text);
    if (location->line != 0) {
      finding.source_file = request.module.file_name(location->file);
      finding.source_line = location->line;
    }
    if (location->line != 0 && location->inlined_line != 0) {
      finding.inlined_at = request.module.file_name(location->inlined_file) + ":" +
                           std::to_string(location->inlined_line);
    }
  }
  finding.block = to_text(execution.block->index);
  finding.thread =
      to_text(index_in(std::uint64_t{execution.warp->index} * kWarpSize + lane, request.block));
  return finding;
}

}  // namespace

void report(const Execution& execution, const Instruction& instruction, unsigned lane,
            FindingKind kind, std::string message, std::uint64_t address, std::string other,
            Severity severity) {
  Finding finding = finding_at(execution, instruction, lane);
  finding.kind = kind;
  finding.severity = severity;
  finding.message = std::move(message);
  finding.address = address;
  finding.other = std::move(other);
  if (address != 0) finding.allocation = memory_at(execution, address);
  execution.launch->machine.findings.add(std::move(finding));
}

void abort_kernel(const Execution& execution, const Instruction& instruction, unsigned lane,
                  FindingKind kind, std::string message, std::uint64_t address) {
  report(execution, instruction, lane, kind, message, address);
  throw KernelAborted(kind, message);
}

std::string place_of(const Execution& execution, const Instruction& instruction) {
  const Location* const location = location_of(execution, instruction);
  if (location == nullptr) return "an unknown line";
  return place_text(execution.launch->request.module, *location);
}

std::string place_of(const Module& module, const Kernel& kernel, std::size_t counter) {
  for (const Function* const function : kernel.functions) {
    const std::size_t index = counter - function->first_counter;
    if (counter < function->first_counter || index >= function->statements.size()) continue;
    return place_text(module, function->statements[index].location);
  }
  return "an unknown line";
}

bool is_in_headers(const std::string& place, std::span<const char* const> folders) {
  const std::string innermost = place.substr(0, place.find(" (inlined at "));
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    const std::size_t found = innermost.find(folder);
    return found != std::string::npos && innermost.find("/include/") < found;
  });
}

std::string thread_text(const Dim3& grid_size, const Dim3& block_size, std::uint64_t block,
                        unsigned thread) {
  return "thread " + to_text(index_in(thread, block_size)) + " of block " +
         to_text(index_in(block, grid_size));
}

}  // namespace halfgrad::emulator
