#pragma once

#include <cstdint>

/// The C structures of DLPack 1.1 (dmlc.github.io/dlpack), with which frameworks exchange tensors
/// without copying. Their layout equals that of dlpack.h, so pointers may be cast between the two.
namespace halfgrad::io::dlpack {

/// The version of DLPack that an exporter follows.
struct Version {
  std::uint32_t major, minor;
};

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3 };

/// A device: a DeviceType and an index.
struct Device {
  std::int32_t type, id;
};

enum TypeCode : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };
inline constexpr std::uint8_t kLastTypeCode = 17;  // the last code of version 1.1: float4

/// A dtype: a TypeCode, the bits of an element, and 1 lane, or more for vector types.
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

/// A strided array in memory that somebody else owns. sizes[i] is called shape[i].
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null before version 1.2: row-major
  std::uint64_t byte_offset;
};

inline constexpr std::uint64_t kReadOnly = 1;

/// A tensor with a deleter. Python passes it in a capsule named "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  Tensor dl_tensor;
};

/// The structure before version 1.0. Python passes it in a capsule named "dltensor".
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);
};

static_assert(sizeof(Tensor) == 48 && sizeof(ManagedTensorVersioned) == 80 &&
              sizeof(ManagedTensor) == 64);

}  // namespace halfgrad::io::dlpack
