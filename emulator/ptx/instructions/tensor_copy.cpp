// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor (PTX ISA, "Data
// Movement and Conversion Instructions: Tensor copy").
// A copy into shared memory lands when its mbarrier's phase completes. A copy to global memory is
// done when it is issued, the earliest time that the ISA allows; the check of races takes into
// account that it may read shared memory until a wait for its group (bulk_groups.h).
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
#include <halfgrad/emulator/ptx/instructions/tensor_tile.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

/// Source 0 is the address of the map. Source 1 is that of the tile, whose offset is `immediate`;
/// sources 2 and 3 are the mbarrier and the mask of a multicast. The list has the coordinates.
struct TensorOptions {
  std::uint8_t rank = 0;
  std::uint8_t map_bytes = 8, tile_bytes = 4, barrier_bytes = 4;  ///< bytes of the base addresses
  std::int16_t barrier_offset = 0;
  bool multicast = false;  ///< to several blocks of the cluster
  bool reduces = false;
  AtomicOperation operation = AtomicOperation::add;
  std::int32_t map_offset = 0;
};

constexpr unsigned kRunAlignment = 16;  // bytes: runs of a swizzled tile are multiples of it

/// Calls f(lane, box) for each active lane.
template <class F>
void each_box(Execution& execution, const Instruction& instruction, F f) {
  const auto& options = instruction.options<TensorOptions>();
  const LaneAddresses maps =
      addresses_of(execution, instruction, 0, options.map_bytes, options.map_offset);
  each_lane(execution.mask, [&](unsigned lane) {
    TensorBox box;
    box.map = read_tensor_map(execution, instruction, lane, maps[lane], options.rank);
    for (unsigned i = 0; i < options.rank; ++i) {
      box.first[i] = execution.lanes<std::int32_t>(instruction.list[i])[lane];
    }
    f(lane, box);
  });
}

LaneAddresses tile_addresses(const Execution& execution, const Instruction& instruction) {
  return addresses_of(execution, instruction, 1, instruction.options<TensorOptions>().tile_bytes);
}

void load_tile(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<TensorOptions>();
  const LaneAddresses to = tile_addresses(execution, instruction);
  const LaneAddresses barriers =
      addresses_of(execution, instruction, 2, options.barrier_bytes, options.barrier_offset);
  each_box(execution, instruction, [&](unsigned lane, const TensorBox& box) {
    check_tile_address(execution, instruction, lane, to[lane]);
    const auto tile = read_box(execution, instruction, lane, box);
    for (const TileRun& run : swizzled_tile(box.map, tile, to[lane])) {
      if (!options.multicast) {
        issue_copy(execution, instruction, lane, kRunAlignment, run.address, barriers[lane],
                   run.data, SignalPath::bulk_copy);
        continue;
      }
      const std::uint32_t blocks = execution.lanes<std::uint16_t>(instruction.source(3))[lane];
      each_lane(blocks, [&](unsigned rank) {
        issue_copy(execution, instruction, lane, kRunAlignment, cluster_address(rank, run.address),
                   cluster_address(rank, barriers[lane]), run.data, SignalPath::bulk_copy);
      });
    }
  });
}

/// The element type of a map as the reductions know it. Operations on bits ignore the sign.
Type type_of(TensorElement element, AtomicOperation operation) {
  constexpr Type kTypes[] = {Type::u8,  Type::u16, Type::u32, Type::s32, Type::u64,
                             Type::s64, Type::f16, Type::f32, Type::f64, Type::bf16};
  const bool bitwise = operation == AtomicOperation::bitwise_and ||
                       operation == AtomicOperation::bitwise_or ||
                       operation == AtomicOperation::bitwise_xor;
  return bitwise ? bits_of(bytes_of(element)) : kTypes[static_cast<unsigned>(element)];
}

