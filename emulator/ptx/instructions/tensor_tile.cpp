// Tiles of bulk copies of tensors: their elements in global memory, and their places in shared
// memory (PTX ISA, "Tensors": bounding boxes, out of boundary access, swizzling modes).
#include <halfgrad/emulator/ptx/instructions/tensor_tile.h>

#include <algorithm>
#include <cstring>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/memory/cluster_address.h>
#include <halfgrad/emulator/memory/lookup.h>
#include <halfgrad/emulator/ptx/instructions/barrier_copies.h>
#include <halfgrad/emulator/ptx/instructions/bulk_groups.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kMapAlignment = 64, kTileAlignment = 128, kChunk = 16;  // bytes

/// Fills a tile with quiet NaNs: all bits but the sign are set.
void fill_with_nan(std::vector<std::byte>& tile, unsigned element_bytes) {
  std::fill(tile.begin(), tile.end(), std::byte{0xff});
  for (std::size_t i = element_bytes - 1; i < tile.size(); i += element_bytes) {
    tile[i] = std::byte{0x7f};
  }
}

/// Bytes of the tile whose spans the swizzle only rearranges; after them comes a part of a span.
std::uint32_t bytes_of_whole_spans(const TensorMap& map, std::uint32_t bytes) {
  const std::uint32_t span = kChunk << map.swizzle_bits;
  return bytes / span * span;
}

}  // namespace

TensorMap read_tensor_map(Execution& execution, const Instruction& instruction, unsigned lane,
                          std::uint64_t address, unsigned rank) {
  Execution one = execution;
  one.mask = LaneMask{1} << lane;
  LaneAddresses addresses{};
  addresses[lane] = address;
  const HostPointers places = resolve(one, instruction,
                                      {.space = Space::generic,
                                       .kind = AccessKind::load,
                                       .bytes = kTensorMapBytes,
                                       .alignment = kMapAlignment},
                                      addresses);
  TensorMap map;
  std::memcpy(&map, places.lane[lane], sizeof map);
  if (map.magic != TensorMap::kMagic) {
    abort_kernel(execution, instruction, lane, FindingKind::invalid_call,
                 "expected a tensor map, got 128 bytes that no successful call of "
                 "cuTensorMapEncodeTiled wrote",
                 address);
  }
  if (map.rank != rank) {
    abort_kernel(execution, instruction, lane, FindingKind::invalid_call,
                 "expected a tensor map of " + std::to_string(rank) + " dimensions, got one of " +
                     std::to_string(map.rank),
                 address);
  }
  return map;
}

std::vector<TensorRow> checked_rows(Execution& execution, const Instruction& instruction,
                                    unsigned lane, const TensorBox& box) {
  std::vector<TensorRow> rows = rows_of_box(box.map, box.first);
  const Allocations& memory = execution.launch->machine.memory;
  for (const TensorRow& row : rows) {
    if (host_range(memory, row.address, row.bytes).host != nullptr) continue;
    const bool freed = memory.was_freed(row.address);
    const std::string neighbour = memory.describe_neighbour(row.address);
    abort_kernel(execution, instruction, lane,
                 freed ? FindingKind::use_after_free : FindingKind::out_of_bounds,
                 "the tensor map's elements at " + coordinates_text(box.map, row.coordinates) +
                     ", " + std::to_string(row.bytes) + " bytes at global address " +
                     hexadecimal(row.address) + ", are not in one allocation" +
                     (neighbour.empty() ? "" : ": " + neighbour),
                 row.address);
  }
  return rows;
}

void check_tile_address(Execution& execution, const Instruction& instruction, unsigned lane,
                        std::uint64_t address) {
  const std::uint64_t offset = address & kOffsetMask;
  if (offset % kTileAlignment == 0) return;
  abort_kernel(execution, instruction, lane, FindingKind::misaligned,
               "expected a shared address that is a multiple of 128 for a bulk copy of a tensor, "
               "got byte " +
                   std::to_string(offset) + " of shared memory",
               kSharedWindow | offset);
}

std::vector<std::byte> read_box(Execution& execution, const Instruction& instruction, unsigned lane,
                                const TensorBox& box) {
  const unsigned element = bytes_of(box.map.element);
  std::vector<std::byte> tile(box.map.tile_bytes());
  if (box.map.fills_with_nan) fill_with_nan(tile, element);
  for (const TensorRow& row : checked_rows(execution, instruction, lane, box)) {
    each_piece(execution, instruction, lane,
               {.space = Space::global,
                .kind = AccessKind::load,
                .alignment = static_cast<std::uint8_t>(element),
                .asynchronous = true},
               row.address, row.bytes, nullptr,
               [&](const std::byte* place, std::uint32_t offset, std::uint32_t size) {
                 std::memcpy(tile.data() + row.tile_offset + offset, place, size);
               });
  }
  return tile;
}

std::vector<TileRun> swizzled_tile(const TensorMap& map, const std::vector<std::byte>& tile,
                                   std::uint64_t address) {
  if (map.swizzle_bits == 0) return {{address, tile}};
  const auto bytes = static_cast<std::uint32_t>(tile.size());
  const std::uint32_t whole = bytes_of_whole_spans(map, bytes);
  std::vector<TileRun> runs;
  if (whole != 0) runs.push_back({address, std::vector<std::byte>(whole)});
  for (std::uint32_t i = 0; i < bytes; i += kChunk) {
    const std::byte* const chunk = tile.data() + i;
    const std::uint64_t place = swizzled(address + i, map.swizzle_bits);
    if (i < whole) {
      std::memcpy(runs.front().data.data() + (place - address), chunk, kChunk);
    } else {
      runs.push_back({place, std::vector<std::byte>(chunk, chunk + kChunk)});
    }
  }
  return runs;
}

std::vector<std::byte> read_tile(Execution& execution, const Instruction& instruction,
                                 unsigned lane, const TensorMap& map,
                                 const std::vector<TensorRow>& rows, std::uint64_t address) {
  std::vector<std::byte> tile(map.tile_bytes());
  const Access access{
      .space = Space::shared, .kind = AccessKind::load, .alignment = 1, .asynchronous = true};
  // Without a swizzle a row is one piece; else each of its chunks is.
  const std::uint32_t chunk = map.swizzle_bits == 0 ? map.tile_bytes() : kChunk;
  BulkSource source(execution);
  for (const TensorRow& row : rows) {
    const std::uint32_t end = row.tile_offset + row.bytes;
    for (std::uint32_t begin = row.tile_offset, next; begin < end; begin = next) {
      next = std::min(end, (begin / chunk + 1) * chunk);
      each_piece(execution, instruction, lane, access, swizzled(address + begin, map.swizzle_bits),
                 next - begin, nullptr,
                 [&](const std::byte* place, std::uint32_t offset, std::uint32_t size) {
                   std::memcpy(tile.data() + begin + offset, place, size);
                   source.add(place, size);
                 });
    }
  }
  note_bulk_read(execution, instruction, lane, source);
  return tile;
}

}  // namespace halfgrad::emulator
