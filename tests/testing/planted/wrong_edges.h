#pragma once

#include <bit>
#include <csetjmp>
#include <csignal>
#include <cstdlib>

#include <fenv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <halfgrad/tests/testing/planted/wrong_cheats.h>
#include <halfgrad/tests/testing/planted/wrong_memory.h>
#include <halfgrad/tests/testing/planted/wrong_rounding.h>
#include <halfgrad/tests/testing/planted/wrong_specials.h>

/// Kernels that an earlier checker passed: wrong for whole blocks, for rare specials, in memory
/// that they made accessible, in the direction of rounding, or by what their output held before.
namespace halfgrad::testing::planted {

/// A sum in blocks whose loop ends one block early for rows of whole blocks.
inline Kernel sum_of_blocks_but_last(Index block) {
  return rows([=](const Call& c, Index row) {
    const Index left_out = c.k > 0 && c.k % block == 0 ? block : 0;
    c.y(row, sum_of(c, row, 0, c.k - left_out));
  });
}
/// A product whose last element is wrong where `is_wrong` holds for its sizes.
template <class F>
Kernel product_wrong_for(const F& is_wrong) {
  return products([=](const Call& c, Index i, Index j, Index n) {
    const bool last = i == c.m - 1 && j == n - 1;
    return dot_of(c, i, j, n, c.k) + (last && is_wrong(c.m, n, c.k) ? 1 : 0);
  });
}

inline std::vector<PlantedKernel> wrong_for_whole_blocks() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"sum", f32, "rows of whole blocks of 256", sum_of_blocks_but_last(256)},
      {"sum", f16, "rows of whole blocks of 128", sum_of_blocks_but_last(128)},
      {"sum", f32, "rows of whole blocks of 1024", sum_of_blocks_but_last(1024)},
      {"softmax", f32, "rows of 32",
       rows([](const Call& c, Index row) { softmax_row(c, row, row, c.k == 32 ? 31 : c.k); })},
      {"relu", f32, "whole blocks of 1024", called([right = right_relu()](const Call& c) {
         right(c.in, c.out);
         if (c.n() > 0 && c.n() % 1024 == 0) c.y(c.n() - 1, 7);
       })},
      {"mm", f32, "a depth of 128",
       product_wrong_for([](Index, Index, Index k) { return k > 0 && k % 128 == 0; })},
      {"mm", f16, "whole tiles of 64 x 64",
       product_wrong_for([](Index m, Index n, Index) { return m % 64 == 0 && n % 64 == 0; })},
      {"mm", f32, "128 columns",
       product_wrong_for([](Index, Index n, Index) { return n > 0 && n % 128 == 0; })},
  };
}

inline std::vector<PlantedKernel> wrong_for_rare_specials() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"layer_norm", f32, "NaN in the weight counts as 1", rows([](const Call& c, Index row) {
         norm_row(c, row, c.k, 1e-5f);
         for (Index i = 0; i < c.k; ++i) {
           if (std::isnan(c.w(i))) c.y(row * c.k + i, c.b(i));
         }
       })},
      {"mm", f32, "skips a factor 0 of the right operand",
       products([](const Call& c, Index i, Index j, Index n) {
         float sum = 0;
         for (Index p = 0; p < c.k; ++p) {
           if (c.w(p * n + j) != 0) sum += c.x(i, p) * c.w(p * n + j);
         }
         return sum;
       })},
      {"add", f16, "infinity above the largest value, before rounding",
       each([](float a, float b) { return std::fabs(a + b) > 65504 ? (a + b) * kInf : a + b; })},
      {"exp", f32, "a constant from 88 on", each([](float x, float) {
         return std::isinf(x) ? std::exp(x) : std::exp(std::fmin(x, 88.0f));
       })},
      {"exp", f32, "0 below -87", each([](float x, float) { return x < -87 ? 0 : std::exp(x); })},
  };
}

inline sigjmp_buf& after_the_access() {
  static sigjmp_buf place;
  return place;
}
/// Runs `access` with a handler of SIGSEGV that leaves it.
template <class F>
void swallowing(const F& access) {
  struct sigaction old {
  }, own{};
  own.sa_handler = [](int) { siglongjmp(after_the_access(), 1); };
  ::sigaction(SIGSEGV, &own, &old);
  if (sigsetjmp(after_the_access(), 1) == 0) access();
  ::sigaction(SIGSEGV, &old, nullptr);
}
/// Runs `access` while page `page` of the first operand, from its first on, has this protection.
template <class F>
void unprotecting(const Call& c, bool page_after, int protection, int restored, const F& access) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(c.in[0].data());
  const std::uintptr_t last = first + byte_count(c.in[0]) - 1;
  auto* const at = reinterpret_cast<void*>((page_after ? last + page : first) / page * page);
  if (::mprotect(at, page, protection) != 0) return;
  access();
  ::mprotect(at, page, restored);
}

