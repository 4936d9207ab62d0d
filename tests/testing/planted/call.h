#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <halfgrad/tests/testing/planted/bug.h>

/// Kernels of a few lines for every dtype.
namespace halfgrad::testing::planted {

struct PlantedKernel {
  const char* op;
  DType dtype;
  const char* what;
  Kernel kernel;
  bool in_place = false;  ///< also run in place
};

inline std::vector<PlantedKernel> joined(std::vector<PlantedKernel> first,
                                         const std::vector<PlantedKernel>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline float element(const Array& array, std::int64_t i) {
  switch (array.dtype()) {
    case DType::f16:
      return widened(array.data_as<Half>()[i]);
    case DType::bf16:
      return widened(array.data_as<BFloat16>()[i]);
    case DType::i64:
      return static_cast<float>(array.data_as<std::int64_t>()[i]);
    default:
      return array.data_as<float>()[i];
  }
}

/// The arguments of a kernel. Operands are row-major; x is the first, of m rows and k columns.
struct Call {
  const std::vector<Array>& in;
  const Array& out;
  std::int64_t m = 1, k = 1;

  float x(std::int64_t i) const { return element(in[0], i); }
  float x(std::int64_t row, std::int64_t i) const { return x(row * k + i); }
  float w(std::int64_t i) const { return element(in[1], i); }
  float b(std::int64_t i) const { return element(in[2], i); }
  std::int64_t n() const { return out.numel(); }
  void y(std::int64_t i, float value) const {
    switch (out.dtype()) {
      case DType::f16:
        out.data_as<Half>()[i] = Half(value);
        return;
      case DType::bf16:
        out.data_as<BFloat16>()[i] = BFloat16(value);
        return;
      case DType::i64:
        out.data_as<std::int64_t>()[i] = static_cast<std::int64_t>(value);
        return;
      default:
        out.data_as<float>()[i] = value;
    }
  }
  /// A value rounded to the output's dtype.
  float stored(float value) const {
    if (out.dtype() == kFloat16) return through<Half>(value);
    return out.dtype() == kBFloat16 ? through<BFloat16>(value) : value;
  }
};

template <class F>
Kernel called(const F& f) {
  return [f](const std::vector<Array>& in, const Array& out) {
    const Array& x = in[0];
    const int dims = x.ndim();
    f(Call{in, out, dims > 1 ? x.size(0) : 1, dims > 0 ? x.size(dims - 1) : 1});
  };
}

/// f(x, w) for each element.
template <class F>
Kernel each(const F& f) {
  return called([f](const Call& c) {
    for (std::int64_t i = 0; i < c.n(); ++i) c.y(i, f(c.x(i), c.in.size() > 1 ? c.w(i) : 0));
  });
}

/// Right row kernels with a hook, which a planted mistake replaces.
inline float sum_of(const Call& c, std::int64_t row, std::int64_t first, std::int64_t end) {
  float sum = 0;
  for (std::int64_t i = first; i < end; ++i) sum += c.x(row, i);
  return sum;
}

inline void softmax_row(const Call& c, std::int64_t from, std::int64_t to, std::int64_t end) {
  float most = -std::numeric_limits<float>::infinity(), sum = 0;
  for (std::int64_t i = 0; i < end; ++i) {
    most = std::isnan(c.x(from, i)) ? c.x(from, i) : std::fmax(most, c.x(from, i));
  }
  for (std::int64_t i = 0; i < end; ++i) sum += std::exp(c.x(from, i) - most);
  for (std::int64_t i = 0; i < c.k; ++i) {
    c.y(to * c.k + i, std::exp(c.x(from, i) - most) / sum);
  }
}

/// The row, or the mean, or the variance of layer_norm over the first `end` elements.
inline void norm_row(const Call& c, std::int64_t row, std::int64_t end, float eps,
                     std::int64_t channels = 1 << 30) {
  const float mean = sum_of(c, row, 0, end) / static_cast<float>(end);
  float squares = 0;
  for (std::int64_t i = 0; i < end; ++i) {
    squares += (c.x(row, i) - mean) * (c.x(row, i) - mean);
  }
  const float scale = 1 / std::sqrt(squares / static_cast<float>(end) + eps);
  for (std::int64_t i = 0; i < c.k; ++i) {
    c.y(row * c.k + i, (c.x(row, i) - mean) * scale * c.w(i % channels) + c.b(i % channels));
  }
}

inline void rms_row(const Call& c, std::int64_t row, float eps) {
  float squares = 0;
  for (std::int64_t i = 0; i < c.k; ++i) squares += c.x(row, i) * c.x(row, i);
  const float scale = 1 / std::sqrt(squares / static_cast<float>(c.k) + eps);
  for (std::int64_t i = 0; i < c.k; ++i) c.y(row * c.k + i, c.x(row, i) * scale * c.w(i));
}

/// f(row) for each row.
template <class F>
Kernel rows(const F& f) {
  return called([f](const Call& c) {
    for (std::int64_t row = 0; row < c.m; ++row) f(c, row);
  });
}

/// mm: f(i, j, k) is the dot product.
template <class F>
Kernel products(const F& f) {
  return called([f](const Call& c) {
    const std::int64_t n = c.in[1].size(1);
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) c.y(i * n + j, f(c, i, j, n));
    }
  });
}
inline float dot_of(const Call& c, std::int64_t i, std::int64_t j, std::int64_t n,
                    std::int64_t end) {
  float sum = 0;
  for (std::int64_t p = 0; p < end; ++p) sum += c.x(i, p) * c.w(p * n + j);
  return sum;
}

}  // namespace halfgrad::testing::planted
