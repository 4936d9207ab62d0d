#pragma once

#include <concepts>
#include <optional>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>

namespace halfgrad {

/// The dtype of new tensors of floating-point values, of the parameters of new layers, if their
/// options name none, and of integers that an op makes floating-point: float32 at first, and the
/// same in all threads, as in libtorch. Throws std::invalid_argument for a dtype that is not
/// floating-point.
void set_default_dtype(DType dtype);
DType get_default_dtype();

/// Properties of a new tensor: `randn({2, 3}, {.dtype = kHalf, .requires_grad = true})`. libtorch's
/// chains, `dtype(kHalf).requires_grad(true)`, are in compat/tensor_options.h and convert to it.
struct CreationOptions {
  std::optional<DType> dtype =
      std::nullopt;  ///< when absent get_default_dtype(), or as the function says
  std::optional<Device> device = std::nullopt;  ///< when absent get_default_device()
  bool requires_grad = false;
};

namespace detail {

/// libtorch's short form: `zeros({2}, kHalf)` for `{.dtype = kHalf}`, and `zeros({2}, kCUDA)` or a
/// Device for `{.device = ...}`.
template <class T>
concept OneOption =
    std::same_as<T, DType> || std::same_as<T, Device> || std::same_as<T, DeviceType>;

template <OneOption T>
CreationOptions only(T option) {
  if constexpr (std::same_as<T, DType>) {
    return {.dtype = option};
  } else {
    return {.device = Device(option)};
  }
}

}  // namespace detail
}  // namespace halfgrad
