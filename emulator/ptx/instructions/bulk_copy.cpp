// cp.async.bulk and cp.reduce.async.bulk without tensors (PTX ISA, "Data Movement and Conversion
// Instructions: Bulk copy").
// A copy into shared memory lands when its mbarrier's phase completes. A copy to global memory is
// done when it is issued, the earliest time that the ISA allows; the check of races takes into
// account that it may read shared memory until a wait for its group (bulk_groups.h).
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/cluster_address.h>
#include <halfgrad/emulator/ptx/instructions/barrier_copies.h>
#include <halfgrad/emulator/ptx/instructions/bulk_groups.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/ptx/instructions/reductions.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

/// An instruction's modifiers, and parts of its addresses.
struct BulkOptions {
  Space to = Space::shared, from = Space::global;
  std::uint8_t to_bytes = 8, from_bytes = 8, barrier_bytes = 8;  ///< bytes of the base addresses
  std::int16_t barrier_offset = 0;
  std::int32_t from_offset = 0;
  bool multicast = false;  ///< to several blocks of the cluster
  AtomicOperation operation = AtomicOperation::add;
  Type type = Type::none;  ///< elements of a reduction; none: a plain copy
};

constexpr unsigned kUnit = 16;  // bytes: sizes and addresses are multiples of it

/// The copy, which its mbarrier has got, reads shared memory until it lands.
void note_cluster_read(Execution& execution, const Instruction& instruction, unsigned lane,
                       Block& owner, std::uint64_t address, std::uint32_t bytes) {
  LaunchChecks* const checks = execution.launch->checks.get();
  if (checks == nullptr || bytes == 0) return;
  BarrierCopy& copy = owner.barrier_copies.back();
  const auto begin = static_cast<std::uint32_t>(address & kOffsetMask);
  for (std::uint32_t at = begin; at < begin + bytes; at += kUnit) copy.chunks.push_back(at);
  copy.source = execution.block;
  checks->async_read_issued(execution, instruction, AsyncReader::cluster_copy, lane, copy.chunks);
}

/// Reads a lane's bytes when the copy is issued.
std::vector<std::byte> read_source(Execution& execution, const Instruction& instruction,
                                   unsigned lane, std::uint64_t address, std::uint32_t bytes) {
  std::vector<std::byte> data(bytes);
  const auto& options = instruction.options<BulkOptions>();
  BulkSource source(execution);
  each_piece(
      execution, instruction, lane,
      {.space = options.from, .kind = AccessKind::load, .alignment = kUnit, .asynchronous = true},
      address, bytes, nullptr,
      [&](const std::byte* place, std::uint32_t offset, std::uint32_t size) {
        std::memcpy(data.data() + offset, place, size);
        if (options.to == Space::global) source.add(place, size);
      });
  if (options.to == Space::global) note_bulk_read(execution, instruction, lane, source);
  return data;
}

/// Bytes of a lane's copy, which source 2 holds.
std::uint32_t bytes_of_copy(Execution& execution, const Instruction& instruction, unsigned lane) {
  const auto bytes = execution.lanes<std::uint32_t>(instruction.source(2))[lane];
  if (bytes % kUnit != 0) {
    abort_kernel(execution, instruction, lane, FindingKind::misaligned,
                 "expected a bulk copy of a multiple of 16 bytes, got " + std::to_string(bytes));
  }
  return bytes;
}

LaneAddresses source_addresses(const Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<BulkOptions>();
  return addresses_of(execution, instruction, 1, options.from_bytes, options.from_offset);
}

/// Combines the elements of memory with those of the data.
void reduce_elements(const BulkOptions& options, std::byte* place, const std::byte* data,
                     std::uint32_t bytes) {
  const Reduction reduction = reduction_of(options.operation, options.type);
  for (std::uint32_t i = 0; i < bytes; i += bytes_of(options.type)) {
    reduction(place + i, data + i, options.to == Space::shared);
  }
}

void copy_to_global(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<BulkOptions>();
  const bool reduces = options.type != Type::none;
  const LaneAddresses to = addresses_of(execution, instruction, 0, options.to_bytes);
  const LaneAddresses from = source_addresses(execution, instruction);
  const Access access{.space = options.to,
                      .kind = reduces ? AccessKind::atomic : AccessKind::store,
                      .alignment = kUnit,
                      .order = reduces ? Order::relaxed : Order::weak,
                      .asynchronous = !reduces};
  each_lane(execution.mask, [&](unsigned lane) {
    const std::uint32_t bytes = bytes_of_copy(execution, instruction, lane);
    const auto data = read_source(execution, instruction, lane, from[lane], bytes);
    if (!reduces) note_bulk_write(execution, lane, to[lane], bytes);
    each_piece(execution, instruction, lane, access, to[lane], bytes,
               reduces ? nullptr : data.data(),
               [&](std::byte* place, std::uint32_t offset, std::uint32_t size) {
                 if (reduces) return reduce_elements(options, place, data.data() + offset, size);
                 std::memcpy(place, data.data() + offset, size);
               });
  });
}

