#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/memory/texture_table.h>
#include <halfgrad/emulator/ptx/module.h>
#include <halfgrad/emulator/settings.h>
#include <halfgrad/emulator/simt/device_heap.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// `body` as the kernel `k` with one parameter, a pointer to words, which is in %rd1. %tid.x is in
/// %r1. Further registers: %r2..%r31, %rd2..%rd15, %p1..%p7.
inline std::string kernel(const std::string& body, const std::string& before = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 k_param_0)\n{\n"
         ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\n" +
         body + "\n}\n";
}

/// Stores %r2 as word %r1 (the thread's number) and returns.
inline const char* const kStoreResult =
    "mul.wide.u32 %rd14, %r1, 4;\nadd.s64 %rd15, %rd1, %rd14;\nst.global.u32 [%rd15], %r2;\nret;\n";

/// Packs a kernel's arguments: Arguments{}(n)(pointer).
struct Arguments {
  template <class T>
  Arguments& operator()(T value) {
    bytes.resize((bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof value);
    return *this;
  }
  std::vector<std::byte> bytes;
};

/// A machine with one buffer of words, which runs one kernel at a time.
class SmallGpu {
 public:
  explicit SmallGpu(std::size_t words = 1024) {
    settings.check_race = settings.check_init = false;
    settings.threads = 1;
    buffer_ = memory.allocate(MemoryKind::device, 0, words * 4, 256, "the test");
    std::memset(buffer_->host, 0, words * 4);
    if (buffer_->written != nullptr) std::memset(buffer_->written, 1, words * 4);
  }

  /// Runs the kernel `k` of kernel(), whose argument is the buffer.
  LaunchCounters launch(const std::string& text, Dim3 grid, Dim3 block, bool cooperative = false) {
    return launch_kernel(text, "k", grid, block, Arguments{}(buffer_->begin), cooperative);
  }

  LaunchCounters launch_kernel(const std::string& text, const char* name, Dim3 grid, Dim3 block,
                               const Arguments& arguments, bool cooperative = false) {
    module = std::make_unique<Module>(text, mutant);
    Placement placement(memory);
    module->place(placement);
    const Kernel* found = module->kernel(name);
    Machine machine{memory, findings, settings};
    machine.multiprocessors = multiprocessors;
    machine.heap = &heap;
    machine.textures = &textures;
    if (arguments.bytes.size() != found->parameter_bytes) {
      throw std::invalid_argument("expected other arguments");
    }
    LaunchRequest request{*module, *found, grid, block};
    request.parameters = arguments.bytes.data();
    request.cooperative = cooperative;
    request.operation = operation;
    request.cluster = cluster;
    return run(machine, request);
  }

  std::uint32_t& word(std::size_t i) { return reinterpret_cast<std::uint32_t*>(buffer_->host)[i]; }
  std::uint64_t address() const { return buffer_->begin; }
  /// Findings of a kind.
  std::vector<Finding> found(FindingKind kind) const {
    std::vector<Finding> result;
    for (const Finding& finding : findings.all()) {
      if (finding.kind == kind) result.push_back(finding);
    }
    return result;
  }

  Settings settings;
  Allocations memory;
  FindingLog findings;
  DeviceHeap heap{memory};
  TextureTable textures;
  OperationId operation = 0;
  std::optional<Mutant> mutant;
  std::unique_ptr<Module> module;
  unsigned multiprocessors = 108;
  Dim3 cluster{};  ///< blocks of a cluster in launches

 private:
  /// Gives variables of a module their memory.
  struct Placement : Module::Placement {
    explicit Placement(Allocations& memory) : memory(memory) {}
    std::uint64_t allocate(const Variable& variable) override {
      const std::size_t bytes = std::max<std::size_t>(variable.bytes, 1);
      return memory.allocate(MemoryKind::variable, 0, bytes, variable.alignment, variable.name)
          ->begin;
    }
    void write(std::uint64_t address, std::span<const std::byte> bytes) override {
      const Allocation* allocation = memory.find(address, bytes.size());
      std::memcpy(allocation->host + (address - allocation->begin), bytes.data(), bytes.size());
    }
    Allocations& memory;
  };

  const Allocation* buffer_ = nullptr;
};

/// Counters of the n-th instruction of the kernel whose text contains `text`.
inline InstructionCounters counters_of(SmallGpu& gpu, const LaunchCounters& counters,
                                       const std::string& text, unsigned n = 0) {
  const Function& function = *gpu.module->kernel("k")->main;
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    if (function.statements[i].text.find(text) == std::string_view::npos) continue;
    if (n-- == 0) return counters.instructions[function.first_counter + i];
  }
  return {};
}

}  // namespace halfgrad::emulator
