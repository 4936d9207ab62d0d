// cp.async.bulk without tensors (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy").
// A copy into shared memory lands when its mbarrier's phase completes. A copy to global memory is
// done when it is issued, the earliest time that the ISA allows.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/mbarrier_access.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

struct BulkOptions {
  Space to = Space::shared, from = Space::global;
  std::uint8_t to_bytes = 8, from_bytes = 8, barrier_bytes = 8;  ///< bytes of the base addresses
  std::int16_t barrier_offset = 0;
  std::int32_t from_offset = 0;
};

constexpr unsigned kUnit = 16;    // bytes: sizes and addresses are multiples of it
constexpr unsigned kPiece = 128;  // bytes that one check covers

/// Calls f(place, offset, bytes) for pieces of [address, address + bytes) of one lane.
template <class F>
void each_piece(Execution& execution, const Instruction& instruction, unsigned lane, Space space,
                AccessKind kind, std::uint64_t address, std::uint32_t bytes,
                const std::byte* stored, F f) {
  Execution one = execution;
  one.mask = LaneMask{1} << lane;
  std::array<std::array<std::byte, kPiece>, kWarpSize> values;  // a row a lane, as resolve() reads
  for (std::uint32_t offset = 0; offset < bytes; offset += kPiece) {
    const std::uint32_t size = std::min(kPiece, bytes - offset);
    LaneAddresses addresses{};
    addresses[lane] = address + offset;
    std::byte* row = values[0].data() + std::size_t{lane} * size;
    if (stored != nullptr) std::memcpy(row, stored + offset, size);
    const HostPointers places = resolve(one, instruction,
                                        {.space = space,
                                         .kind = kind,
                                         .bytes = static_cast<std::uint8_t>(size),
                                         .alignment = kUnit,
                                         .asynchronous = true},
                                        addresses, stored == nullptr ? nullptr : values[0].data());
    f(places.lane[lane], offset, size);
  }
}

std::vector<std::byte> read_source(Execution& execution, const Instruction& instruction,
                                   unsigned lane, std::uint64_t address, std::uint32_t bytes) {
  std::vector<std::byte> data(bytes);
  const Space space = instruction.options<BulkOptions>().from;
  each_piece(execution, instruction, lane, space, AccessKind::load, address, bytes, nullptr,
             [&](const std::byte* place, std::uint32_t offset, std::uint32_t size) {
               std::memcpy(data.data() + offset, place, size);
             });
  return data;
}

/// Bytes of a lane's copy, which source 2 holds.
std::uint32_t size_of(Execution& execution, const Instruction& instruction, unsigned lane) {
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

void copy_to_global(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<BulkOptions>();
  const LaneAddresses to = addresses_of(execution, instruction, 0, options.to_bytes);
  const LaneAddresses from = source_addresses(execution, instruction);
  each_lane(execution.mask, [&](unsigned lane) {
    const std::uint32_t bytes = size_of(execution, instruction, lane);
    const auto data = read_source(execution, instruction, lane, from[lane], bytes);
    each_piece(execution, instruction, lane, options.to, AccessKind::store, to[lane], bytes,
               data.data(), [&](std::byte* place, std::uint32_t offset, std::uint32_t size) {
                 std::memcpy(place, data.data() + offset, size);
               });
  });
}

void copy_to_shared(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<BulkOptions>();
  const LaneAddresses to = addresses_of(execution, instruction, 0, options.to_bytes);
  const LaneAddresses from = source_addresses(execution, instruction);
  const LaneAddresses barriers =
      addresses_of(execution, instruction, 3, options.barrier_bytes, options.barrier_offset);
  const HostPointers places = resolve(execution, instruction,
                                      {.space = Space::shared,
                                       .kind = AccessKind::atomic,
                                       .bytes = sizeof(std::uint64_t),
                                       .alignment = sizeof(std::uint64_t),
                                       .order = Order::relaxed,
                                       .scope = Scope::cta},
                                      barriers);
  LaunchChecks* checks = execution.launch->checks.get();
  each_lane(execution.mask, [&](unsigned lane) {
    BarrierCopy copy;
    copy.bytes = size_of(execution, instruction, lane);
    copy.warp = execution.warp->index;
    copy.lane = lane;
    copy.shared_offset = static_cast<std::uint32_t>(to[lane]);
    copy.data = read_source(execution, instruction, lane, from[lane], copy.bytes);
    each_piece(execution, instruction, lane, options.to, AccessKind::store, to[lane], copy.bytes,
               copy.data.data(), [](std::byte*, std::uint32_t, std::uint32_t) {});
    MbarrierAccess barrier(execution, instruction, lane, places.lane[lane]);
    copy.barrier = barrier.offset();
    if (checks != nullptr) {
      checks->async_copy_issued(execution, instruction, lane, copy.shared_offset, copy.bytes);
    }
    execution.block->barrier_copies.push_back(std::move(copy));
  });
}

/// Groups of bulk copies to global memory: they are complete when they are issued.
void nothing(Execution&, const Instruction&) {}

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

void decode_copy(Encoder& encoder) {
  static constexpr std::string_view kWords[] = {"async", "bulk", "bulk_group",
                                                "mbarrier::complete_tx::bytes"};
  memory_form(encoder, kWords);
  const std::vector<Space> spaces = spaces_of(encoder.statement);
  if (spaces.size() != 2) encoder.unknown("expected two state spaces");
  BulkOptions options{.to = spaces[0], .from = spaces[1]};
  const bool to_shared = options.to == Space::shared;
  if (!to_shared && options.from == Space::global) encoder.unknown("a copy within global memory");
  expect_operands_or_policy(encoder, to_shared ? 4 : 3);

  const std::int64_t to_offset = encode_address(encoder, 0, options.to_bytes);
  const std::int64_t from_offset = encode_address(encoder, 1, options.from_bytes);
  encoder.source(2, Type::u32);
  std::int64_t barrier_offset = 0;
  if (to_shared) barrier_offset = encode_address(encoder, 3, options.barrier_bytes);
  options.from_offset = static_cast<std::int32_t>(from_offset);
  options.barrier_offset = static_cast<std::int16_t>(barrier_offset);
  if (options.from_offset != from_offset || options.barrier_offset != barrier_offset) {
    encoder.unknown("an offset that is too large");
  }
  encoder.instruction.immediate = to_offset;
  encoder.instruction.set_options(options);
  encoder.instruction.execute = to_shared ? copy_to_shared : copy_to_global;
}

}  // namespace

void decode_bulk_copy(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  encoder.instruction.kind = InstructionClass::async_copy;
  if (statement.has("tensor")) encoder.unknown("a bulk copy of a tensor");
  if (statement.has("prefetch") || statement.has("commit_group") || statement.has("wait_group")) {
    encoder.instruction.execute = nothing;
  } else {
    decode_copy(encoder);
  }
}

}  // namespace halfgrad::emulator
