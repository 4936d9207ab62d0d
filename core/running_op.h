#pragma once

namespace halfgrad::detail {

/// The op that this thread is running, for errors of the allocator, which know a shape alone.
inline thread_local constinit const char* running_op = "empty";

}  // namespace halfgrad::detail
