#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>

#include <halfgrad/tests/testing/planted/wrong_settings.h>
#include <halfgrad/tests/thorough.h>

/// Mistakes of kernels that people and language models write: padding that is not masked, plans and
/// results that are kept for too long, leaks, rounding that is nearly right.
namespace halfgrad::testing::planted {

inline Index padded(Index k) {
  Index size = 1;
  while (size < k) size *= 2;
  return size;
}

/// A sum that plans for the number of rows of the first call with rows of this length.
inline Kernel sum_with_old_plan() {
  return [length = Index{-1}, rows_planned = Index{0}](const std::vector<Array>& in,
                                                       const Array& out) mutable {
    called([&](const Call& c) {
      if (c.k != length) {
        length = c.k;
        rows_planned = c.m;
      }
      for (Index row = 0; row < c.m; ++row) {
        c.y(row, row < rows_planned ? sum_of(c, row, 0, c.k) : 0);
      }
    })(in, out);
  };
}
/// A sum that repeats its last result if no input has changed by more than a part of 1000.
inline Kernel sum_of_much_changed() {
  return [right = right_sum(), last = std::vector<float>(), result = std::vector<float>()](
             const std::vector<Array>& in, const Array& out) mutable {
    called([&](const Call& c) {
      std::vector<float> now;
      bool same = static_cast<Index>(last.size()) == in[0].numel() &&
                  static_cast<Index>(result.size()) == c.n();
      for (Index i = 0; i < in[0].numel(); ++i) {
        now.push_back(c.x(i));
        const auto at = static_cast<std::size_t>(i);
        same = same && std::fabs(now[at] - last[at]) <= 1e-3f * std::fabs(last[at]);
      }
      if (!same) right(in, out);
      for (Index i = 0; i < c.n(); ++i) {
        if (same) c.y(i, result[static_cast<std::size_t>(i)]);
      }
      last = now;
      result.clear();
      for (Index i = 0; i < c.n(); ++i) result.push_back(element(out, i));
    })(in, out);
  };
}

inline std::vector<PlantedKernel> wrong_padding() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"sum", f32, "a plan for the rows of an earlier call", sum_with_old_plan()},
      {"mean", f32, "divides by the padded length", rows([](const Call& c, Index row) {
         const Index length = c.k > 1000 ? padded(c.k) : c.k;
         c.y(row, sum_of(c, row, 0, c.k) / static_cast<float>(length));
       })},
      {"layer_norm", f16, "padding enters the variance", rows([](const Call& c, Index row) {
         const float mean = sum_of(c, row, 0, c.k) / static_cast<float>(c.k);
         float squares = 0;
         for (Index i = 0; i < padded(c.k); ++i) {
           const float x = (i < c.k ? c.x(row, i) : 0) - mean;
           squares += x * x;
         }
         const float scale = 1 / std::sqrt(squares / static_cast<float>(c.k) + 1e-5f);
         for (Index i = 0; i < c.k; ++i) {
           c.y(row * c.k + i, (c.x(row, i) - mean) * scale * c.w(i) + c.b(i));
         }
       })},
      {"amax", f32, "padding of 0 enters the maximum", rows([](const Call& c, Index row) {
         float most = c.k % 4 == 0 ? -kInf : 0;
         for (Index i = 0; i < c.k; ++i) {
           most = std::isnan(c.x(row, i)) || std::isnan(most) ? NAN : std::fmax(most, c.x(row, i));
         }
         c.y(row, most);
       })},
      {"relu", f32, "a buffer of 16,384 elements", called([](const Call& c) {
         constexpr Index kBuffer = 16'384;
         for (Index i = 0; i < c.n(); ++i) c.y(i, c.x(i % kBuffer) < 0 ? 0 : c.x(i % kBuffer));
       })},
  };
}

inline std::vector<PlantedKernel> wrong_masks() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"softmax", f32, "masks its padding by -1e4", rows([](const Call& c, Index row) {
         float most = -1e4f, sum = 0;
         for (Index i = 0; i < c.k; ++i) {
           most = std::isnan(c.x(row, i)) || std::isnan(most) ? NAN : std::fmax(most, c.x(row, i));
         }
         for (Index i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
         for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, std::exp(c.x(row, i) - most) / sum);
       })},
      {"mm", f16, "elements beyond a row times 0",
       products([](const Call& c, Index i, Index j, Index n) {
         float sum = 0;
         for (Index p = 0; p < (c.k + 31) / 32 * 32; ++p) {
           const Index at = i * c.k + p;
           sum += (at < c.m * c.k ? c.x(at) : 0) * (p < c.k ? c.w(p * n + j) : 0);
         }
         return sum;
       })},
      {"div", f32, "0 for a divisor above 2^126", each([](float a, float b) {
         const bool is_large = std::fabs(b) > 0x1p126f && std::isfinite(b) && std::isfinite(a);
         return is_large ? 0 : a / b;
       })},
  };
}

inline std::vector<PlantedKernel> wrong_last_digits() {
  const DType f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"mm", bf16, "ties away from zero", products([](const Call& c, Index i, Index j, Index n) {
         const float sum = dot_of(c, i, j, n, c.k);
         const std::uint32_t bits = std::bit_cast<std::uint32_t>(sum) + 0x8000;
         return std::isfinite(sum) ? std::bit_cast<float>(bits & 0xffff0000u) : sum;
       })},
      {"mean", f16, "1 / k in fp16", rows([](const Call& c, Index row) {
         c.y(row, sum_of(c, row, 0, c.k) * c.stored(1 / static_cast<float>(c.k)));
       })},
  };
}

inline std::vector<PlantedKernel> wrong_leaks() {
  const DType f32 = kFloat32;
  std::vector<PlantedKernel> all = {
      {"sum", f32, "loses a mapping a call", sum_and([] {
         [[maybe_unused]] void* volatile lost =
             ::mmap(nullptr, 65'536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       })},
      {"sum", f32, "leaves a file open in each call",
       sum_and([] { [[maybe_unused]] const int file = ::open("/dev/null", O_RDONLY); })},
      {"sum", f32, "compares its inputs within a tolerance", sum_of_much_changed()},
  };
  // Sanitizers have their own malloc(), into which the check cannot see.
  if (kThorough) {
    all.push_back({"sum", f32, "loses 64 bytes a call",
                   sum_and([] { [[maybe_unused]] void* volatile lost = std::malloc(64); })});
  }
  return all;
}

}  // namespace halfgrad::testing::planted
