#include <halfgrad/core/elementwise.h>

#include <algorithm>
#include <cstring>

#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

constexpr int kMaxInputs = 5;

// In-place work must not be split where a tile would be read after another has overwritten it:
// `out` is either an operand element for element, or a stranger, so tiles stay independent.
template <class F>
void for_each_tile(std::int64_t n, const F& f) {
  parallel_for(0, n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kTile) f(at, std::min(kTile, end - at));
  });
}

template <class T>
void copy_as(const Array& target, const Array& source) {
  const TileWriter writer(target);
  const TileReader reader(source, target.sizes());
  for_each_tile(target.numel(), [&](std::int64_t at, std::int64_t n) {
    T scratch[kTile];
    T* const out = writer.target(at, scratch);
    const T* const in = reader.read(at, n, out);
    if (in != out && out != scratch) {
      std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(T));
    } else {
      writer.commit(at, n, in);
    }
  });
}

}  // namespace

template <class T>
void run_tiles(TileKernel<T> kernel, const void* f, const Array& out, const Array* const* in,
               int inputs) {
  const TileWriter writer(out);
  const auto reader = [&](int i) { return TileReader(*in[i < inputs ? i : 0], out.sizes()); };
  const TileReader readers[kMaxInputs] = {reader(0), reader(1), reader(2), reader(3), reader(4)};
  for_each_tile(out.numel(), [&](std::int64_t at, std::int64_t n) {
    alignas(64) T scratch[kMaxInputs + 1][kTile];
    const T* operands[kMaxInputs];
    for (int i = 0; i < inputs; ++i) operands[i] = readers[i].read(at, n, scratch[i]);
    T* const result = writer.target(at, scratch[kMaxInputs]);
    kernel(f, result, operands, n);
    writer.commit(at, n, result);
  });
}

template void run_tiles(TileKernel<double>, const void*, const Array&, const Array* const*, int);
template void run_tiles(TileKernel<float>, const void*, const Array&, const Array* const*, int);
template void run_tiles(TileKernel<std::int64_t>, const void*, const Array&, const Array* const*,
                        int);

void copy(const Array& target, const Array& source) {
  if (target.numel() == 0) return;
  if (target.dtype() == source.dtype() && target.is_contiguous() && source.is_contiguous()) {
    std::memmove(target.data(), source.data(),
                 static_cast<std::size_t>(target.numel() * item_size(target.dtype())));
    return;
  }
  visit(source.dtype(), [&](auto tag) {
    copy_as<compute_t<typename decltype(tag)::type>>(target, source);
  });
}

void fill(const Array& target, double value) {
  const TileWriter writer(target);
  for_each_tile(target.numel(), [&](std::int64_t at, std::int64_t n) {
    double scratch[kTile];
    double* const out = writer.target(at, scratch);
    std::fill_n(out, n, value);
    writer.commit(at, n, out);
  });
}

}  // namespace halfgrad::detail
