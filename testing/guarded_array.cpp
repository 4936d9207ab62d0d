#include <halfgrad/testing/guarded_array.h>

#include <algorithm>
#include <cstring>

#include <halfgrad/core/stream.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/shared_memory.h>

namespace halfgrad::testing {
namespace {

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

/// Spreads the bits of x, by the finalizer of MurmurHash3.
std::size_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return static_cast<std::size_t>(x ^ (x >> 33));
}

/// Offset in bytes of an array's first element in its pages, of which it has at least one.
std::size_t offset_in_pages(Layout layout, std::size_t bytes, std::size_t pages, std::size_t item,
                            Placement placement) {
  constexpr std::size_t kAlignment = 64, kVector = 16, kVectors = kAlignment / kVector;
  switch (layout) {
    case Layout::misaligned: {
      if (placement.round >= kOneMisaligned) {
        return placement.array == placement.round - kOneMisaligned ? item : 0;
      }
      // Every array has every offset in `places` rounds. Which offsets meet is drawn by `turn`.
      const std::size_t places = kVector / item, turn = placement.round / places;
      const std::size_t start =
          turn == 0 ? placement.array + 1 : mixed(turn * 64 + placement.array);
      // The multiple of 16 bytes shows a kernel that needs 32 or 64.
      const std::size_t vector = (turn + placement.array) % kVectors;
      return (placement.round + start) % places * item + vector * kVector;
    }
    case Layout::page_end:
      return pages - bytes;
    default:
      return placement.round % 2 == 0 ? 0 : (pages - bytes) / kAlignment * kAlignment;
  }
}

}  // namespace

const char* name(Layout layout) {
  constexpr const char* names[] = {"contiguous",   "misaligned", "padded rows",
                                   "every second", "transposed", "page end"};
  return names[static_cast<int>(layout)];
}

GuardedArray::GuardedArray(const Shape& sizes, DType dtype, Layout layout, std::uint8_t guard,
                           Device device, Placement placement)
    : guard_(guard) {
  const Shape strides = strides_for(layout, sizes);
  const auto item = static_cast<std::size_t>(item_size(dtype));
  const auto bytes = static_cast<std::size_t>(extent(sizes, strides)) * item;
  const std::size_t page = page_bytes();
  constexpr std::size_t kLargestOffset = 64;
  const std::size_t slack = layout == Layout::misaligned ? kLargestOffset : 1;
  const std::size_t pages = (bytes + slack + page - 1) / page * page;
  const std::size_t before = page + offset_in_pages(layout, bytes, pages, item, placement);
  const std::size_t all = pages + 2 * page;
  std::byte* const block = SharedMemory::instance().allocate(all);
  std::memset(block, guard_, all);
  const Array host = Array::from_blob(block, {static_cast<std::int64_t>(all / item)}, {1}, dtype,
                                      [block] { SharedMemory::instance().free(block); });
  storage_ = host.to(device);
  view_ = storage_.as_strided(sizes, strides, static_cast<std::int64_t>(before / item));
}

/// Calls f(first, count) for the runs of adjacent elements, in row-major order, by storage index.
template <class F>
void GuardedArray::each_run(const F& f) const {
  const Shape& sizes = view_.sizes();
  const std::int64_t count = view_.numel();
  if (view_.is_contiguous()) {
    if (count > 0) f(view_.storage_offset(), count);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = view_.storage_offset();
    for (int dim = sizes.size() - 1; dim >= 0; --dim) {
      at += rest % sizes[dim] * view_.strides()[dim];
      rest /= sizes[dim];
    }
    f(at, 1);
  }
}

void GuardedArray::store(const Array& host) {
  if (storage_.device() != host.device()) storage_.copy_(host);
}

void GuardedArray::set(const std::vector<double>& values) {
  const Array typed = tensor_of(values, {view_.numel()}).array().to(view_.dtype());
  const auto bytes = static_cast<std::size_t>(typed.numel() * item_size(typed.dtype()));
  set_bytes({typed.data(), typed.data() + bytes});
}

void GuardedArray::set_bytes(const std::vector<std::byte>& bytes) {
  const Array host = this->host();
  const auto item = static_cast<std::int64_t>(item_size(view_.dtype()));
  const std::byte* from = bytes.data();
  each_run([&](std::int64_t first, std::int64_t count) {
    std::memcpy(host.data() + first * item, from, static_cast<std::size_t>(count * item));
    from += count * item;
  });
  store(host);
}

void GuardedArray::fill_bytes(std::uint8_t byte) {
  const Array host = this->host();
  const auto item = static_cast<std::int64_t>(item_size(view_.dtype()));
  each_run([&](std::int64_t first, std::int64_t count) {
    std::memset(host.data() + first * item, byte, static_cast<std::size_t>(count * item));
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
  bytes.reserve(static_cast<std::size_t>(view_.numel() * item));
  each_run([&](std::int64_t first, std::int64_t count) {
    bytes.insert(bytes.end(), host.data() + first * item, host.data() + (first + count) * item);
  });
  return bytes;
}

std::optional<std::int64_t> GuardedArray::touched_guard() const {
  const Array host = this->host();
  const auto item = static_cast<std::int64_t>(item_size(view_.dtype()));
  const auto is_guard = [this](std::byte b) { return b == std::byte{guard_}; };
  const auto all_guard = [&](const std::byte* first, const std::byte* end) {
    return is_guard(*first) &&
           std::memcmp(first, first + 1, static_cast<std::size_t>(end - first) - 1) == 0;
  };
  std::int64_t from = 0;
  std::optional<std::int64_t> touched;
  // Compares [from, until), in elements of the storage.
  const auto compare = [&](std::int64_t until) {
    if (touched || until <= from) return;
    const std::byte* const first = host.data() + from * item;
    const std::byte* const end = host.data() + until * item;
    if (all_guard(first, end)) return;
    const std::byte* const found = std::find_if_not(first, end, is_guard);
    touched = (found - host.data()) / item - view_.storage_offset();
  };
  std::vector<std::int64_t> elements;  // the first of each run, in the order of memory
  std::int64_t length = 0;
  each_run([&](std::int64_t first, std::int64_t count) {
    elements.push_back(first);
    length = count;
  });
  std::sort(elements.begin(), elements.end());
  for (const std::int64_t first : elements) {
    compare(first);
    from = first + length;
  }
  compare(host.numel());
  return touched;
}

}  // namespace halfgrad::testing
