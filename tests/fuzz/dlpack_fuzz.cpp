// libFuzzer target: checked_view must refuse a structure of any numbers, or lay its elements within
// memory, apart from each other unless it says otherwise. Built and run by tools/fuzz.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>

#include <halfgrad/io/dlpack_view.h>

int halfgrad::cuda::device_count() { return 2; }
void halfgrad::Device::refuse_index(int) { __builtin_trap(); }  // was to be refused before

namespace {

using namespace halfgrad;

/// What the fuzzer chooses.
struct Numbers {
  io::dlpack::DataType dtype;
  io::dlpack::Device device;
  std::int32_t ndim;
  std::uint64_t data, byte_offset;
  std::int64_t shape[kMaxDims], strides[kMaxDims];
  std::uint8_t has_strides, has_shape;
};

/// The place of each element, in elements.
void walk(const io::detail::DlpackView& view, int dim, std::int64_t at,
          std::multiset<std::int64_t>& places) {
  if (dim == view.sizes.size()) {
    places.insert(at);
    return;
  }
  for (std::int64_t i = 0; i < view.sizes[dim]; ++i) {
    walk(view, dim + 1, at + i * view.strides[dim], places);
  }
}

void check(const io::detail::DlpackView& view) {
  if (numel(view.sizes) == 0 || numel(view.sizes) > 1000) return;
  std::multiset<std::int64_t> places;
  walk(view, 0, 0, places);
  const auto first = reinterpret_cast<std::uintptr_t>(view.data);
  std::uintptr_t bytes = 0, end = 0;
  if (first == 0 || *places.begin() != 0 ||
      __builtin_mul_overflow(*places.rbegin() + 1, item_size(view.dtype), &bytes) ||
      __builtin_add_overflow(first, bytes, &end)) {
    __builtin_trap();
  }
  const std::set<std::int64_t> different(places.begin(), places.end());
  if (!view.overlaps && different.size() != places.size()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Numbers numbers{};
  std::memcpy(&numbers, bytes, std::min(size, sizeof(numbers)));
  const io::dlpack::Tensor tensor{.data = reinterpret_cast<void*>(numbers.data),
                                  .device = numbers.device,
                                  .ndim = numbers.ndim,
                                  .dtype = numbers.dtype,
                                  .shape = numbers.has_shape & 1 ? nullptr : numbers.shape,
                                  .strides = numbers.has_strides & 1 ? numbers.strides : nullptr,
                                  .byte_offset = numbers.byte_offset};
  try {
    check(io::detail::checked_view(tensor));
  } catch (const files::FormatError&) {
  }
  return 0;
}
