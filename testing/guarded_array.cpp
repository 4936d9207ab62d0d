#include <halfgrad/testing/guarded_array.h>

#include <algorithm>
#include <cstring>

#include <halfgrad/core/stream.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::testing {
namespace {

constexpr std::int64_t kGuard = 64;  // elements on either side: 64 bytes of the smallest dtype

Shape strides_for(Layout layout, const Shape& sizes) {
  Shape in_memory = sizes;
  const int last = sizes.size() - 1;
  if (last >= 0 && layout == Layout::padded_rows) in_memory[last] += 3;
  if (last >= 0 && layout == Layout::every_second) in_memory[last] *= 2;
  if (last >= 1 && layout == Layout::transposed) std::swap(in_memory[last], in_memory[last - 1]);
  Shape strides = contiguous_strides(in_memory);
  if (last >= 0 && layout == Layout::every_second) strides[last] = 2;
  if (last >= 1 && layout == Layout::transposed) std::swap(strides[last], strides[last - 1]);
  return strides;
}

std::int64_t extent(const Shape& sizes, const Shape& strides) {
  if (numel(sizes) == 0) return 0;
  std::int64_t last = 0;
  for (int i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

}  // namespace

const char* name(Layout layout) {
  constexpr const char* names[] = {"contiguous", "misaligned", "padded rows", "every second",
                                   "transposed"};
  return names[static_cast<int>(layout)];
}

GuardedArray::GuardedArray(const Shape& sizes, DType dtype, Layout layout, std::uint8_t guard,
                           Device device)
    : guard_(guard) {
  const Shape strides = strides_for(layout, sizes);
  const std::int64_t offset = kGuard + (layout == Layout::misaligned ? 1 : 0);
  const Array host = Array::empty({offset + extent(sizes, strides) + kGuard}, dtype);
  std::memset(host.data(), guard_, static_cast<std::size_t>(host.numel() * item_size(dtype)));
  storage_ = host.to(device);
  view_ = storage_.as_strided(sizes, strides, offset);
  covered_.resize(static_cast<std::size_t>(host.numel()));
  each_element([&](std::int64_t at) { covered_[static_cast<std::size_t>(at)] = true; });
}

/// Calls f with the storage index of each element, in row-major order.
template <class F>
void GuardedArray::each_element(const F& f) const {
  const Shape& sizes = view_.sizes();
  for (std::int64_t i = 0; i < view_.numel(); ++i) {
    std::int64_t rest = i, at = view_.storage_offset();
    for (int dim = sizes.size() - 1; dim >= 0; --dim) {
      at += rest % sizes[dim] * view_.strides()[dim];
      rest /= sizes[dim];
    }
    f(at);
  }
}

void GuardedArray::store(const Array& host) {
  if (storage_.device() != host.device()) storage_.copy_(host);
}

void GuardedArray::set(const std::vector<double>& values) {
  const Array host = this->host();
  const Array typed = tensor_of(values, {view_.numel()}).array().to(view_.dtype());
  const auto item = static_cast<std::int64_t>(item_size(view_.dtype()));
  std::int64_t i = 0;
  each_element([&](std::int64_t at) {
    std::memcpy(host.data() + at * item, typed.data() + i++ * item, static_cast<std::size_t>(item));
  });
  store(host);
}

void GuardedArray::fill_bytes(std::uint8_t byte) {
  const Array host = this->host();
  const auto item = static_cast<std::int64_t>(item_size(view_.dtype()));
  each_element([&](std::int64_t at) {
    std::memset(host.data() + at * item, byte, static_cast<std::size_t>(item));
  });
  store(host);
}

std::vector<double> GuardedArray::values() const {
  return Tensor(host().as_strided(view_.sizes(), view_.strides(), view_.storage_offset()))
      .to_vector<double>();
}

std::vector<std::byte> GuardedArray::bytes() const {
  const Array host = this->host();
  const auto item = static_cast<std::int64_t>(item_size(view_.dtype()));
  std::vector<std::byte> bytes;
  each_element([&](std::int64_t at) {
    bytes.insert(bytes.end(), host.data() + at * item, host.data() + (at + 1) * item);
  });
  return bytes;
}

std::optional<std::int64_t> GuardedArray::touched_guard() const {
  const Array host = this->host();
  const auto item = static_cast<std::int64_t>(item_size(view_.dtype()));
  for (std::int64_t at = 0; at < host.numel(); ++at) {
    if (covered_[static_cast<std::size_t>(at)]) continue;
    const std::byte* element = host.data() + at * item;
    if (!std::all_of(element, element + item,
                     [&](std::byte b) { return b == std::byte{guard_}; })) {
      return at - view_.storage_offset();
    }
  }
  return std::nullopt;
}

}  // namespace halfgrad::testing
