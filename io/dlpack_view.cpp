#include <halfgrad/io/dlpack_view.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <halfgrad/files/checked_size.h>
#include <halfgrad/io/dlpack_types.h>

namespace halfgrad::io::detail {
namespace {

using files::FormatCode;

DType checked_dtype(dlpack::DataType type) {
  const auto dtype = dtype_of_dlpack(type);
  if (dtype) return *dtype;
  fail_dlpack(
      type.code > dlpack::kLastTypeCode ? FormatCode::unknown_dtype : FormatCode::no_such_dtype,
      offsetof(dlpack::Tensor, dtype),
      "float64, 32 or 16, bfloat16, int64, 32, 16 or 8, uint8 or bool",
      "code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
          std::to_string(type.lanes) + " lanes");
}

Device checked_device(dlpack::Device device) {
  if (device.type == dlpack::kCpu || device.type == dlpack::kCudaHost) return kCPU;
  if (device.type == dlpack::kCuda && device.id >= 0 && device.id < cuda::device_count()) {
    return Device(kCUDA, device.id);
  }
  fail_dlpack(
      FormatCode::no_such_device, offsetof(dlpack::Tensor, device),
      "memory that this process can use",
      "device type " + std::to_string(device.type) + ", index " + std::to_string(device.id));
}

Shape checked_sizes(const dlpack::Tensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxDims || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    fail_dlpack(FormatCode::bad_shape, offsetof(dlpack::Tensor, ndim),
                "0 to " + std::to_string(kMaxDims) + " dimensions, and their sizes",
                std::to_string(tensor.ndim));
  }
  const Shape sizes(tensor.shape, tensor.ndim);
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; })) {
    fail_dlpack(FormatCode::bad_shape, offsetof(dlpack::Tensor, shape), "sizes of at least 0",
                to_string(sizes));
  }
  const std::vector<std::uint64_t> counts(sizes.begin(), sizes.end());
  if (!files::checked_size(counts, tensor.dtype.bits / 8)) {
    fail_dlpack(FormatCode::size_overflow, offsetof(dlpack::Tensor, shape),
                "a shape of fewer than 2^63 bytes", to_string(sizes));
  }
  return sizes;
}

Shape checked_strides(const dlpack::Tensor& tensor, const Shape& sizes) {
  if (tensor.strides == nullptr) return contiguous_strides(sizes);
  const Shape strides(tensor.strides, tensor.ndim);
  if (std::ranges::any_of(strides, [](std::int64_t stride) { return stride < 0; })) {
    fail_dlpack(FormatCode::bad_shape, offsetof(dlpack::Tensor, strides), "strides of at least 0",
                to_string(strides), "copy it to row-major memory first");
  }
  std::int64_t extent = 0;
  for (int i = 0; i < sizes.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(strides[i], std::max<std::int64_t>(sizes[i], 1) - 1, &reach) ||
        __builtin_add_overflow(extent, reach, &extent) || extent > INT64_MAX / 16) {
      fail_dlpack(FormatCode::size_overflow, offsetof(dlpack::Tensor, strides),
                  "an extent of fewer than 2^63 bytes", to_string(strides));
    }
  }
  return strides;
}

/// Conservative test: with dimensions sorted by stride, each stride must exceed the extent of all
/// smaller dimensions.
bool may_overlap(const Shape& sizes, const Shape& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, size
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) steps.emplace_back(strides[i], sizes[i]);
  }
  std::ranges::sort(steps);
  std::int64_t covered = 0;  // distance from the first to the last element of the dimensions so far
  for (const auto& [stride, size] : steps) {
    if (stride <= covered) return true;
    covered += stride * (size - 1);
  }
  return false;
}

/// Returns the address of the first element; checks that the last one is within the address space.
void* checked_address(const dlpack::Tensor& tensor, const DlpackView& view) {
  if (tensor.data == nullptr) {
    fail_dlpack(FormatCode::bad_offsets, offsetof(dlpack::Tensor, data), "data", "null");
  }
  const auto item = static_cast<std::uint64_t>(item_size(view.dtype));
  std::uint64_t last = 0;
  for (int i = 0; i < view.sizes.size(); ++i) last += (view.sizes[i] - 1) * view.strides[i];
  auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(address, tensor.byte_offset, &address) ||
      __builtin_add_overflow(address, (last + 1) * item, &end)) {
    fail_dlpack(FormatCode::bad_offsets, offsetof(dlpack::Tensor, byte_offset),
                "elements within the address space",
                "an offset of " + std::to_string(tensor.byte_offset) + " bytes");
  }
  if (address % item != 0) {
    fail_dlpack(FormatCode::bad_offsets, offsetof(dlpack::Tensor, byte_offset),
                "an address divisible by the elements' size", "a misaligned one",
                "copy it to aligned memory first");
  }
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

DlpackView checked_view(const dlpack::Tensor& tensor) {
  DlpackView view{.data = nullptr,
                  .sizes = {},
                  .strides = {},
                  .dtype = checked_dtype(tensor.dtype),
                  .device = checked_device(tensor.device),
                  .overlaps = false};
  view.sizes = checked_sizes(tensor);
  if (numel(view.sizes) == 0) return view;
  view.strides = checked_strides(tensor, view.sizes);
  view.overlaps = may_overlap(view.sizes, view.strides);
  view.data = checked_address(tensor, view);
  return view;
}

void fail_dlpack(files::FormatCode code, std::uint64_t offset, const std::string& expected,
                 const std::string& got, const std::string& fix) {
  throw files::FormatError("from_dlpack", "a DLPack tensor", {code, offset, expected, got, fix});
}

}  // namespace halfgrad::io::detail
