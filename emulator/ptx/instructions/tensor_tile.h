#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/emulator/memory/tensor_map.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

/// A lane's bulk copy of a box of a tensor.
struct TensorBox {
  TensorMap map;
  TensorCoordinates first{};  ///< coordinates of the box
};

/// Reads the map at a generic address. Ends the kernel if no driver function made it, or if the
/// instruction copies tensors of another rank.
TensorMap read_tensor_map(Execution& execution, const Instruction& instruction, unsigned lane,
                          std::uint64_t address, unsigned rank);

/// The rows of the box that lie in the tensor. Ends the kernel if one of them is in no allocation,
/// and names its coordinates.
std::vector<TensorRow> checked_rows(Execution& execution, const Instruction& instruction,
                                    unsigned lane, const TensorBox& box);

/// Ends the kernel unless the shared address of a tile has the alignment that the PTX ISA requires.
void check_tile_address(Execution& execution, const Instruction& instruction, unsigned lane,
                        std::uint64_t address);

/// The tile of a box, read from global memory. Elements outside of the tensor are zeros or NaNs.
std::vector<std::byte> read_box(Execution& execution, const Instruction& instruction, unsigned lane,
                                const TensorBox& box);

/// Bytes of a tile that are adjacent in shared memory.
struct TileRun {
  std::uint64_t address = 0;
  std::vector<std::byte> data;
};
/// Swizzles a tile that is to be written to a shared address.
std::vector<TileRun> swizzled_tile(const TensorMap& map, const std::vector<std::byte>& tile,
                                   std::uint64_t address);

/// Reads the rows of a tile from shared memory, as a bulk copy that may do so until a wait; bytes
/// of elements outside of the tensor are not read.
std::vector<std::byte> read_tile(Execution& execution, const Instruction& instruction,
                                 unsigned lane, const TensorMap& map,
                                 const std::vector<TensorRow>& rows, std::uint64_t address);

}  // namespace halfgrad::emulator
