#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include <halfgrad/tests/testing/planted/wrong_sizes.h>

/// Kernels that touch memory which is not theirs, read too much, rely on alignment or on pointers.
namespace halfgrad::testing::planted {

/// Reads an element of an operand, and does not use it.
inline void touch(const Call& c, std::size_t operand, Index i) {
  if (c.in[operand].numel() == 0) return;
  [[maybe_unused]] volatile float unused = element(c.in[operand], i);
}
/// A right sum that reads `distance` elements behind its operand, or before it.
inline Kernel sum_touching(Index distance) {
  return rows([=](const Call& c, Index row) {
    touch(c, 0, distance < 0 ? distance : c.m * c.k - 1 + distance);
    c.y(row, sum_of(c, row, 0, c.k));
  });
}
inline Kernel norm_touching(std::size_t operand) {
  return rows([=](const Call& c, Index row) {
    touch(c, operand, c.k);
    norm_row(c, row, c.k, 1e-5f);
  });
}
/// A right product that loads an operand in tiles of 16 elements, or rows.
inline Kernel product_touching(std::size_t operand, bool whole_rows) {
  return called([=](const Call& c) {
    const Index n = c.in[1].size(1), own = operand == 0 ? c.m * c.k : c.k * n;
    const Index row = operand == 0 ? c.k : n;
    if (own > 0) touch(c, operand, whole_rows ? own + row - 1 : (own + 15) / 16 * 16 - 1);
    for (Index at = 0; at < c.n(); ++at) c.y(at, dot_of(c, at / n, at % n, n, c.k));
  });
}
/// A right sum of two operands that also writes element `first` or n + `first`.
inline Kernel add_writing(Index first, bool restores) {
  return called([=](const Call& c) {
    if (c.n() == 0) return;
    for (Index i = 0; i < c.n(); ++i) c.y(i, c.x(i) + c.w(i));
    float* const stray = c.out.data_as<float>() + (first < 0 ? first : c.n() + first);
    const std::uint32_t before = std::bit_cast<std::uint32_t>(*stray);
    *stray = 7;
    if (restores) *reinterpret_cast<volatile std::uint32_t*>(stray) = before;
  });
}
/// A sum of two operands that takes one pointer as aligned to `bytes`.
inline Kernel add_aligning(int operand, std::uintptr_t bytes) {
  return called([=](const Call& c) {
    const auto down = [&](const Array& array, int own) {
      auto* const data = array.data_as<float>();
      if (own != operand) return data;
      return reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(data) / bytes * bytes);
    };
    const float *a = down(c.in[0], 0), *b = down(c.in[1], 1);
    float* const y = down(c.out, 2);
    for (Index i = 0; i < c.n(); ++i) y[i] = a[i] + b[i];
  });
}

