#pragma once

#include <span>
#include <string>
#include <vector>

#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist::detail {

/// Compares a list of lines with those of the other ranks, in a collective. If they differ, throws
/// std::invalid_argument on every rank; the message names `op`, the first rank that differs from
/// rank 0, and the first line. The arrays of the collective are on `device`.
void expect_same_lines(Communicator& communicator, const char* op,
                       const std::vector<std::string>& lines, Device device);

/// Gives the arrays the values of rank 0, in a collective. Arrays of one dtype and device travel
/// together, in about `bytes` at a time.
void broadcast_all(Communicator& communicator, std::span<const Array> arrays, std::int64_t bytes);

}  // namespace halfgrad::dist::detail
