#pragma once

#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

/// Sets MemoryOptions::overwrites of a decoded `atom.exch`.
void mark_plain_exchange(Instruction& instruction);

// Decode functions of memory_opcodes(), each in the page of its family.
void decode_load(Encoder& encoder);                ///< ld, ldu
void decode_store(Encoder& encoder);               ///< st
void decode_atomic(Encoder& encoder);              ///< atom, red
void decode_fence(Encoder& encoder);               ///< membar, fence
void decode_cache_hint(Encoder& encoder);          ///< prefetch, prefetchu, applypriority, discard
void decode_create_policy(Encoder& encoder);       ///< createpolicy
void decode_copy_async(Encoder& encoder);          ///< cp.async
void decode_mbarrier(Encoder& encoder);            ///< mbarrier
void decode_mbarrier_of_copies(Encoder& encoder);  ///< cp.async.mbarrier.arrive
void decode_bulk_copy(Encoder& encoder);           ///< cp.async.bulk
void decode_tensor_copy(Encoder& encoder);         ///< cp.async.bulk.tensor

void decode_map_address(Encoder& encoder);    ///< mapa
void decode_rank_of_block(Encoder& encoder);  ///< getctarank

void decode_cluster_store(Encoder& encoder);  ///< st.async, red.async

}  // namespace halfgrad::emulator
