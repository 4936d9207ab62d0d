// cp.async, cp.async.commit_group, cp.async.wait_group, cp.async.wait_all (PTX ISA, "Data Movement
// and Conversion Instructions: Non-bulk copy"). A copy reads when it is issued and lands in shared
// memory when its thread waits for it, the latest time that the ISA allows: a program that forgets
// to wait computes with old values, as it may on a GPU.
#include <cstring>
#include <limits>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/async_landing.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

enum class SourceSize : std::uint8_t { whole, given, ignored_if };

struct AsyncCopyOptions {
  std::uint8_t to_bytes = 4, from_bytes = 8;  ///< bytes of the base addresses
  std::uint8_t bytes = 0;
  SourceSize size = SourceSize::whole;
  std::int32_t from_offset = 0;
};

/// Bytes of a lane that come from global memory; the rest of the copy is zeros.
unsigned source_bytes(Execution& execution, const Instruction& instruction, unsigned lane) {
  const auto& options = instruction.options<AsyncCopyOptions>();
  if (options.size == SourceSize::whole) return options.bytes;
  if (options.size == SourceSize::ignored_if) {
    const LaneMask ignored = execution.predicate(instruction.source(2));
    return (ignored >> lane & 1) != 0 ? 0 : options.bytes;
  }
  const std::uint32_t given = execution.lanes<std::uint32_t>(instruction.source(2))[lane];
  if (given > options.bytes) {
    abort_kernel(execution, instruction, lane, FindingKind::out_of_bounds,
                 "cp.async reads " + std::to_string(given) + " bytes for a copy of " +
                     std::to_string(options.bytes));
  }
  return given;
}

/// Reads the lanes' global memory into `data`. Lanes with a smaller size read only so much.
void read_sources(Execution& execution, const Instruction& instruction, AsyncCopy* copies) {
  const auto& options = instruction.options<AsyncCopyOptions>();
  const LaneAddresses from =
      addresses_of(execution, instruction, 1, options.from_bytes, options.from_offset);
  const LaneMask all = execution.mask;
  std::array<unsigned, kWarpSize> size;
  each_lane(all, [&](unsigned lane) { size[lane] = source_bytes(execution, instruction, lane); });
  for (LaneMask left = all; left != 0;) {
    const unsigned bytes = size[first_lane(left)];
    LaneMask same = 0;
    each_lane(left, [&](unsigned lane) { same |= LaneMask{size[lane] == bytes} << lane; });
    left &= ~same;
    if (bytes == 0) continue;
    execution.mask = same;
    const HostPointers pointers = resolve(execution, instruction,
                                          {.space = Space::global,
                                           .kind = AccessKind::load,
                                           .bytes = static_cast<std::uint8_t>(bytes),
                                           .alignment = options.bytes,
                                           .asynchronous = true},
                                          from);
    execution.mask = all;
    each_lane(same, [&](unsigned lane) {
      std::memcpy(copies[lane].data.data(), pointers.lane[lane], bytes);
    });
  }
}

void copy_async(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<AsyncCopyOptions>();
  const LaneAddresses to = addresses_of(execution, instruction, 0, options.to_bytes);
  const HostPointers places = resolve(execution, instruction,
                                      {.space = Space::shared,
                                       .kind = AccessKind::store,
                                       .bytes = options.bytes,
                                       .alignment = options.bytes,
                                       .asynchronous = true},
                                      to);
  std::array<AsyncCopy, kWarpSize> copies;
  read_sources(execution, instruction, copies.data());
  LaunchChecks* checks = execution.launch->checks.get();
  const std::byte* shared = execution.block->shared.data();
  each_lane(execution.mask, [&](unsigned lane) {
    AsyncCopy& copy = copies[lane];
    copy.shared_offset = static_cast<std::uint32_t>(places.lane[lane] - shared);
    copy.bytes = options.bytes;
    execution.warp->async[lane].open.push_back(copy);
    if (checks == nullptr) return;
    checks->async_copy_issued(execution, instruction, lane, *execution.block, copy.shared_offset,
                              copy.bytes);
  });
}

void commit_group(Execution& execution, const Instruction&) {
  each_lane(execution.mask, [&](unsigned lane) {
    AsyncGroups& groups = execution.warp->async[lane];
    groups.committed.push_back(std::move(groups.open));
    groups.open.clear();
  });
}

/// `immediate` groups may stay under way.
void wait_group(Execution& execution, const Instruction& instruction) {
  each_lane(execution.mask, [&](unsigned lane) {
    land_groups(execution, lane, static_cast<std::size_t>(instruction.immediate));
  });
}

