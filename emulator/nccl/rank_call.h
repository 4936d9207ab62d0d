#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <nccl.h>

#include <halfgrad/emulator/nccl/reduction.h>

namespace halfgrad::emulator {

enum class CallKind : std::uint8_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  send,
  receive
};

/// One call of a rank: a collective, or one half of a transfer.
struct RankCall {
  CallKind kind{};
  const char* function = "";
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  Reduction reduction;
  int root = 0;  ///< or the other rank of a transfer

  bool is_transfer() const { return kind == CallKind::send || kind == CallKind::receive; }
  bool reduces() const {
    return kind == CallKind::all_reduce || kind == CallKind::reduce ||
           kind == CallKind::reduce_scatter;
  }
  std::size_t bytes() const { return count * bytes_of(type); }
  /// Bytes that `rank` of `size` ranks reads and writes.
  std::size_t input_bytes(int rank, int size) const;
  std::size_t output_bytes(int rank, int size) const;
};

/// "ncclBroadcast of 100 float32 from rank 2".
std::string describe(const RankCall& call);
/// Whether two ranks' calls belong to the same collective.
bool agree(const RankCall& a, const RankCall& b);
/// Why the call's arguments are refused, or "".
std::string what_is_wrong(const RankCall& call, int rank, int size);

}  // namespace halfgrad::emulator
