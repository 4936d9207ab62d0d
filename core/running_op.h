#pragma once

namespace halfgrad::detail {

/// Name of the op that this thread runs, for error messages of the allocator, which gets only a
/// shape.
inline thread_local constinit const char* running_op = "empty";

}  // namespace halfgrad::detail