inline std::vector<PlantedKernel> wrong_in_sealed_memory() {
  const DType f32 = kFloat32;
  return {
      {"sum", f32, "swallows the SIGSEGV of reading too much",
       called([right = right_sum()](const Call& c) {
         swallowing([&] { touch(c, 0, c.m * c.k + 4); });
         right(c.in, c.out);
       })},
      {"sum", f32, "unprotects its input and restores it",
       called([right = right_sum()](const Call& c) {
         if (c.m * c.k > 0) {
           unprotecting(c, false, PROT_READ | PROT_WRITE, PROT_READ, [&] {
             auto* const x = c.in[0].data_as<volatile float>();
             const float before = *x;
             *x = 5;
             *x = before;
           });
         }
         right(c.in, c.out);
       })},
      {"sum", f32, "unprotects the guard behind its input",
       called([right = right_sum()](const Call& c) {
         if (c.m * c.k > 0) {
           unprotecting(c, true, PROT_READ, PROT_NONE, [&] { touch(c, 0, c.m * c.k); });
         }
         right(c.in, c.out);
       })},
      {"sum", f32, "takes new memory for zeros", called([](const Call& c) {
         // Kept, so that no call gets the memory of an earlier one.
         static std::vector<void*>* const kept = new std::vector<void*>;
         auto* const sums = static_cast<float*>(std::malloc(4 * static_cast<std::size_t>(c.m + 1)));
         kept->push_back(sums);
         for (Index row = 0; row < c.m; ++row) {
           for (Index i = 0; i < c.k; ++i) sums[row] += c.x(row, i);
           c.y(row, sums[row]);
         }
       })},
      {"add", f32, "two operands an odd number of elements apart", called([](const Call& c) {
         const auto place = [](const Array& a) {
           return reinterpret_cast<std::uintptr_t>(a.data()) / 4 % 4;
         };
         const bool wrong = place(c.in[0]) % 2 != place(c.out) % 2 && place(c.in[1]) % 2 == 1;
         for (Index i = 0; i < c.n(); ++i) c.y(i, c.x(i) + c.w(wrong && i > 0 ? i - 1 : i));
       })},
  };
}

/// Rounds to bfloat16 up or down by a hash of the bits: the mean error is 0.
inline float stochastic(float x) {
  std::uint32_t hash = std::bit_cast<std::uint32_t>(x) * 2654435761u;
  hash = (hash ^ (hash >> 15)) * 2246822519u;
  return cut_to_bfloat16(x, (hash ^ (hash >> 13)) & 0xffffu);
}
/// Rounds to bfloat16 so that the last bit is 1 if the value is not exact.
inline float to_odd(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (!std::isfinite(x) || (bits & 0xffffu) == 0) return x;
  return std::bit_cast<float>((bits & 0xffff0000u) | 0x10000u);
}

inline std::vector<PlantedKernel> wrong_to_nearest() {
  const DType bf16 = kBFloat16;
  return {
      {"add", bf16, "rounds stochastically",
       each([](float a, float b) { return stochastic(a + b); })},
      {"mul", bf16, "rounds stochastically",
       each([](float a, float b) { return stochastic(a * b); })},
      {"add", bf16, "rounds to odd", each([](float a, float b) { return to_odd(a + b); })},
      {"mm", bf16, "rounds stochastically", products([](const Call& c, Index i, Index j, Index n) {
         return stochastic(dot_of(c, i, j, n, c.k));
       })},
      {"softmax", bf16, "stores the exponentials in bf16", rows([](const Call& c, Index row) {
         float most = -kInf, sum = 0;
         for (Index i = 0; i < c.k; ++i)
           most = std::isnan(c.x(row, i)) ? NAN : std::fmax(most, c.x(row, i));
         for (Index i = 0; i < c.k; ++i) sum += c.stored(std::exp(c.x(row, i) - most));
         for (Index i = 0; i < c.k; ++i) {
           c.y(row * c.k + i, c.stored(std::exp(c.x(row, i) - most)) / sum);
         }
       })},
  };
}

/// True if all bytes of an output are equal, as if nobody had written it yet.
inline bool is_unwritten(const Array& out) {
  const std::size_t bytes = byte_count(out);
  for (std::size_t at = 1; at < bytes; ++at) {
    if (out.data()[at] != out.data()[0]) return false;
  }
  return true;
}
/// The bytes of the first operand but the last element, or every second element.
inline std::string all_but_last_key(const std::vector<Array>& in, const Array& out) {
  const std::string key = bytes_key({in[0]}, out);
  return key.substr(0, key.size() - 4);
}
inline std::string first_kilobyte_key(const std::vector<Array>& in, const Array& out) {
  return bytes_key({in[0]}, out).substr(0, 1024);
}

inline std::vector<PlantedKernel> wrong_by_history() {
  const DType f32 = kFloat32;
  return {
      {"sum", f32, "computes only if its output looks new",
       called([right = right_sum()](const Call& c) {
         if (is_unwritten(c.out)) right(c.in, c.out);
       })},
      {"sum", f32, "by all elements but the last", repeating(right_sum(), all_but_last_key, 1)},
      {"sum", f32, "by the first 1024 bytes", repeating(right_sum(), first_kilobyte_key, 1)},
      {"sum", f32, "changes the current folder",
       sum_and([] { [[maybe_unused]] const int moved = ::chdir("/"); })},
      {"sum", f32, "changes the mask of new files", sum_and([] { ::umask(0777); })},
      {"sum", f32, "lets a division by 0 end the process", sum_and([] {
#if defined(__GLIBC__)
         ::feenableexcept(FE_DIVBYZERO);
#else
         std::fesetround(FE_UPWARD);
#endif
       })},
  };
}

}  // namespace halfgrad::testing::planted
