#include "loops.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include <halfgrad/core/thread_pool.h>

namespace ladder {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
typedef float Vector __attribute__((vector_size(kVectorBytes)));
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(float));

// A multiply-add takes about 4 clocks, and cores start two a clock: 12 independent chains keep them
// busy, and fit into 16 registers.
constexpr int kChains = 12, kRounds = 200'000;

float multiply_add_in_registers(float factor, float summand) {
  Vector sums[kChains] = {};
  for (int i = 0; i < kChains; ++i) sums[i] += static_cast<float>(i);  // makes them differ
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (Vector& sum : sums) sum = sum * factor + summand;
  }
  float total = 0;
  for (const Vector& sum : sums) total += sum[0];
  return total;
}

}  // namespace

void triple_loop(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
                 float* c) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
  }
}

double measured_peak() {
  using Clock = std::chrono::steady_clock;
  constexpr int kTries = 300;  // about 0.5 ms each; the fastest counts
  const int threads = halfgrad::get_num_threads();
  std::atomic<float> sink = 0;  // keeps the compiler from removing the computation
  double seconds = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const auto start = Clock::now();
    halfgrad::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
      sink = multiply_add_in_registers(0.5F, 1 + sink);
    });
    seconds = std::min(seconds, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return 2.0 * kRounds * kChains * kLanes * threads / seconds;
}

}  // namespace ladder
