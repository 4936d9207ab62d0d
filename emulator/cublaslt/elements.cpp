#include <halfgrad/emulator/cublaslt/elements.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>

namespace halfgrad::emulator {
namespace {

template <class T>
struct Plain {
  using Stored = T;
  static double read(T x) { return static_cast<double>(x); }
  static T write(double x) { return static_cast<T>(x); }
};
template <class Format, class T>
struct Small {
  using Stored = T;
  static double read(T x) { return double{widen<Format>(x)}; }
  static T write(double x) { return static_cast<T>(narrow<Format, Rounding::nearest>(x)); }
};
/// fp8 results saturate at the largest finite value.
template <class Format>
struct Byte : Small<Format, std::uint8_t> {
  static std::uint8_t write(double x) {
    return static_cast<std::uint8_t>(narrow<Format, Rounding::nearest>(x, true));
  }
};
struct Int8 : Plain<std::int8_t> {
  static std::int8_t write(double x) {
    return static_cast<std::int8_t>(std::clamp(std::nearbyint(x), -128.0, 127.0));
  }
};
struct Int32 : Plain<std::int32_t> {
  static std::int32_t write(double x) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(x)));
  }
};

/// Calls f(kind) with the struct above that fits the type.
template <class F>
void with_kind(cudaDataType type, F f) {
  switch (type) {
    case CUDA_R_64F:
      return f(Plain<double>{});
    case CUDA_R_32F:
      return f(Plain<float>{});
    case CUDA_R_16F:
      return f(Small<F16, std::uint16_t>{});
    case CUDA_R_16BF:
      return f(Small<BF16, std::uint16_t>{});
    case CUDA_R_8F_E4M3:
      return f(Byte<E4M3>{});
    case CUDA_R_8F_E5M2:
      return f(Byte<E5M2>{});
    case CUDA_R_8I:
      return f(Int8{});
    case CUDA_R_32I:
      return f(Int32{});
    default:
      return;
  }
}

}  // namespace

std::size_t bytes_of_element(cudaDataType type) {
  std::size_t bytes = 0;
  with_kind(type, [&](auto kind) { bytes = sizeof(typename decltype(kind)::Stored); });
  return bytes;
}

void read_elements(const std::byte* from, std::int64_t stride, std::int64_t count,
                   cudaDataType type, double* to, std::int64_t to_stride) {
  with_kind(type, [&](auto kind) {
    using Kind = decltype(kind);
    using Stored = typename Kind::Stored;
    for (std::int64_t i = 0; i < count; ++i) {
      Stored element;
      std::memcpy(&element, from + i * stride * std::int64_t{sizeof(Stored)}, sizeof(Stored));
      to[i * to_stride] = Kind::read(element);
    }
  });
}

void write_elements(const double* from, std::int64_t count, cudaDataType type, std::byte* to,
                    std::int64_t stride, std::int64_t from_stride) {
  with_kind(type, [&](auto kind) {
    using Kind = decltype(kind);
    using Stored = typename Kind::Stored;
    for (std::int64_t i = 0; i < count; ++i) {
      const Stored element = Kind::write(from[i * from_stride]);
      std::memcpy(to + i * stride * std::int64_t{sizeof(Stored)}, &element, sizeof(Stored));
    }
  });
}

}  // namespace halfgrad::emulator
