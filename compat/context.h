#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>

#include <halfgrad/core/device.h>
#include <halfgrad/core/random.h>

/// libtorch's settings of a whole program. Most change nothing here: results are always
/// deterministic, and a program runs its ops one after the other.
namespace halfgrad {

// NOLINTBEGIN(readability-identifier-naming): libtorch's names
inline bool hasCUDA() { return cuda::is_available(); }

/// The settings behind at::globalContext().
class Context {
 public:
  static bool hasCUDA() { return halfgrad::hasCUDA(); }
  // Every algorithm is deterministic, and no cuDNN chooses one.
  void setDeterministicCuDNN(bool /*deterministic*/) {}
  void setDeterministicAlgorithms(bool /*deterministic*/, bool /*warn_only*/) {}
  void setBenchmarkCuDNN(bool /*benchmark*/) {}
  static bool deterministicCuDNN() { return true; }
  static bool deterministicAlgorithms() { return true; }
  static bool benchmarkCuDNN() { return false; }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
// NOLINTEND(readability-identifier-naming)

inline void set_num_interop_threads(int /*count*/) {}
inline int get_num_interop_threads() { return 1; }

namespace cuda {

inline bool cudnn_is_available() { return false; }
/// halfgrad::manual_seed(): one generator serves every device.
inline void manual_seed(std::uint64_t seed) { halfgrad::manual_seed(seed); }
inline void manual_seed_all(std::uint64_t seed) { halfgrad::manual_seed(seed); }

}  // namespace cuda
}  // namespace halfgrad
