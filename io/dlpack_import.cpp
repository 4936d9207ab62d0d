#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include <halfgrad/files/checked_size.h>
#include <halfgrad/io/dlpack.h>
#include <halfgrad/io/dlpack_types.h>

namespace halfgrad::io {
namespace {

using files::FormatCode;

/// Fails at a member of a structure.
[[noreturn]] void fail(FormatCode code, std::uint64_t offset, const std::string& expected,
                       const std::string& got, const std::string& fix = {}) {
  throw files::FormatError("from_dlpack", "a DLPack tensor", {code, offset, expected, got, fix});
}

/// A tensor as it was described, once that is found to make sense.
struct View {
  void* data;
  Shape sizes, strides;
  DType dtype;
  Device device;
  bool overlaps;  ///< some elements are one and the same number
};

DType checked_dtype(dlpack::DataType type) {
  const auto dtype = detail::dtype_of_dlpack(type);
  if (dtype) return *dtype;
  fail(type.code > dlpack::kLastTypeCode ? FormatCode::unknown_dtype : FormatCode::no_such_dtype,
       offsetof(dlpack::Tensor, dtype), "float64, 32 or 16, bfloat16, int64 or 32, uint8 or bool",
       "code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
           std::to_string(type.lanes) + " lanes");
}

Device checked_device(dlpack::Device device) {
  if (device.type == dlpack::kCpu || device.type == dlpack::kCudaHost) return kCPU;
  if (device.type == dlpack::kCuda && device.id >= 0 && device.id < cuda::device_count()) {
    return Device(kCUDA, device.id);
  }
  fail(FormatCode::no_such_device, offsetof(dlpack::Tensor, device),
       "memory that this process can use",
       "device type " + std::to_string(device.type) + ", number " + std::to_string(device.id));
}

Shape checked_sizes(const dlpack::Tensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxDims || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    fail(FormatCode::bad_shape, offsetof(dlpack::Tensor, ndim),
         "0 to " + std::to_string(kMaxDims) + " dimensions, and their sizes",
         std::to_string(tensor.ndim));
  }
  const Shape sizes(tensor.shape, tensor.ndim);
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; })) {
    fail(FormatCode::bad_shape, offsetof(dlpack::Tensor, shape), "sizes from 0 on",
         to_string(sizes));
  }
  const std::vector<std::uint64_t> counts(sizes.begin(), sizes.end());
  if (!files::checked_size(counts, tensor.dtype.bits / 8)) {
    fail(FormatCode::size_overflow, offsetof(dlpack::Tensor, shape),
         "a shape of fewer than 2^63 bytes", to_string(sizes));
  }
  return sizes;
}

Shape checked_strides(const dlpack::Tensor& tensor, const Shape& sizes) {
  if (tensor.strides == nullptr) return contiguous_strides(sizes);
  const Shape strides(tensor.strides, tensor.ndim);
  if (std::ranges::any_of(strides, [](std::int64_t stride) { return stride < 0; })) {
    fail(FormatCode::bad_shape, offsetof(dlpack::Tensor, strides), "strides from 0 on",
         to_string(strides), "copy it to row-major memory first");
  }
  std::int64_t extent = 0;
  for (int i = 0; i < sizes.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(strides[i], std::max<std::int64_t>(sizes[i], 1) - 1, &reach) ||
        __builtin_add_overflow(extent, reach, &extent) || extent > INT64_MAX / 16) {
      fail(FormatCode::size_overflow, offsetof(dlpack::Tensor, strides),
           "an extent of fewer than 2^63 bytes", to_string(strides));
    }
  }
  return strides;
}

/// Conservative: sorted by stride, each dimension must step over all of those before.
bool may_overlap(const Shape& sizes, const Shape& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, size
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) steps.emplace_back(strides[i], sizes[i]);
  }
  std::ranges::sort(steps);
  std::int64_t covered = 0;  // from the first element of the dimensions so far to their last
  for (const auto& [stride, size] : steps) {
    if (stride <= covered) return true;
    covered += stride * (size - 1);
  }
  return false;
}

View checked(const dlpack::Tensor& tensor) {
  View view{.data = nullptr,
            .sizes = {},
            .strides = {},
            .dtype = checked_dtype(tensor.dtype),
            .device = checked_device(tensor.device),
            .overlaps = false};
  view.sizes = checked_sizes(tensor);
  if (numel(view.sizes) == 0) return view;
  view.strides = checked_strides(tensor, view.sizes);
  view.overlaps = may_overlap(view.sizes, view.strides);
  if (tensor.data == nullptr) {
    fail(FormatCode::bad_offsets, offsetof(dlpack::Tensor, data), "data", "null");
  }
  view.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  if (reinterpret_cast<std::uintptr_t>(view.data) % item_size(view.dtype) != 0) {
    fail(FormatCode::bad_offsets, offsetof(dlpack::Tensor, byte_offset),
         "an address divisible by the elements' size", "another",
         "copy it to aligned memory first");
  }
  return view;
}

/// `owner` lets go of the memory when its last copy goes.
Tensor import(const dlpack::Tensor& tensor, std::uint64_t flags, std::shared_ptr<void> owner,
              FromDlpackOptions options) {
  const View view = checked(tensor);
  if (view.data == nullptr) return Tensor(Array::empty(view.sizes, view.dtype, view.device));
  if (!options.copy && (flags & dlpack::kReadOnly) != 0) {
    fail(FormatCode::read_only, offsetof(dlpack::ManagedTensorVersioned, flags),
         "memory that may be written", "read-only memory", "import it with {.copy = true}");
  }
  if (!options.copy && view.overlaps) {
    fail(FormatCode::overlap, offsetof(dlpack::Tensor, strides), "elements that lie apart",
         "sizes " + to_string(view.sizes) + " and strides " + to_string(view.strides),
         "import it with {.copy = true}");
  }
  const Array shared = Array::from_blob(
      view.data, view.sizes, view.strides, view.dtype, [owner]() mutable { owner.reset(); },
      view.device);
  return Tensor(options.copy ? shared.clone() : shared);
}

/// Calls a structure's deleter when its last copy goes.
template <class Managed>
std::shared_ptr<void> owner_of(Managed* managed) {
  if (managed == nullptr) {
    throw std::invalid_argument("from_dlpack: expected a tensor, got a null pointer");
  }
  return std::shared_ptr<void>(nullptr, [managed](void*) {
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
}

}  // namespace

Tensor from_dlpack(dlpack::ManagedTensorVersioned* tensor, FromDlpackOptions options) {
  const std::shared_ptr<void> owner = owner_of(tensor);
  if (tensor->version.major != 1) {
    fail(FormatCode::unsupported_version, 0, "DLPack 1",
         std::to_string(tensor->version.major) + "." + std::to_string(tensor->version.minor));
  }
  return import(tensor->dl_tensor, tensor->flags, owner, options);
}

Tensor from_dlpack(dlpack::ManagedTensor* tensor, FromDlpackOptions options) {
  const std::shared_ptr<void> owner = owner_of(tensor);
  return import(tensor->dl_tensor, 0, owner, options);
}

}  // namespace halfgrad::io
