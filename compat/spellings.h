#pragma once

#include <halfgrad/compat/names.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/compat/array_ref.h>
#include <halfgrad/compat/utilities.h>
#include <halfgrad/core/warning.h>

/// Short names and printing of libtorch.
namespace halfgrad {

// --- Short names of dtypes ---
inline constexpr DType kU8 = kUInt8, kI8 = kInt8, kI16 = kInt16, kI32 = kInt32, kI64 = kInt64;
inline constexpr DType kF16 = kFloat16, kF32 = kFloat32, kF64 = kFloat64;

namespace autograd {
using tensor_list = std::vector<Tensor>;
}  // namespace autograd

/// The indices of the elements other than 0: an int64 vector for each dimension. A tensor without
/// dimensions counts as one of shape [1]. The host waits for the device.
inline std::vector<Tensor> where(const Tensor& condition) {
  return (condition.dim() == 0 ? condition.reshape({1}) : condition).nonzero().unbind(1);
}
inline std::vector<Tensor> nonzero_numpy(const Tensor& self) { return where(self); }
/// The elements in row-major order, [numel]: a view if the strides allow it.
inline Tensor ravel(const Tensor& self) { return self.reshape({-1}); }

/// Prints [1, 2, 3].
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> values) {
  return out << '[' << Join(", ", values) << ']';
}

}  // namespace halfgrad

// libtorch puts this operator there, too, so that templates of any namespace find it.
namespace std {  // NOLINT(cert-dcl58-cpp)

/// Prints 1 2 3, and "..." instead of what follows the first 100 elements.
template <class T>
requires is_arithmetic_v<T> ostream& operator<<(ostream& out, const vector<T>& values) {
  constexpr size_t limit = 100;
  for (size_t i = 0; i < min(limit, values.size()); ++i) out << (i > 0 ? " " : "") << values[i];
  return values.size() > limit ? out << " ..." : out;
}

/// Prints texts, separated by spaces.
inline ostream& operator<<(ostream& out, const vector<string>& texts) {
  return out << halfgrad::Join(" ", texts);
}

}  // namespace std

/// Prints the parts as a warning on std::cerr, as libtorch does.
#define TORCH_WARN(...) ::halfgrad::detail::warn(::halfgrad::str(__VA_ARGS__))
/// TORCH_WARN in the first call at this place of the program only.
#define TORCH_WARN_ONCE(...)                                          \
  do {                                                                \
    static const bool torch_warned = (TORCH_WARN(__VA_ARGS__), true); \
    static_cast<void>(torch_warned);                                  \
  } while (false)