Reduction reduction_of_box(Execution& execution, const Instruction& instruction, unsigned lane,
                           const TensorBox& box) {
  const auto& options = instruction.options<TensorOptions>();
  const Type type = type_of(box.map.element, options.operation);
  const Reduction reduction = reduction_of(options.operation, type);
  if (reduction == nullptr) {
    abort_kernel(execution, instruction, lane, FindingKind::invalid_call,
                 "the data type of the tensor map has no such reduction");
  }
  return reduction;
}

void store_tile(Execution& execution, const Instruction& instruction) {
  const LaneAddresses from = tile_addresses(execution, instruction);
  each_box(execution, instruction, [&](unsigned lane, const TensorBox& box) {
    check_tile_address(execution, instruction, lane, from[lane]);
    const auto rows = checked_rows(execution, instruction, lane, box);
    const auto tile = read_tile(execution, instruction, lane, box.map, rows, from[lane]);
    const auto element = static_cast<std::uint8_t>(bytes_of(box.map.element));
    for (const TensorRow& row : rows) {
      const std::byte* const data = tile.data() + row.tile_offset;
      note_bulk_write(execution, lane, row.address, row.bytes);
      each_piece(execution, instruction, lane,
                 {.space = Space::global,
                  .kind = AccessKind::store,
                  .alignment = element,
                  .asynchronous = true},
                 row.address, row.bytes, data,
                 [&](std::byte* place, std::uint32_t offset, std::uint32_t size) {
                   std::memcpy(place, data + offset, size);
                 });
    }
  });
}

void reduce_tile(Execution& execution, const Instruction& instruction) {
  const LaneAddresses from = tile_addresses(execution, instruction);
  each_box(execution, instruction, [&](unsigned lane, const TensorBox& box) {
    check_tile_address(execution, instruction, lane, from[lane]);
    const Reduction reduction = reduction_of_box(execution, instruction, lane, box);
    const auto rows = checked_rows(execution, instruction, lane, box);
    const auto tile = read_tile(execution, instruction, lane, box.map, rows, from[lane]);
    const auto element = static_cast<std::uint8_t>(bytes_of(box.map.element));
    for (const TensorRow& row : rows) {
      const std::byte* const data = tile.data() + row.tile_offset;
      each_piece(execution, instruction, lane,
                 {.space = Space::global,
                  .kind = AccessKind::atomic,
                  .alignment = element,
                  .order = Order::relaxed},
                 row.address, row.bytes, nullptr,
                 [&](std::byte* place, std::uint32_t offset, std::uint32_t size) {
                   for (std::uint32_t i = 0; i < size; i += element) {
                     reduction(place + i, data + offset + i, false);
                   }
                 });
    }
  });
}

/// A prefetch moves nothing here; the map is checked.
void prefetch_box(Execution& execution, const Instruction& instruction) {
  each_box(execution, instruction, [](unsigned, const TensorBox&) {});
}

// ---- decoding

std::uint8_t rank_of(const Encoder& encoder) {
  constexpr std::string_view kRanks[] = {"1d", "2d", "3d", "4d", "5d"};
  for (std::uint8_t i = 0; i < kTensorRank; ++i) {
    if (encoder.statement.has(kRanks[i])) return static_cast<std::uint8_t>(i + 1);
  }
  encoder.unknown("expected a rank such as .2d");
}

const Operand& given_operand(const Encoder& encoder, unsigned i) {
  if (i >= encoder.operands()) encoder.unknown("too few operands");
  return encoder.statement.operands[i];
}

/// Appends `[map, {x, y}]`.
void encode_box(Encoder& encoder, unsigned i, TensorOptions& options) {
  const Operand& operand = given_operand(encoder, i);
  options.map_bytes = static_cast<std::uint8_t>(encoder.address(operand));
  options.map_offset = static_cast<std::int32_t>(encoder.instruction.immediate);
  if (options.map_offset != encoder.instruction.immediate) {
    encoder.unknown("an offset that is too large");
  }
  if (operand.parts.size() != 2) encoder.unknown("expected [tensor map, coordinates]");
  const std::span<const Operand> coordinates = elements_of(operand.parts[1]);
  if (coordinates.size() != options.rank) {
    encoder.unknown("expected " + std::to_string(options.rank) + " coordinates");
  }
  std::vector<Offset> offsets;
  for (const Operand& one : coordinates) offsets.push_back(encoder.source_offset(one, Type::b32));
  encoder.list(offsets);
}

