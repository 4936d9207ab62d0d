#include <halfgrad/core/engines/tile.h>

#include <algorithm>

#include <halfgrad/core/numbers/convert.h>

namespace halfgrad::detail {

namespace {

template <class S, class T>
void load_run(const S* source, std::int64_t stride, T* target, std::int64_t n) {
  if (stride == 0) {
    std::fill_n(target, n, convert<T>(*source));
    return;
  }
  if constexpr (std::is_same_v<T, float> &&
                (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>)) {
    if (stride == 1) {
      widen(source, target, n);
      return;
    }
  }
  for (std::int64_t i = 0; i < n; ++i) target[i] = convert<T>(source[i * stride]);
}

template <class T, class D>
void store_run(const T* source, D* target, std::int64_t stride, std::int64_t n) {
  if constexpr (std::is_same_v<T, float> &&
                (std::is_same_v<D, Half> || std::is_same_v<D, BFloat16>)) {
    if (stride == 1) {
      narrow(source, target, n);
      return;
    }
  }
  for (std::int64_t i = 0; i < n; ++i) target[i * stride] = convert<D>(source[i]);
}

}  // namespace

template <class T>
const T* TileView::read(std::int64_t begin, std::int64_t n, T* scratch) const {
  if (n == 0) return scratch;
  if (dtype_ == dtype_of<T>() && strides_.contiguous()) {
    return reinterpret_cast<const T*>(data_) + begin;
  }
  if (dtype_ == dtype_of<T>()) {
    if (const auto offset = strides_.offset_of_run(begin, n)) {
      return reinterpret_cast<const T*>(data_) + *offset;
    }
  }
  visit(dtype_, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const auto* const source = reinterpret_cast<const S*>(data_);
    strides_.for_each_run(
        begin, n,
        [&](std::int64_t offset, std::int64_t stride, std::int64_t at, std::int64_t count) {
          load_run(source + offset, stride, scratch + (at - begin), count);
        });
  });
  return scratch;
}

template <class T>
void TileView::commit(std::int64_t begin, std::int64_t n, const T* values) const {
  if (n == 0 || (dtype_ == dtype_of<T>() && strides_.contiguous())) return;
  visit(dtype_, [&](auto tag) {
    using D = typename decltype(tag)::type;
    auto* const target = reinterpret_cast<D*>(data_);
    strides_.for_each_run(
        begin, n,
        [&](std::int64_t offset, std::int64_t stride, std::int64_t at, std::int64_t count) {
          store_run(values + (at - begin), target + offset, stride, count);
        });
  });
}

template const double* TileView::read(std::int64_t, std::int64_t, double*) const;
template const float* TileView::read(std::int64_t, std::int64_t, float*) const;
template const std::int64_t* TileView::read(std::int64_t, std::int64_t, std::int64_t*) const;
template const Half* TileView::read(std::int64_t, std::int64_t, Half*) const;
template const BFloat16* TileView::read(std::int64_t, std::int64_t, BFloat16*) const;
template void TileView::commit(std::int64_t, std::int64_t, const Half*) const;
template void TileView::commit(std::int64_t, std::int64_t, const BFloat16*) const;
template void TileView::commit(std::int64_t, std::int64_t, const double*) const;
template void TileView::commit(std::int64_t, std::int64_t, const float*) const;
template void TileView::commit(std::int64_t, std::int64_t, const std::int64_t*) const;

}  // namespace halfgrad::detail
