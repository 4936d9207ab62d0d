#pragma once

#include <chrono>

#include <halfgrad/core/array.h>
#include <halfgrad/dist/communicator.h>

/// Checks of what a caller passes, which every communicator shares. They throw
/// std::invalid_argument, before anything is sent.
namespace halfgrad::dist {

void expect_timeout(const char* op, std::chrono::milliseconds timeout);

void expect_all_reduce(const Array& array, ReduceOp op);
void expect_reduce_scatter(const Array& output, const Array& input, ReduceOp op, int size,
                           int rank);
void expect_all_gather(const Array& output, const Array& input, int size, int rank);
void expect_broadcast(const Array& array, int root, int size);

}  // namespace halfgrad::dist
