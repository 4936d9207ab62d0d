#include <halfgrad/core/cuda/kernels/sort.h>

#include <cub/device/device_radix_sort.cuh>

#include <halfgrad/core/cuda/engines/launch.h>

namespace halfgrad::detail {

void sort_pairs_on_cuda(const char* op, const Array& keys, const Array& values,
                        const Array& sorted_keys, const Array& sorted_values, int bits) {
  if (keys.numel() == 0) return;
  const Launch launch(keys, op);
  std::size_t bytes = 0;
  const auto sort = [&](void* scratch) {
    launch.check(cub::DeviceRadixSort::SortPairs(
                     scratch, bytes, keys.data_as<const std::uint64_t>(),
                     sorted_keys.data_as<std::uint64_t>(), values.data_as<const std::int64_t>(),
                     sorted_values.data_as<std::int64_t>(), keys.numel(), 0, bits, launch.stream()),
                 "a radix sort");
  };
  sort(nullptr);  // only sets `bytes`
  const auto size = static_cast<std::int64_t>(bytes);
  const Array scratch = Array::empty({size}, DType::u8, keys.device());
  sort(scratch.data());
}

}  // namespace halfgrad::detail
