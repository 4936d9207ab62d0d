// membar, fence (PTX ISA, "Parallel Synchronization and Communication Instructions": membar,
// fence).
#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

void fence(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<MemoryOptions>();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks != nullptr) checks->fence(execution, options.order, options.scope);
}

/// Scopes of membar have names of their own.
Scope membar_scope(const Encoder& encoder) {
  if (encoder.statement.has("gl") || encoder.statement.has("gpu")) return Scope::gpu;
  return encoder.statement.has("cta") ? Scope::cta : Scope::sys;
}

}  // namespace

void decode_fence(Encoder& encoder) {
  // fence.proxy orders the accesses of one thread by different paths, such as bulk copies;
  // fence.mbarrier_init makes the initialisation of barriers visible to a cluster.
  static constexpr std::array<std::string_view, 13> kOthers{"sc",
                                                            "gl",
                                                            "proxy",
                                                            "async",
                                                            "alias",
                                                            "mbarrier_init",
                                                            "tensormap",
                                                            "tensormap::generic",
                                                            "async::generic",
                                                            "async::global",
                                                            "async::shared::cta",
                                                            "async::shared::cluster",
                                                            "sync_restrict"};
  const MemoryForm form = memory_form(encoder, kOthers);
  if (form.type != Type::none) encoder.unknown("unknown form of a fence");
  const bool membar = encoder.statement.opcode == "membar";
  const bool acquires = form.order == Order::acquire || form.order == Order::release;
  MemoryOptions options;
  options.order = acquires ? form.order : Order::acquire_release;
  options.scope = membar ? membar_scope(encoder) : form.scope;
  encoder.instruction.set_options(options);
  encoder.instruction.execute = fence;
  encoder.instruction.kind = InstructionClass::barrier;
}

}  // namespace halfgrad::emulator