inline std::vector<PlantedKernel> wrong_memory() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"sum", f32, "reads one element more", sum_touching(1)},
      {"sum", f16, "reads seven elements more", sum_touching(7)},
      {"sum", f32, "reads 100 elements more", sum_touching(100)},
      {"sum", bf16, "reads the element before", sum_touching(-1)},
      {"sum", f32, "reads 64 elements before", sum_touching(-64)},
      {"layer_norm", f32, "reads one weight more", norm_touching(1)},
      {"layer_norm", f16, "reads one bias more", norm_touching(2)},
      {"mm", f32, "loads the left operand in tiles", product_touching(0, false)},
      {"mm", f16, "loads the right operand in tiles", product_touching(1, false)},
      {"mm", f32, "loads the row after the last of the left", product_touching(0, true)},
      {"mm", f32, "loads the row after the last of the right", product_touching(1, true)},
      {"embedding", f32, "reads one index more", called([](const Call& c) {
         const std::int64_t* const index = c.in[1].data_as<std::int64_t>();
         [[maybe_unused]] volatile std::int64_t next = index[c.in[1].numel()];
         for (Index at = 0; at < c.n(); ++at) c.y(at, c.x(index[at / c.k] * c.k + at % c.k));
       })},
      {"add", f32, "writes 100 elements beyond", add_writing(100, false)},
      {"add", f32, "writes 70 elements before", add_writing(-70, false)},
      {"add", f32, "writes one element beyond and restores it", add_writing(0, true)},
      {"add", f32, "the first operand aligned to 16 bytes", add_aligning(0, 16)},
      {"add", f32, "the second operand aligned to 8 bytes", add_aligning(1, 8)},
      {"add", f32, "the output aligned to 16 bytes", add_aligning(2, 16)},
      {"add", f32, "peels as the first operand needs, for both", called([](const Call& c) {
         const auto* a = c.in[0].data_as<float>();
         const auto* b = c.in[1].data_as<float>();
         const auto offset = [](const float* p) {
           return reinterpret_cast<std::uintptr_t>(p) / 4 % 4;
         };
         const auto peeled = static_cast<Index>((4 - offset(a)) % 4);
         const bool wrong = c.n() > peeled && offset(b + peeled) != 0;
         for (Index i = 0; i < c.n(); ++i) c.y(i, i < peeled || !wrong ? a[i] + b[i] : a[i]);
       })},
      {"relu", f16, "writes its input and restores it", called([](const Call& c) {
         for (Index i = 0; i < c.n(); ++i) {
           Half* const x = c.in[0].data_as<Half>() + i;
           const float value = c.x(i);
           *static_cast<volatile std::uint16_t*>(static_cast<void*>(x)) =
               std::bit_cast<std::uint16_t>(*x);
           c.y(i, value < 0 ? 0 : value);
         }
       })},
      {"amax", f32, "uses its input as scratch memory", rows([](const Call& c, Index row) {
         float* const x = c.in[0].data_as<float>() + row * c.k;
         for (Index i = 1; i < c.k; ++i) x[0] = std::isnan(x[0]) || x[i] <= x[0] ? x[0] : x[i];
         c.y(row, x[0]);
       })},
      {"relu", f32, "keeps results by the input's address", called([](const Call& c) {
         static std::map<const void*, std::vector<float>> kept;
         std::vector<float>& y = kept[c.in[0].data()];
         if (static_cast<Index>(y.size()) != c.n()) {
           y.clear();
           for (Index i = 0; i < c.n(); ++i) y.push_back(c.x(i) < 0 ? 0 : c.x(i));
         }
         for (Index i = 0; i < c.n(); ++i) c.y(i, y[static_cast<std::size_t>(i)]);
       })},
      {"rms_norm", f32, "keeps the first weight by its address", rows([](const Call& c, Index row) {
         static std::map<const void*, std::vector<float>> kept;
         std::vector<float>& w = kept[c.in[1].data()];
         while (static_cast<Index>(w.size()) < c.k) w.push_back(c.w(static_cast<Index>(w.size())));
         rms_row(c, row, 1e-5f);
         for (Index i = 0; i < c.k; ++i) {
           c.y(row * c.k + i,
               element(c.out, row * c.k + i) / c.w(i) * w[static_cast<std::size_t>(i)]);
         }
       })},
      {"relu", f32, "writes the last element after its return", called([](const Call& c) {
         for (Index i = 0; i < c.n(); ++i) c.y(i, c.x(i) < 0 ? 0 : c.x(i));
         if (c.n() == 0) return;
         std::thread([last = c.out.data_as<float>() + c.n() - 1] {
           std::this_thread::sleep_for(std::chrono::milliseconds(2));
           *last = 3;
         }).detach();
       })},
      {"sum", f32, "a thread does the work after its return", called([](const Call& c) {
         std::vector<float> y;
         for (Index row = 0; row < c.m; ++row) y.push_back(sum_of(c, row, 0, c.k));
         std::thread([y, out = c.out.data_as<float>()] {
           std::copy(y.begin(), y.end(), out);
         }).detach();
       })},
  };
}

}  // namespace halfgrad::testing::planted
