#include <halfgrad/core/tile.h>

#include <algorithm>

#include <halfgrad/core/convert.h>

namespace halfgrad::detail {

Layout::Layout(const Array& array, const Shape& sizes) {
  const int added = sizes.size() - array.ndim();
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    const bool repeated = i < added || array.sizes()[i - added] == 1;
    const std::int64_t stride = repeated ? 0 : array.strides()[i - added];
    if (dims_ > 0 && strides_[dims_ - 1] == stride * sizes[i]) {
      sizes_[dims_ - 1] *= sizes[i];
      strides_[dims_ - 1] = stride;
    } else {
      sizes_[dims_] = sizes[i];
      strides_[dims_] = stride;
      ++dims_;
    }
  }
}

template <class F>
void Layout::for_each_run(std::int64_t begin, std::int64_t n, const F& f) const {
  if (dims_ == 0) {
    f(0, std::int64_t{1}, begin, n);
    return;
  }
  const int inner = dims_ - 1;
  Shape index = sizes_;
  std::int64_t rest = begin;
  std::int64_t offset = 0;
  for (int i = inner; i >= 0; --i) {
    index[i] = rest % sizes_[i];
    rest /= sizes_[i];
    offset += index[i] * strides_[i];
  }
  const std::int64_t end = begin + n;
  while (true) {
    const std::int64_t count = std::min(sizes_[inner] - index[inner], end - begin);
    f(offset, strides_[inner], begin, count);
    begin += count;
    if (begin == end) return;
    offset -= index[inner] * strides_[inner];
    index[inner] = 0;
    for (int i = inner - 1; i >= 0; --i) {
      offset += strides_[i];
      if (++index[i] < sizes_[i]) break;
      offset -= sizes_[i] * strides_[i];
      index[i] = 0;
    }
  }
}

std::optional<std::int64_t> Layout::offset_of_run(std::int64_t begin, std::int64_t n) const {
  const int inner = dims_ - 1;
  if (strides_[inner] != 1 || begin % sizes_[inner] + n > sizes_[inner]) return std::nullopt;
  std::int64_t offset = 0;
  for (int i = inner; i >= 0; --i) {
    offset += begin % sizes_[i] * strides_[i];
    begin /= sizes_[i];
  }
  return offset;
}

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
const T* TileReader::read(std::int64_t begin, std::int64_t n, T* scratch) const {
  if (n == 0) return scratch;
  if (dtype_ == dtype_of<T>() && layout_.contiguous()) {
    return reinterpret_cast<const T*>(data_) + begin;
  }
  if (dtype_ == dtype_of<T>()) {
    if (const auto offset = layout_.offset_of_run(begin, n)) {
      return reinterpret_cast<const T*>(data_) + *offset;
    }
  }
  visit(dtype_, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const auto* const source = reinterpret_cast<const S*>(data_);
    layout_.for_each_run(
        begin, n,
        [&](std::int64_t offset, std::int64_t stride, std::int64_t at, std::int64_t count) {
          load_run(source + offset, stride, scratch + (at - begin), count);
        });
  });
  return scratch;
}

template <class T>
void TileWriter::commit(std::int64_t begin, std::int64_t n, const T* values) const {
  if (n == 0 || (dtype_ == dtype_of<T>() && layout_.contiguous())) return;
  visit(dtype_, [&](auto tag) {
    using D = typename decltype(tag)::type;
    auto* const target = reinterpret_cast<D*>(data_);
    layout_.for_each_run(
        begin, n,
        [&](std::int64_t offset, std::int64_t stride, std::int64_t at, std::int64_t count) {
          store_run(values + (at - begin), target + offset, stride, count);
        });
  });
}

template const double* TileReader::read(std::int64_t, std::int64_t, double*) const;
template const float* TileReader::read(std::int64_t, std::int64_t, float*) const;
template const std::int64_t* TileReader::read(std::int64_t, std::int64_t, std::int64_t*) const;
template const Half* TileReader::read(std::int64_t, std::int64_t, Half*) const;
template const BFloat16* TileReader::read(std::int64_t, std::int64_t, BFloat16*) const;
template void TileWriter::commit(std::int64_t, std::int64_t, const Half*) const;
template void TileWriter::commit(std::int64_t, std::int64_t, const BFloat16*) const;
template void TileWriter::commit(std::int64_t, std::int64_t, const double*) const;
template void TileWriter::commit(std::int64_t, std::int64_t, const float*) const;
template void TileWriter::commit(std::int64_t, std::int64_t, const std::int64_t*) const;

}  // namespace halfgrad::detail