void encode_load(Encoder& encoder, TensorOptions& options) {
  options.multicast = encoder.statement.has("multicast::cluster");
  expect_operands_or_policy(encoder, options.multicast ? 4 : 3);
  encode_box(encoder, 1, options);
  options.tile_bytes = static_cast<std::uint8_t>(encoder.address(0));
  const std::int64_t offset = encoder.instruction.immediate;
  options.barrier_bytes = static_cast<std::uint8_t>(encoder.address(2));
  options.barrier_offset = static_cast<std::int16_t>(encoder.instruction.immediate);
  if (options.barrier_offset != encoder.instruction.immediate) {
    encoder.unknown("an offset that is too large");
  }
  encoder.instruction.immediate = offset;
  if (options.multicast) encoder.source(3, Type::u16);
  encoder.instruction.execute = load_tile;
}

void encode_store(Encoder& encoder, TensorOptions& options) {
  expect_operands_or_policy(encoder, 2);
  encode_box(encoder, 0, options);
  options.tile_bytes = static_cast<std::uint8_t>(encoder.address(1));
  options.reduces = encoder.statement.has("reduce");
  if (options.reduces) options.operation = atomic_operation_of(encoder);
  encoder.instruction.execute = options.reduces ? reduce_tile : store_tile;
}

bool is_shared(std::string_view space) { return space == "shared" || space == "shared::cluster"; }

/// The state space of the destination comes before that of the source.
bool loads_tile(const Encoder& encoder) {
  std::vector<std::string_view> spaces;
  for (const std::string_view name : encoder.statement.modifiers) {
    if (is_shared(name) || name == "global") spaces.push_back(name);
  }
  if (spaces.size() != 2 || is_shared(spaces[0]) == is_shared(spaces[1])) {
    encoder.unknown("expected a copy between shared and global memory");
  }
  return is_shared(spaces[0]);
}

}  // namespace

void decode_tensor_copy(Encoder& encoder) {
  static constexpr std::string_view kWords[] = {"async",
                                                "bulk",
                                                "bulk_group",
                                                "mbarrier::complete_tx::bytes",
                                                "multicast::cluster",
                                                "tile",
                                                "tensor",
                                                "prefetch",
                                                "reduce",
                                                "1d",
                                                "2d",
                                                "3d",
                                                "4d",
                                                "5d",
                                                "L2",
                                                "add",
                                                "min",
                                                "max",
                                                "and",
                                                "or",
                                                "xor",
                                                "inc",
                                                "dec"};
  const Statement& statement = encoder.statement;
  const MemoryForm form = memory_form(encoder, kWords);
  if (form.type != Type::none) encoder.unknown("unexpected type of a tensor copy");
  TensorOptions options;
  options.rank = rank_of(encoder);
  encoder.instruction.kind = InstructionClass::async_copy;
  if (statement.has("prefetch")) {
    expect_operands_or_policy(encoder, 1);
    encode_box(encoder, 0, options);
    encoder.instruction.execute = prefetch_box;
  } else if (loads_tile(encoder)) {
    if (statement.has("reduce")) encoder.unknown("a reduction of a tensor in shared memory");
    if (!statement.has("mbarrier::complete_tx::bytes")) encoder.unknown("expected an mbarrier");
    encode_load(encoder, options);
  } else {
    if (!statement.has("bulk_group")) encoder.unknown("expected .bulk_group");
    encode_store(encoder, options);
  }
  encoder.instruction.set_options(options);
}

}  // namespace halfgrad::emulator
