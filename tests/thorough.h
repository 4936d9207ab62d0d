#pragma once

namespace halfgrad {

/// Whether a test tries everything it can. Debug builds, which are what runs under sanitizers, take
/// a hundred times as long, and try a sample.
#ifdef NDEBUG
inline constexpr bool kThorough = true;
#else
inline constexpr bool kThorough = false;
#endif

}  // namespace halfgrad
