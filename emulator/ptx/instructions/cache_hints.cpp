// prefetch, prefetchu, applypriority, discard, createpolicy, cp.async.bulk.prefetch: hints for
// caches (PTX ISA, "Data Movement and Conversion Instructions"). The emulator has no caches, so
// prefetch and applypriority do nothing, and a policy is the value 0.
#include <array>

#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>

namespace halfgrad::emulator {
namespace {

void ignore_hint(Execution&, const Instruction&) {}

void make_policy(Execution& execution, const Instruction& instruction) {
  auto* policy = execution.lanes<std::uint64_t>(instruction.operands[0]);
  each_lane(execution.mask, [&](unsigned lane) { policy[lane] = 0; });
}

}  // namespace

void decode_cache_hint(Encoder& encoder) {
  encoder.instruction.execute = ignore_hint;
  encoder.instruction.kind = InstructionClass::load;
}

void decode_create_policy(Encoder& encoder) {
  encoder.destination(0, Type::b64);
  encoder.instruction.execute = make_policy;
  encoder.instruction.kind = InstructionClass::move;
}

}  // namespace halfgrad::emulator
