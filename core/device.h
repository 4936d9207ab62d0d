#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <halfgrad/core/language.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad {

enum class DeviceType : std::uint8_t { cpu, cuda };

inline constexpr DeviceType kCPU = DeviceType::cpu;
inline constexpr DeviceType kCUDA = DeviceType::cuda;

/// Where numbers live: the host ("cpu"), or one GPU ("cuda", "cuda:1"). Device(kCPU, 1) is a second
/// place on the host that ops keep apart from the first as they do two GPUs: with it tests show,
/// without a GPU, that nothing is put where it does not belong.
class Device {
 public:
  /// Throws std::invalid_argument for a negative index.
  constexpr Device(DeviceType type = DeviceType::cpu, int index = 0) : type_(type), index_(index) {
    if (index < 0) refuse_index(index);
  }

  /// Parses "cpu", "cuda" or "cuda:N"; throws std::invalid_argument on anything else.
  explicit Device(std::string_view text);

  constexpr DeviceType type() const { return type_; }
  constexpr int index() const { return index_; }
  constexpr bool is_cpu() const { return type_ == DeviceType::cpu; }
  constexpr bool is_cuda() const { return type_ == DeviceType::cuda; }
  std::string str() const;

  friend constexpr bool operator==(Device, Device) = default;
  /// By type, then by index, so that devices may be the keys of a map.
  // NOLINTNEXTLINE(modernize-use-nullptr): of the comparisons with 0 that the compiler writes
  friend constexpr auto operator<=>(Device, Device) = default;

 private:
  [[noreturn]] static void refuse_index(int index);

  DeviceType type_;
  int index_;
};

namespace cuda {

/// True when this build has CUDA kernels and the machine has a GPU they can run on.
bool is_available();

/// GPUs this process may use; 0 without a CUDA build, a driver or a GPU. The first answer is kept.
int device_count();

/// Why is_available() is false, in words to show a user ("this build has no CUDA backend"); empty
/// when it is true.
std::string why_unavailable();

/// The GPU that this thread's own CUDA calls go to. Arrays do not depend on it: their work goes to
/// the device they lie on. Throws std::runtime_error without a GPU.
int current_device();
/// Throws std::invalid_argument unless 0 <= index < device_count().
void set_device(int index);

}  // namespace cuda

/// Makes a GPU this thread's current device until the end of the scope; nothing for the CPU.
class DeviceGuard {
 public:
  [[nodiscard]] explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  std::optional<detail::GuardedValue<int>> index_;  // none: nothing to restore
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
