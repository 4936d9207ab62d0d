#pragma once

#include <iosfwd>
#include <string_view>

#include <halfgrad/autograd/creation_options.h>

namespace halfgrad {

/// How a tensor's elements are stored: always with strides here.
enum class Layout { strided };
inline constexpr Layout kStrided = Layout::strided;
/// Prints "Strided".
std::ostream& operator<<(std::ostream& out, Layout layout);

/// The order of a result's elements: always row-major here. libtorch's orders of images are not
/// there.
// NOLINTNEXTLINE(readability-identifier-naming): libtorch's names
enum class MemoryFormat { Contiguous, Preserve };

/// libtorch's chained options: `zeros({2, 3}, dtype(kHalf).device(kCUDA))`, or from a tensor,
/// `zeros({2, 3}, x.options().requires_grad(true))`. Each function returns a changed copy. Converts
/// to CreationOptions, which every function of creation.h takes.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(DType dtype) : options_{.dtype = dtype} {}
  TensorOptions(Device device) : options_{.device = device} {}
  /// "cpu", "cuda" or "cuda:N". Throws std::invalid_argument on anything else.
  explicit TensorOptions(std::string_view device) : TensorOptions(Device(device)) {}

  [[nodiscard]] TensorOptions dtype(DType dtype) const {
    TensorOptions changed = *this;
    changed.options_.dtype = dtype;
    return changed;
  }
  [[nodiscard]] TensorOptions device(Device device) const {
    TensorOptions changed = *this;
    changed.options_.device = device;
    return changed;
  }
  [[nodiscard]] TensorOptions device(DeviceType type, int index) const {
    return device(Device(type, index));
  }
  /// "cpu", "cuda" or "cuda:N". Throws std::invalid_argument on anything else.
  [[nodiscard]] TensorOptions device(std::string_view text) const { return device(Device(text)); }
  [[nodiscard]] TensorOptions layout(Layout /*always kStrided*/) const { return *this; }
  [[nodiscard]] TensorOptions requires_grad(bool requires_grad) const {
    TensorOptions changed = *this;
    changed.options_.requires_grad = requires_grad;
    return changed;
  }

  /// The chosen option, or get_default_dtype() and the CPU, as in libtorch.
  DType dtype() const { return options_.dtype.value_or(get_default_dtype()); }
  Device device() const { return options_.device.value_or(Device()); }
  Layout layout() const { return kStrided; }
  bool requires_grad() const { return options_.requires_grad; }
  bool has_dtype() const { return options_.dtype.has_value(); }
  bool has_device() const { return options_.device.has_value(); }

  operator const CreationOptions&() const { return options_; }

  /// Prints "TensorOptions(dtype=float16, device=cpu, requires_grad=false)".
  friend std::ostream& operator<<(std::ostream& out, const TensorOptions& options);

 private:
  CreationOptions options_;
};

/// The start of a chain: options with one choice.
inline TensorOptions dtype(DType dtype) { return TensorOptions().dtype(dtype); }
inline TensorOptions device(Device device) { return TensorOptions().device(device); }
inline TensorOptions device(std::string_view text) { return TensorOptions().device(text); }
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}

}  // namespace halfgrad
