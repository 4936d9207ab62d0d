#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/core/dtype.h>
#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/host/call.h>
#include <halfgrad/dist/host/transport.h>

/// The collectives on host memory, made of exchanges. See Communicator for what they compute.
namespace halfgrad::dist {

/// Throws CommunicationError on every rank unless all of them make the same call.
void expect_same_call(Transport& transport, const Call& call);

/// Every rank receives one part of all arrays, combines it, and sends the result to all: a rank
/// sends and receives about twice the bytes of the array, whatever the number of ranks.
void all_reduce(Transport& transport, std::byte* data, std::int64_t n, DType dtype, ReduceOp op);

/// `n` is the number of elements of `output`.
void reduce_scatter(Transport& transport, std::byte* output, const std::byte* input, std::int64_t n,
                    DType dtype, ReduceOp op);

/// `bytes` is the size of `input`.
void all_gather(Transport& transport, std::byte* output, const std::byte* input, std::size_t bytes);

/// The root sends one part to each rank, and every rank its part to all.
void broadcast(Transport& transport, std::byte* data, std::size_t bytes, int root);

}  // namespace halfgrad::dist
