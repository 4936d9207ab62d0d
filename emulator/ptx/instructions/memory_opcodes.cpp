#include <array>

#include <halfgrad/emulator/ptx/families.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>

namespace halfgrad::emulator {
namespace {

/// cp names four families of asynchronous copies.
void decode_copy(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (!statement.has("async")) encoder.unknown("unknown form of cp");
  if (statement.has("bulk")) return decode_bulk_copy(encoder);
  if (statement.has("mbarrier")) return decode_mbarrier_of_copies(encoder);
  decode_copy_async(encoder);
}

/// The asynchronous forms of st and red address other blocks of the cluster.
template <Decode Plain>
void decode_plain_or_async(Encoder& encoder) {
  encoder.statement.has("async") ? decode_cluster_store(encoder) : Plain(encoder);
}

}  // namespace

std::span<const OpcodeEntry> memory_opcodes() {
  static constexpr std::array kOpcodes{
      OpcodeEntry{"ld", decode_load},
      OpcodeEntry{"ldu", decode_load},
      OpcodeEntry{"st", decode_plain_or_async<decode_store>},
      OpcodeEntry{"atom", decode_atomic},
      OpcodeEntry{"red", decode_plain_or_async<decode_atomic>},
      OpcodeEntry{"membar", decode_fence},
      OpcodeEntry{"fence", decode_fence},
      OpcodeEntry{"cp", decode_copy},
      OpcodeEntry{"mbarrier", decode_mbarrier},
      OpcodeEntry{"prefetch", decode_cache_hint},
      OpcodeEntry{"prefetchu", decode_cache_hint},
      OpcodeEntry{"applypriority", decode_cache_hint},
      OpcodeEntry{"discard", decode_cache_hint},
      OpcodeEntry{"createpolicy", decode_create_policy},
      OpcodeEntry{"mapa", decode_map_address},
      OpcodeEntry{"getctarank", decode_rank_of_block},
  };
  return kOpcodes;
}

}  // namespace halfgrad::emulator
