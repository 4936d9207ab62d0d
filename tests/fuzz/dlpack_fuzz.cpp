// libFuzzer target: checked_view must refuse an arbitrary structure, or return a view whose
// elements are within the address space and do not overlap unless it says so. Built and run by
// tools/fuzz.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>

#include <halfgrad/io/dlpack_view.h>

int halfgrad::cuda::device_count() { return 2; }
void halfgrad::Device::refuse_index(int) { __builtin_trap(); }  // checked_view refuses it earlier

namespace {

using namespace halfgrad;

/// The values that the fuzzer chooses.
struct Description {
  io::dlpack::DataType dtype;
  io::dlpack::Device device;
  std::int32_t ndim;
  std::uint64_t data, byte_offset;
  std::int64_t shape[kMaxDims], strides[kMaxDims];
  std::uint8_t has_strides, has_shape;
};

/// Collects the offset of each element, counted in elements.
void walk(const io::detail::DlpackView& view, int dim, std::int64_t at,
          std::multiset<std::int64_t>& offsets) {
  if (dim == view.sizes.size()) {
    offsets.insert(at);
    return;
  }
  for (std::int64_t i = 0; i < view.sizes[dim]; ++i) {
    walk(view, dim + 1, at + i * view.strides[dim], offsets);
  }
}

void check(const io::detail::DlpackView& view) {
  if (numel(view.sizes) == 0 || numel(view.sizes) > 1000) return;
  std::multiset<std::int64_t> offsets;
  walk(view, 0, 0, offsets);
  const auto first = reinterpret_cast<std::uintptr_t>(view.data);
  std::uintptr_t bytes = 0, end = 0;
  if (first == 0 || *offsets.begin() != 0 ||
      __builtin_mul_overflow(*offsets.rbegin() + 1, item_size(view.dtype), &bytes) ||
      __builtin_add_overflow(first, bytes, &end)) {
    __builtin_trap();
  }
  const std::set<std::int64_t> different(offsets.begin(), offsets.end());
  if (!view.overlaps && different.size() != offsets.size()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  Description chosen{};
  std::memcpy(&chosen, bytes, std::min(size, sizeof(chosen)));
  const io::dlpack::Tensor tensor{.data = reinterpret_cast<void*>(chosen.data),
                                  .device = chosen.device,
                                  .ndim = chosen.ndim,
                                  .dtype = chosen.dtype,
                                  .shape = chosen.has_shape & 1 ? nullptr : chosen.shape,
                                  .strides = chosen.has_strides & 1 ? chosen.strides : nullptr,
                                  .byte_offset = chosen.byte_offset};
  try {
    check(io::detail::checked_view(tensor));
  } catch (const files::FormatError&) {
  }
  return 0;
}
