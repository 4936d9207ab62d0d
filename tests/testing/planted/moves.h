#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <halfgrad/core/math/philox.h>
#include <halfgrad/tests/testing/planted/functions.h>

/// Batched products, linear with an activation, batch_norm, nll_loss and indexing, correct or with
/// one mistake.
namespace halfgrad::testing::planted {

struct Bmm {
  bool one_right_for_all = false;  // every batch multiplies by the first right-hand matrix

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t rows = in[0].size(1), k = in[0].size(2), n = in[1].size(2);
    for (std::int64_t batch = 0; batch < in[0].size(0); ++batch) {
      const T* a = in[0].data_as<T>() + batch * rows * k;
      const T* b = in[1].data_as<T>() + (one_right_for_all ? 0 : batch * k * n);
      for (std::int64_t i = 0; i < rows * n; ++i) {
        float sum = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          sum = std::fma(widened(a[i / n * k + p]), widened(b[p * n + i % n]), sum);
        }
        out.data_as<T>()[batch * rows * n + i] = T(sum);
      }
    }
  }
};

/// activation(x w^T + bias)
struct LinearActivation {
  Function activation;
  bool before_bias = false, store_sum = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1), n = in[1].size(0);
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum +=
            widened(in[0].data_as<T>()[i / n * k + p]) * widened(in[1].data_as<T>()[i % n * k + p]);
      }
      const float bias = widened(in[2].data_as<T>()[i % n]);
      const float z = store_sum ? through<T>(sum + bias) : sum + bias;
      out.data_as<T>()[i] = T(before_bias ? activation(sum) + bias : activation(z));
    }
  }
};
inline float relu_of(float x) { return x < 0 ? 0 : x; }

struct BatchNorm {
  bool of_one_sample = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t m = in[0].size(0), n = in[0].size(1), k = in[0].size(2);
    for (std::int64_t channel = 0; channel < n; ++channel) {
      const auto at = [&](std::int64_t i) { return (i / k * n + channel) * k + i % k; };
      const auto x = [&](std::int64_t i) { return widened(in[0].data_as<T>()[at(i)]); };
      const std::int64_t count = of_one_sample ? k : m * k;
      float sum = 0, squares = 0;
      for (std::int64_t i = 0; i < count; ++i) sum += x(i);
      const float mean = sum / static_cast<float>(count);
      for (std::int64_t i = 0; i < count; ++i) squares += (x(i) - mean) * (x(i) - mean);
      const float scale = widened(in[1].data_as<T>()[channel]) /
                          std::sqrt(squares / static_cast<float>(count) + 1e-5f);
      const float bias = widened(in[2].data_as<T>()[channel]);
      for (std::int64_t i = 0; i < m * k; ++i) {
        out.data_as<T>()[at(i)] = T((x(i) - mean) * scale + bias);
      }
    }
  }
};

/// Minus the mean over rows of the log-probability of the row's class.
struct NllLoss {
  bool class_of_first_row = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t m = in[0].size(0), k = in[0].size(1);
    float sum = 0;
    for (std::int64_t row = 0; row < m; ++row) {
      const std::int64_t target = in[1].data_as<std::int64_t>()[class_of_first_row ? 0 : row];
      sum -= widened(in[0].data_as<T>()[row * k + target]);
    }
    out.data_as<T>()[0] = T(sum / static_cast<float>(m));
  }
};

/// Adds to a copy of each row, from the first index to the last.
struct ScatterAdd {
  bool last_wins = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1), n = in[1].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      std::vector<float> sums;
      for (std::int64_t i = 0; i < k; ++i) sums.push_back(widened(in[0].data_as<T>()[row * k + i]));
      const std::vector<float> before = sums;
      for (std::int64_t i = row * n; i < (row + 1) * n; ++i) {
        const auto index = static_cast<std::size_t>(in[1].data_as<std::int64_t>()[i]);
        sums[index] = (last_wins ? before : sums)[index] + widened(in[2].data_as<T>()[i]);
      }
      for (std::int64_t i = 0; i < k; ++i) {
        out.data_as<T>()[row * k + i] = T(sums[static_cast<std::size_t>(i)]);
      }
    }
  }
};

/// A transpose in tiles of 8 rows.
struct Transpose {
  bool whole_tiles_only = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t m = in[0].size(0), n = in[0].size(1);
    for (std::int64_t i = 0; i < (whole_tiles_only ? m / 8 * 8 : m); ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        out.data_as<T>()[j * m + i] = in[0].data_as<T>()[i * n + j];
      }
    }
  }
};

/// Dropout with halfgrad's mask for p = 0.3 and the key (7, 0).
struct Dropout {
  bool without_scale = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const float scale = without_scale ? 1 : 1 / 0.7f;
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      const auto block = random_block({7, 0}, static_cast<std::uint64_t>(i / 4));
      const bool kept = block.word[static_cast<std::size_t>(i % 4)] * 0x1p-32 >= 0.3;
      out.data_as<T>()[i] = T(kept ? widened(in[0].data_as<T>()[i]) * scale : 0.0f);
    }
  }
};

}  // namespace halfgrad::testing::planted
