#pragma once

#include <cstdint>

#include <halfgrad/core/gemm/gemm_amx_parts.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_sums.h>
#include <halfgrad/core/numbers/scalar.h>

// The tiles that AMX multiplies, as gemm_amx.h explains, packed from matrices of any strides.
namespace halfgrad::detail {

inline constexpr int kAmxTile = 16;                        // rows of a tile, and pairs in a row
inline constexpr int kAmxTileWords = kAmxTile * kAmxTile;  // a word of 32 bits holds a pair
inline constexpr int kAmxStrip = 2 * kAmxTile;             // rows of A or columns of B
inline constexpr int kAmxStep = 2 * kAmxTile;  // elements of the depth that fill the tiles once
static_assert(kAmxStrip == kSumColumns && kFewRows % kAmxTile == 0);

// Words of a strip in one step: two tiles, one below or beside the other, of each part.
template <class S>
inline constexpr int kAmxStepWords = kAmxParts<S> * 2 * kAmxTileWords;

// Packs strip `strip` of A or B: [step][part][tile][16][16] words. A tile has a row for each row of
// A, or for each pair of B. Where the matrix ends inside a tile, the rest is 0. A second tile
// without any row or column stays as it is; no product reads it.
template <class S>
void pack_amx_a(const Operand<S>& a, std::int64_t strip, std::uint32_t* to);
template <class S>
void pack_amx_b(const Operand<S>& b, std::int64_t strip, std::uint32_t* to);

}  // namespace halfgrad::detail
