#pragma once

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <halfgrad/tests/testing/planted/wrong_races.h>

/// Kernels that end their process, throw or never return, and would take the report with them.
namespace halfgrad::testing::planted {

/// A right sum that does something else for rows of k elements.
template <class F>
Kernel sum_but(Index k, const F& f) {
  return called([=, right = right_sum()](const Call& c) {
    if (c.k == k) f();
    right(c.in, c.out);
  });
}
[[gnu::noinline]] inline int recursion(int depth) {
  volatile char frame[4096] = {};
  frame[depth % 4096] = 1;
  return depth < 0 ? 0 : recursion(depth + 1) + frame[0];
}
inline void forever() {
  for (;;) ::usleep(1000);
}

inline std::vector<PlantedKernel> wrong_ends() {
  const DType f32 = kFloat32;
  return {
      {"sum", f32, "writes to address 0",
       sum_but(64, [] { *static_cast<volatile int*>(nullptr) = 1; })},
      {"sum", f32, "reads a wild address",
       sum_but(257,
               [] {
                 [[maybe_unused]] volatile int x =
                     *reinterpret_cast<volatile int*>(std::uintptr_t{0x123456789000});
               })},
      {"sum", f32, "raises SIGFPE", sum_but(7, [] { ::raise(SIGFPE); })},
      {"sum", f32, "raises SIGILL", sum_but(64, [] { ::raise(SIGILL); })},
      {"sum", f32, "calls abort()", sum_but(4099, [] { std::abort(); })},
      {"sum", f32, "calls terminate()", sum_but(64, [] { std::terminate(); })},
      {"sum", f32, "calls exit(0)", sum_but(64, [] { ::exit(0); })},
      {"sum", f32, "calls exit(3)", sum_but(37, [] { ::exit(3); })},
      {"sum", f32, "calls _exit(0)", sum_but(7, [] { ::_exit(0); })},
      {"sum", f32, "kills its process", sum_but(64, [] { ::kill(::getpid(), SIGKILL); })},
      {"sum", f32, "ends its process politely", sum_but(64, [] { ::kill(::getpid(), SIGTERM); })},
      {"sum", f32, "overflows the stack", sum_but(64, [] { recursion(0); })},
      {"sum", f32, "frees a wrong pointer",
       sum_but(64,
               [] {
                 void* volatile wrong = reinterpret_cast<void*>(std::uintptr_t{0x1000008});
                 std::free(wrong);
               })},
      {"sum", f32, "throws a string", sum_but(64, [] { throw "no such tile"; })},
      {"sum", f32, "throws an int", sum_but(257, [] { throw 7; })},
      {"sum", f32, "throws an exception",
       sum_but(7, [] { throw std::runtime_error("no such tile"); })},
      {"sum", f32, "throws in a thread", sum_but(64, [] { std::thread([] { throw 7; }).join(); })},
      {"sum", f32, "exits in a thread", sum_but(64, [] { std::thread([] { ::exit(0); }).join(); })},
      {"sum", f32, "ends its threads by a system call",
       sum_but(64, [] { ::syscall(SYS_exit_group, 0); })},
      {"sum", f32, "closes every file",
       sum_but(64,
               [] {
                 for (int file = 3; file < 1024; ++file) ::close(file);
               })},
      {"sum", f32, "never returns", sum_but(64, forever)},
      {"sum", f32, "waits for a lock that it holds",
       sum_but(7,
               [] {
                 static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
                 ::pthread_mutex_lock(&lock);
                 ::pthread_mutex_lock(&lock);
               })},
      {"sum", f32, "stops its process", sum_but(37, [] { ::raise(SIGSTOP); })},
  };
}

}  // namespace halfgrad::testing::planted
