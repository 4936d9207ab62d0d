#include <halfgrad/core/engines/copy.h>

#include <cstring>
#include <type_traits>

#include <halfgrad/core/cuda/kernels/copy.h>
#include <halfgrad/core/engines/tile.h>
#include <halfgrad/core/numbers/convert.h>

namespace halfgrad::detail {
namespace {

bool both_dense(const Array& target, const Array& source) {
  return target.dtype() == source.dtype() && target.is_contiguous() && source.is_contiguous();
}

std::size_t bytes_of(const Array& array) {
  return static_cast<std::size_t>(array.numel() * item_size(array.dtype()));
}

template <class T>
void copy_as(const Array& target, const Array& source) {
  const TileView to(target);
  const TileView from(source, target.sizes());
  for_each_tile(target.numel(), [&](std::int64_t at, std::int64_t n) {
    T scratch[kTile];
    T* const out = to.target(at, scratch);
    const T* const in = from.read(at, n, out);
    if (in != out && out != scratch) {
      std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(T));
    } else {
      to.commit(at, n, in);
    }
  });
}

void copy_on_cpu(const Array& target, const Array& source) {
  if (both_dense(target, source)) {
    std::memmove(target.data(), source.data(), bytes_of(target));
    return;
  }
  visit(source.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>) {
      // Widening would turn a signalling NaN into a quiet one.
      if (target.dtype() == source.dtype()) return copy_as<S>(target, source);
    }
    copy_as<compute_t<S>>(target, source);
  });
}

// Transfers between devices are dense and of one dtype. Other sources are made contiguous on their
// own device, then converted and scattered on the target device.
void copy_between(const Array& target, const Array& source) {
  if (!source.is_contiguous()) {
    copy_between(target, source.contiguous());
  } else if (both_dense(target, source)) {
    transfer(target, source, bytes_of(target));
  } else {
    copy(target, source.to(target.device()));
  }
}

}  // namespace

void copy(const Array& target, const Array& source) {
  if (target.numel() == 0) return;
  if (target.device().is_cpu() && source.device().is_cpu()) {
    copy_on_cpu(target, source);
  } else if (target.device() != source.device()) {
    copy_between(target, source);
  } else if (both_dense(target, source)) {
    transfer(target, source, bytes_of(target));
  } else {
    copy_on_cuda(target, source);
  }
}

namespace {

void set_only_element(const Array& target, Scalar value) {
  visit(target.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    *target.data_as<T>() = value.to<T>();
  });
}

}  // namespace

void fill(const Array& target, Scalar value) {
  if (target.numel() == 0) return;
  const bool here = target.device().is_cpu();
  if (here && target.numel() == 1) return set_only_element(target, value);
  // Converts one element, then broadcasts it.
  const Array one = Array::empty({}, target.dtype());
  set_only_element(one, value);
  if (here) {
    copy_on_cpu(target, one.expand(target.sizes()));
  } else {
    fill_on_cuda(target, one);
  }
}

}  // namespace halfgrad::detail
