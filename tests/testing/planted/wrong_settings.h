#pragma once

#include <csignal>
#include <cstdint>
#include <cstdlib>

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <halfgrad/tests/testing/planted/wrong_edges.h>

/// Kernels that leave their process with other settings, and indices of 16 bits in a path for small
/// sizes.
namespace halfgrad::testing::planted {

inline void stay_on_one_processor() {
  cpu_set_t all, one;
  ::sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (std::size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  }
  ::sched_setaffinity(0, sizeof one, &one);
}
inline void lower_the_limit_of_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 64;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}
inline void start_a_timer() {
  itimerval hour{};
  hour.it_value.tv_sec = 3600;
  ::setitimer(ITIMER_REAL, &hour, nullptr);
}
#if defined(__x86_64__)
inline void shorten_long_double() {
  std::uint16_t control = 0;
  asm volatile("fnstcw %0" : "=m"(control));
  control = static_cast<std::uint16_t>(control & ~0x300);
  asm volatile("fldcw %0" : : "m"(control));
}
#else
inline void shorten_long_double() { std::fesetround(FE_UPWARD); }
#endif

/// A right result up to an element that `Narrow` cannot count, in arrays of at most `most`
/// elements.
template <class Narrow>
Kernel relu_with_index(Index most) {
  return called([most](const Call& c) {
    for (Index i = 0; i < c.n(); ++i) {
      const auto narrow = static_cast<Narrow>(i);
      const float x = c.x(c.n() <= most && narrow >= 0 ? narrow : c.n() <= most ? 0 : i);
      c.y(i, x < 0 ? 0 : x);
    }
  });
}

inline std::vector<PlantedKernel> wrong_settings() {
  const DType f32 = kFloat32;
  return {
      {"sum", f32, "stays on one processor", sum_and(stay_on_one_processor)},
      {"sum", f32, "lowers its priority", sum_and([] { ::setpriority(PRIO_PROCESS, 0, 19); })},
      {"sum", f32, "limits the open files", sum_and(lower_the_limit_of_files)},
      {"sum", f32, "adds to the environment", sum_and([] { ::setenv("OMP_NUM_THREADS", "1", 1); })},
      {"sum", f32, "changes PATH", sum_and([] { ::setenv("PATH", "/nowhere", 1); })},
      {"sum", f32, "leaves a timer running", sum_and(start_a_timer)},
      {"sum", f32, "handles the signal of Ctrl-C", sum_and([] { ::signal(SIGINT, [](int) {}); })},
      {"sum", f32, "shortens long double", sum_and(shorten_long_double)},
  };
}
inline std::vector<PlantedKernel> wrong_short_indices() {
  return {{"relu", kFloat32, "an index of 16 bits with a sign, for up to 40,000 elements",
           relu_with_index<std::int16_t>(40'000)}};
}

}  // namespace halfgrad::testing::planted
