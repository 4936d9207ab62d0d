#pragma once

namespace halfgrad {

/// True if tests try all cases. Debug builds, which run under sanitizers, take a hundred times as
/// long and only try a sample.
#ifdef NDEBUG
inline constexpr bool kThorough = true;
#else
inline constexpr bool kThorough = false;
#endif

}  // namespace halfgrad