/// The elements are reduced when the copy is issued; the mbarrier learns of the bytes.
void reduce_in_shared(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<BulkOptions>();
  const LaneAddresses to = addresses_of(execution, instruction, 0, options.to_bytes);
  const LaneAddresses from = source_addresses(execution, instruction);
  const LaneAddresses barriers =
      addresses_of(execution, instruction, 3, options.barrier_bytes, options.barrier_offset);
  each_lane(execution.mask, [&](unsigned lane) {
    const std::uint32_t bytes = bytes_of_copy(execution, instruction, lane);
    const auto data = read_source(execution, instruction, lane, from[lane], bytes);
    each_piece(execution, instruction, lane,
               {.space = Space::shared,
                .kind = AccessKind::store,
                .alignment = kUnit,
                .asynchronous = true},
               to[lane], bytes, nullptr,
               [&](std::byte* place, std::uint32_t offset, std::uint32_t size) {
                 reduce_elements(options, place, data.data() + offset, size);
               });
    complete_bytes(execution, instruction, lane, to[lane], barriers[lane], bytes,
                   SignalPath::bulk_copy);
  });
}

/// Source 4 of a multicast is the mask of the blocks that get the data and the mbarrier's signal,
/// each at the same place.
void copy_to_shared(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<BulkOptions>();
  const LaneAddresses to = addresses_of(execution, instruction, 0, options.to_bytes);
  const LaneAddresses from = source_addresses(execution, instruction);
  const LaneAddresses barriers =
      addresses_of(execution, instruction, 3, options.barrier_bytes, options.barrier_offset);
  each_lane(execution.mask, [&](unsigned lane) {
    const std::uint32_t bytes = bytes_of_copy(execution, instruction, lane);
    const auto data = read_source(execution, instruction, lane, from[lane], bytes);
    if (!options.multicast) {
      Block& owner = issue_copy(execution, instruction, lane, kUnit, to[lane], barriers[lane], data,
                                SignalPath::bulk_copy);
      if (options.from == Space::shared) {
        note_cluster_read(execution, instruction, lane, owner, from[lane], bytes);
      }
      return;
    }
    const std::uint32_t blocks = execution.lanes<std::uint16_t>(instruction.source(4))[lane];
    each_lane(blocks, [&](unsigned rank) {
      issue_copy(execution, instruction, lane, kUnit, cluster_address(rank, to[lane]),
                 cluster_address(rank, barriers[lane]), data, SignalPath::bulk_copy);
    });
  });
}

/// Spaces in the order of the modifiers: destination, then source.
std::vector<Space> spaces_of(const Statement& statement) {
  std::vector<Space> spaces;
  for (const std::string_view name : statement.modifiers) {
    if (name == "global") spaces.push_back(Space::global);
    if (name == "shared" || name == "shared::cluster") spaces.push_back(Space::shared);
  }
  return spaces;
}

std::int64_t encode_address(Encoder& encoder, unsigned operand, std::uint8_t& base_bytes) {
  base_bytes = static_cast<std::uint8_t>(encoder.address(operand));
  return encoder.instruction.immediate;
}

void decode_bulk(Encoder& encoder) {
  static constexpr std::string_view kWords[] = {"async",
                                                "bulk",
                                                "bulk_group",
                                                "mbarrier::complete_tx::bytes",
                                                "multicast::cluster",
                                                "reduce",
                                                "noftz",
                                                "add",
                                                "min",
                                                "max",
                                                "and",
                                                "or",
                                                "xor",
                                                "inc",
                                                "dec"};
  const MemoryForm form = memory_form(encoder, kWords);
  const std::vector<Space> spaces = spaces_of(encoder.statement);
  if (spaces.size() != 2) encoder.unknown("expected two state spaces");
  BulkOptions options{.to = spaces[0], .from = spaces[1]};
  const bool to_shared = options.to == Space::shared;
  if (!to_shared && options.from == Space::global) encoder.unknown("a copy within global memory");
  options.multicast = encoder.statement.has("multicast::cluster");
  if (options.multicast && !to_shared) encoder.unknown("a multicast to global memory");
  const bool reduces = encoder.statement.has("reduce");
  if (reduces) {
    options.operation = atomic_operation_of(encoder);
    options.type = form.type;
    if (options.multicast || reduction_of(options.operation, options.type) == nullptr) {
      encoder.unknown("unknown type of this reduction");
    }
  } else if (form.type != Type::none) {
    encoder.unknown("unexpected type of a copy");
  }
  expect_operands_or_policy(encoder, to_shared ? (options.multicast ? 5 : 4) : 3);

  const std::int64_t to_offset = encode_address(encoder, 0, options.to_bytes);
  const std::int64_t from_offset = encode_address(encoder, 1, options.from_bytes);
  encoder.source(2, Type::u32);
  std::int64_t barrier_offset = 0;
  if (to_shared) barrier_offset = encode_address(encoder, 3, options.barrier_bytes);
  if (options.multicast) encoder.source(4, Type::u16);
  options.from_offset = static_cast<std::int32_t>(from_offset);
  options.barrier_offset = static_cast<std::int16_t>(barrier_offset);
  if (options.from_offset != from_offset || options.barrier_offset != barrier_offset) {
    encoder.unknown("an offset that is too large");
  }
  encoder.instruction.immediate = to_offset;
  encoder.instruction.set_options(options);
  encoder.instruction.execute = !to_shared ? copy_to_global
                                : reduces  ? reduce_in_shared
                                           : copy_to_shared;
}

}  // namespace

void decode_bulk_copy(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  encoder.instruction.kind = InstructionClass::async_copy;
  if (statement.has("tensor")) return decode_tensor_copy(encoder);
  if (statement.has("commit_group") || statement.has("wait_group")) {
    return decode_bulk_group(encoder);
  }
  if (!statement.has("prefetch")) return decode_bulk(encoder);
  encoder.instruction.execute = [](Execution&, const Instruction&) {};  // moves nothing here
}

}  // namespace halfgrad::emulator
