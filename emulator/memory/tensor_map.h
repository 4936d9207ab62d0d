#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfgrad::emulator {

inline constexpr unsigned kTensorRank = 5;           ///< most dimensions of a tensor map
inline constexpr std::size_t kTensorMapBytes = 128;  ///< bytes of a CUtensorMap

/// Element types of tensor maps, with the values of CUtensorMapDataType.
enum class TensorElement : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 };
unsigned bytes_of(TensorElement element);

/// The emulator's own content of a CUtensorMap: a tensor in global memory, and the box of it that
/// bulk copies move. Dimension 0 is the innermost one.
struct TensorMap {
  static constexpr std::uint64_t kMagic = 0x70616d2d61'6d74ull;  ///< "tma-map"

  std::uint64_t magic = kMagic;
  std::uint64_t address = 0;
  std::array<std::uint64_t, kTensorRank> dims{};
  std::array<std::uint64_t, kTensorRank> strides{};  ///< in bytes
  std::array<std::uint16_t, kTensorRank> box{};      ///< elements of the tensor that a box spans
  std::array<std::uint8_t, kTensorRank> steps{};     ///< a box takes each steps[i]-th of them
  std::uint8_t rank = 0;
  TensorElement element = TensorElement::u8;
  std::uint8_t swizzle_bits = 0;  ///< 1, 2, 3: swizzles in 32, 64, 128 bytes; 0: does not
  bool fills_with_nan = false;    ///< elements outside of the tensor; else with zeros
  std::array<std::uint8_t, 9> unused{};

  /// Elements of a tile along a dimension: ceil(box / step).
  unsigned tile_size(unsigned dimension) const {
    return (box[dimension] + steps[dimension] - 1u) / steps[dimension];
  }
  unsigned tile_bytes() const;
};
static_assert(sizeof(TensorMap) == kTensorMapBytes);

/// Arguments of cuTensorMapEncodeTiled. The enumerations have the driver's values.
struct TensorMapArguments {
  unsigned type = 0, rank = 0;
  std::uint64_t address = 0;
  const std::uint64_t* dims = nullptr;     ///< `rank` values
  const std::uint64_t* strides = nullptr;  ///< `rank` - 1 values: of dimensions 1 and up
  const std::uint32_t* box = nullptr;
  const std::uint32_t* steps = nullptr;
  unsigned interleave = 0, swizzle = 0, l2_promotion = 0, fill = 0;
};

/// Thrown for a tensor map that a GPU knows and the emulator does not.
struct UnknownTensorMap : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Encodes a tensor map (CUDA driver API, "Tensor Map Object Management"). Throws
/// std::invalid_argument with the rule that an argument breaks.
TensorMap encode_tensor_map(const TensorMapArguments& arguments);
/// Throws std::invalid_argument unless a tensor may begin there.
void check_tensor_address(std::uint64_t address);

/// Coordinates of an element of a tensor, from dimension 0 on; those of a box may lie outside.
using TensorCoordinates = std::array<std::int64_t, kTensorRank>;

/// Elements of a tile's row that lie in the tensor.
struct TensorRow {
  TensorCoordinates coordinates{};  ///< the first of these elements
  std::uint64_t address = 0;
  std::uint32_t tile_offset = 0;  ///< byte offset in the tile, whose dimension 0 varies fastest
  std::uint32_t bytes = 0;
};
/// All rows of the box at `first` of which a part lies in the tensor.
std::vector<TensorRow> rows_of_box(const TensorMap& map, const TensorCoordinates& first);

/// The shared address to which a swizzle moves the 16 bytes at `address`: bits 4, 5, ... are
/// exclusive-ored with bits 7, 8, ...
constexpr std::uint64_t swizzled(std::uint64_t address, unsigned bits) {
  return address ^ (((address >> 7) & ((1u << bits) - 1)) << 4);
}

/// "{64, -1}".
std::string coordinates_text(const TensorMap& map, const TensorCoordinates& coordinates);

}  // namespace halfgrad::emulator
