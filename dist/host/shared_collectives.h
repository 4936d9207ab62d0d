#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <halfgrad/core/dtype.h>
#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/host/transport.h>

/// The collectives of collectives.h for inputs that every rank can read: each rank combines the
/// elements where they lie, and messages only say when. `inputs` has the address of each rank's
/// input, from Transport::addresses().
namespace halfgrad::dist::shared {

/// The inputs are the arrays, of n elements. Each rank combines one part of all arrays in place,
/// and then copies the other parts from the arrays of their ranks.
void all_reduce(Transport& transport, std::span<const std::byte* const> inputs, std::byte* data,
                std::int64_t n, DType dtype, ReduceOp op);

/// `n` is the number of elements of `output`.
void reduce_scatter(Transport& transport, std::span<const std::byte* const> inputs,
                    std::byte* output, std::int64_t n, DType dtype, ReduceOp op);

/// `bytes` is the size of an input.
void all_gather(Transport& transport, std::span<const std::byte* const> inputs, std::byte* output,
                std::size_t bytes);

}  // namespace halfgrad::dist::shared
