#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halfgrad {

enum class DeviceType : std::uint8_t { cpu, cuda };

inline constexpr DeviceType kCPU = DeviceType::cpu;
inline constexpr DeviceType kCUDA = DeviceType::cuda;

/// Where numbers live: the host ("cpu"), or one GPU ("cuda", "cuda:1").
class Device {
 public:
  constexpr Device(DeviceType type = DeviceType::cpu, int index = 0) : type_(type), index_(index) {}

  /// Parses "cpu", "cuda" or "cuda:N"; throws std::invalid_argument on anything else.
  explicit Device(std::string_view text);

  constexpr DeviceType type() const { return type_; }
  constexpr int index() const { return index_; }
  constexpr bool is_cpu() const { return type_ == DeviceType::cpu; }
  constexpr bool is_cuda() const { return type_ == DeviceType::cuda; }
  std::string str() const;

  friend constexpr bool operator==(Device, Device) = default;

 private:
  DeviceType type_;
  int index_;
};

namespace cuda {

/// True when this build has CUDA kernels and the machine has a GPU they can run on.
bool is_available();

}  // namespace cuda

}  // namespace halfgrad
