// membar, fence (PTX ISA, "Parallel Synchronization and Communication Instructions": membar,
// fence).
#include <atomic>
#include <string_view>

#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

struct FenceOptions {
  bool sequential;  ///< sequentially consistent
  Scope scope;
};

void fence(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<FenceOptions>();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks != nullptr) checks->fence(execution, options.sequential, options.scope);
}

/// fence.mbarrier_init: a release of the inits, also to the asynchronous path.
void fence_of_mbarriers(Execution& execution, const Instruction& instruction) {
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks != nullptr) checks->proxy_fence(execution, true);
  fence(execution, instruction);  // releases the fence before, too
}

/// fence.proxy orders accesses of one thread by different paths, such as bulk copies. It orders no
/// threads, and the emulator's copies read and write in the order of the program anyway.
void order_paths(Execution&, const Instruction&) {}

/// fence.proxy.async: the checks remember it.
void order_async_path(Execution& execution, const Instruction&) {
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks != nullptr) checks->proxy_fence(execution);
}

/// Scopes of membar have names of their own.
Scope membar_scope(const Encoder& encoder) {
  if (encoder.statement.has("gl") || encoder.statement.has("gpu")) return Scope::gpu;
  return encoder.statement.has("cta") ? Scope::cta : Scope::sys;
}

}  // namespace

void decode_fence(Encoder& encoder) {
  // Modifiers of fence.proxy name paths; fence.mbarrier_init is a release to a cluster.
  static constexpr std::string_view kOthers[] = {"sc",
                                                 "gl",
                                                 "proxy",
                                                 "async",
                                                 "alias",
                                                 "mbarrier_init",
                                                 "tensormap::generic",
                                                 "async::global",
                                                 "async::shared::cta",
                                                 "async::shared::cluster"};
  const MemoryForm form = memory_form(encoder, kOthers);
  if (form.type != Type::none) encoder.unknown("unknown form of a fence");
  const bool membar = encoder.statement.opcode == "membar";
  FenceOptions options{};
  options.sequential = membar || encoder.statement.has("sc");
  options.scope = membar ? membar_scope(encoder) : form.scope;
  encoder.instruction.set_options(options);
  const bool between_paths = encoder.statement.has("proxy") && form.order == Order::weak;
  const bool alias = encoder.statement.has("alias");
  encoder.instruction.execute = encoder.statement.has("mbarrier_init") ? fence_of_mbarriers
                                : !between_paths                       ? fence
                                : alias                                ? order_paths
                                                                       : order_async_path;
  encoder.instruction.kind = InstructionClass::barrier;
}

}  // namespace halfgrad::emulator