void wait_all(Execution& execution, const Instruction& instruction) {
  commit_group(execution, instruction);
  each_lane(execution.mask, [&](unsigned lane) { land_groups(execution, lane, 0); });
}

/// The operand after the size: a smaller size of the source, or a predicate that ignores the
/// source.
void encode_source_size(Encoder& encoder, AsyncCopyOptions& options) {
  const bool policy = encoder.statement.has("L2::cache_hint");
  if (encoder.operands() == (policy ? 4u : 3u)) return;
  expect_operands_or_policy(encoder, 4);
  const Operand& size = encoder.statement.operands[3];
  const bool predicate = size.kind == Operand::Kind::reg && encoder.register_bytes(size) == 0;
  if (predicate && size.negated) encoder.unknown("a negated predicate");
  options.size = predicate ? SourceSize::ignored_if : SourceSize::given;
  encoder.source(3, predicate ? Type::pred : Type::u32);
}

void decode_small_copy(Encoder& encoder) {
  static constexpr std::string_view kOthers[] = {"async"};
  memory_form(encoder, kOthers);
  AsyncCopyOptions options;
  Instruction& instruction = encoder.instruction;
  options.to_bytes = static_cast<std::uint8_t>(encoder.address(0));
  const std::int64_t to_offset = instruction.immediate;
  options.from_bytes = static_cast<std::uint8_t>(encoder.address(1));
  options.from_offset = static_cast<std::int32_t>(instruction.immediate);
  if (options.from_offset != instruction.immediate) encoder.unknown("an offset above 32 bits");
  instruction.immediate = to_offset;
  const Operand& bytes = encoder.statement.operands.at(2);
  if (bytes.kind != Operand::Kind::immediate ||
      (bytes.bits != 4 && bytes.bits != 8 && bytes.bits != 16)) {
    encoder.unknown("expected a size of 4, 8 or 16 bytes");
  }
  options.bytes = static_cast<std::uint8_t>(bytes.bits);
  encode_source_size(encoder, options);
  instruction.set_options(options);
  instruction.execute = copy_async;
}

}  // namespace

void land(Execution& execution, unsigned lane, std::uint32_t shared_offset, const std::byte* data,
          unsigned bytes) {
  std::memcpy(execution.block->shared.data() + shared_offset, data, bytes);
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks != nullptr) checks->async_copy_waited(execution, lane, shared_offset, bytes);
}

void land_for_barrier(Execution& execution, std::uint32_t shared_offset, const std::byte* data,
                      unsigned bytes) {
  std::memcpy(execution.block->shared.data() + shared_offset, data, bytes);
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks != nullptr) checks->async_copy_landed(execution, shared_offset, bytes);
}

namespace {

/// Copies that the lane gave to an mbarrier land, too, when the lane waits for all its copies.
void land_copies_of_barriers(Execution& execution, unsigned lane) {
  for (BarrierCopy& copy : execution.block->barrier_copies) {
    if (copy.warp != execution.warp->index || copy.lane != lane) continue;
    for (const AsyncCopy& part : copy.parts) {
      land(execution, lane, part.shared_offset, part.data.data(), part.bytes);
    }
    copy.parts.clear();
  }
}

}  // namespace

void land_groups(Execution& execution, unsigned lane, std::size_t keep) {
  if (keep == 0) land_copies_of_barriers(execution, lane);
  auto& committed = execution.warp->async[lane].committed;
  if (committed.size() <= keep) return;
  const auto first_kept = committed.end() - static_cast<std::ptrdiff_t>(keep);
  for (auto group = committed.begin(); group != first_kept; ++group) {
    for (const AsyncCopy& copy : *group) {
      land(execution, lane, copy.shared_offset, copy.data.data(), copy.bytes);
    }
  }
  committed.erase(committed.begin(), first_kept);
}

void decode_copy_async(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  Instruction& instruction = encoder.instruction;
  instruction.kind = InstructionClass::async_copy;
  if (statement.has("commit_group")) {
    instruction.execute = commit_group;
  } else if (statement.has("wait_all")) {
    instruction.execute = wait_all;
  } else if (statement.has("wait_group")) {
    if (encoder.operands() != 1 || statement.operands[0].kind != Operand::Kind::immediate) {
      encoder.unknown("expected the number of groups that may stay under way");
    }
    instruction.immediate = static_cast<std::int64_t>(statement.operands[0].bits);
    instruction.execute = wait_group;
  } else {
    decode_small_copy(encoder);
  }
}

}  // namespace halfgrad::emulator
