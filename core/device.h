#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include <halfgrad/core/language.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad {

// NOLINTNEXTLINE(readability-identifier-naming): libtorch's names
enum class DeviceType : std::uint8_t { cpu, cuda, CPU = cpu, CUDA = cuda };
/// Prints "cpu" or "cuda".
std::ostream& operator<<(std::ostream& out, DeviceType type);

inline constexpr DeviceType kCPU = DeviceType::cpu;
inline constexpr DeviceType kCUDA = DeviceType::cuda;

/// A device that holds arrays: the host ("cpu") or one GPU ("cuda", "cuda:1"). Device(kCPU, 1) is a
/// second, separate device in host memory. Tests use it to find ops that mix devices, without a
/// GPU.
class Device {
 public:
  using Type = DeviceType;

  /// -1 is libtorch's index of the CPU, and means 0. Throws std::invalid_argument for another
  /// negative index, and for one of a GPU.
  constexpr Device(DeviceType type = DeviceType::cpu, int index = 0)
      : type_(type), index_(type == DeviceType::cpu && index == -1 ? 0 : index) {
    if (index_ < 0) refuse_index(index);
  }

  /// Parses "cpu", "cuda" or "cuda:N"; throws std::invalid_argument on anything else.
  explicit Device(std::string_view text);

  constexpr DeviceType type() const { return type_; }
  constexpr int index() const { return index_; }
  /// False for "cpu" alone: "cuda" is "cuda:0".
  constexpr bool has_index() const { return is_cuda() || index_ != 0; }
  constexpr bool is_cpu() const { return type_ == DeviceType::cpu; }
  constexpr bool is_cuda() const { return type_ == DeviceType::cuda; }
  std::string str() const;

  /// Prints str().
  friend std::ostream& operator<<(std::ostream& out, Device device);

  friend constexpr bool operator==(Device, Device) = default;
  /// Orders by type, then by index, so that devices can be keys of a map.
  // NOLINTNEXTLINE(modernize-use-nullptr): the generated comparison uses a literal 0
  friend constexpr auto operator<=>(Device, Device) = default;

 private:
  [[noreturn]] static void refuse_index(int index);

  DeviceType type_;
  int index_;
};

namespace cuda {

/// True when this build has CUDA kernels and the machine has a GPU they can run on.
bool is_available();

/// Number of GPUs that this process can use; 0 without a CUDA build, a driver or a GPU. The first
/// result is cached.
int device_count();

/// Reason why is_available() is false, for users ("this build has no CUDA backend"); empty if it is
/// true.
std::string why_unavailable();

/// Index of the GPU that plain CUDA calls of this thread use. Work on an array always goes to the
/// array's own device. Throws std::runtime_error without a GPU.
int current_device();
/// Throws std::invalid_argument unless 0 <= index < device_count().
void set_device(int index);

}  // namespace cuda

/// Makes a GPU the current device of this thread until the end of the scope. Does nothing for the
/// CPU.
class DeviceGuard {
 public:
  [[nodiscard]] explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  std::optional<detail::GuardedValue<int>> index_;  // empty if there is nothing to restore
};

}  // namespace halfgrad

template <>
struct std::hash<halfgrad::Device> {
  std::size_t operator()(halfgrad::Device device) const noexcept {
    constexpr std::size_t kTypes = 2;
    return static_cast<std::size_t>(device.index()) * kTypes +
           static_cast<std::size_t>(device.type());
  }
};
