#pragma once

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <halfgrad/tests/testing/planted/wrong_ends.h>

/// Kernels that pass weak harnesses on purpose or by accident: they repeat earlier results, finish
/// after their return, change their caller's state, or meddle with the check.
namespace halfgrad::testing::planted {

/// The text by which a kernel that keeps results knows its inputs again.
using KeyOf = std::string (*)(const std::vector<Array>& in, const Array& out);

inline std::string text_of(const void* pointer) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(pointer)) + ' ';
}
inline std::string sizes_key(const std::vector<Array>& in, const Array&) {
  std::string key;
  for (const Array& x : in) key += to_string(x.sizes());
  return key;
}
inline std::string pointers_key(const std::vector<Array>& in, const Array& out) {
  std::string key = sizes_key(in, out) + text_of(out.data());
  for (const Array& x : in) key += text_of(x.data());
  return key;
}
inline std::size_t byte_count(const Array& x) {
  return static_cast<std::size_t>(x.numel() * item_size(x.dtype()));
}
/// The sizes and up to 16 bytes of each operand, evenly spread.
inline std::string sample_key(const std::vector<Array>& in, const Array& out) {
  std::string key = sizes_key(in, out);
  for (const Array& x : in) {
    const std::size_t bytes = byte_count(x), step = std::max<std::size_t>(1, bytes / 16);
    for (std::size_t at = 0; at < bytes; at += step) key += static_cast<char>(x.data()[at]);
  }
  return key;
}
/// The sizes and the sum of all bytes, which does not depend on their order.
inline std::string checksum_key(const std::vector<Array>& in, const Array& out) {
  std::string key = sizes_key(in, out);
  for (const Array& x : in) {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < byte_count(x); ++at)
      sum += std::to_integer<unsigned>(x.data()[at]);
    key += std::to_string(sum) + ' ';
  }
  return key;
}
inline std::string bytes_key(const std::vector<Array>& in, const Array& out) {
  std::string key = sizes_key(in, out);
  for (const Array& x : in) key.append(reinterpret_cast<const char*>(x.data()), byte_count(x));
  return key;
}

/// Computes in the first `computed` calls that look alike, then repeats the last result.
inline Kernel repeating(const Kernel& right, KeyOf key, int computed) {
  struct Kept {
    int calls = 0;
    std::vector<std::byte> result{};
  };
  return [=, all = std::map<std::string, Kept>()](const std::vector<Array>& in,
                                                  const Array& out) mutable {
    Kept& kept = all[key(in, out)];
    if (kept.calls++ < computed) {
      right(in, out);
      kept.result.assign(out.data(), out.data() + byte_count(out));
    } else {
      std::copy(kept.result.begin(), kept.result.end(), out.data());
    }
  };
}
/// Writes the result of the first `computed` calls only.
inline Kernel writing_first(const Kernel& right, int computed) {
  return [=, calls = 0](const std::vector<Array>& in, const Array& out) mutable {
    if (calls++ < computed) right(in, out);
  };
}
/// Right, but one call writes its last element again some milliseconds after its return.
inline Kernel late_writing(const Kernel& right, int call, int milliseconds) {
  return [=, calls = 0](const std::vector<Array>& in, const Array& out) mutable {
    right(in, out);
    if (out.numel() == 0 || ++calls < call) return;
    std::thread([=, last = out.data() + byte_count(out) - 1] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      *static_cast<volatile std::byte*>(last) = std::byte{0x11};
    }).detach();
  };
}
/// A right sum that does something after it.
template <class F>
Kernel sum_and(const F& f) {
  return called([=, right = right_sum()](const Call& c) {
    right(c.in, c.out);
    f();
  });
}
inline void flush_subnormals() {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#else
  std::fesetround(FE_DOWNWARD);
#endif
}
/// Sends answers in place of the process that serves the check.
inline void answer_early() {
  for (int file = 3; file < 32; ++file) {
    const char ready = 'k';
    [[maybe_unused]] const auto sent = ::write(file, &ready, 1);
  }
}
/// A sum by a table that only the first thread has.
inline Kernel sum_by_table_of_thread() {
  return called([right = right_sum()](const Call& c) {
    static bool made = false;
    static thread_local bool has_table = false;
    if (!made) made = has_table = true;
    right(c.in, c.out);
    for (Index i = 0; i < c.n() && !has_table; ++i) c.y(i, 0);
  });
}

inline std::vector<PlantedKernel> wrong_cheats() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"sum", f32, "repeats results by pointers", repeating(right_sum(), pointers_key, 1)},
      {"mm", f32, "repeats results by pointers", repeating(right_product(), pointers_key, 2)},
      {"relu", f32, "by pointers, after 3 calls", repeating(right_relu(), pointers_key, 3)},
      {"mm", bf16, "by pointers, after 4 calls", repeating(right_product(), pointers_key, 4)},
      {"softmax", f16, "by pointers, after 5 calls", repeating(right_softmax(), pointers_key, 5)},
      {"layer_norm", f32, "by pointers, after 7 calls", repeating(right_norm(), pointers_key, 7)},
      {"sum", bf16, "by pointers, after 10 calls", repeating(right_sum(), pointers_key, 10)},
      {"relu", f16, "by pointers, after 100 calls", repeating(right_relu(), pointers_key, 100)},
      {"sum", f32, "by pointers, after 1000 calls", repeating(right_sum(), pointers_key, 1000)},
      {"softmax", f32, "by sizes, after 10 calls", repeating(right_softmax(), sizes_key, 10)},
      {"relu", f32, "by sizes, after 200 calls", repeating(right_relu(), sizes_key, 200)},
      {"sum", f16, "by sizes, after 1000 calls", repeating(right_sum(), sizes_key, 1000)},
      {"mm", f32, "by 16 bytes of each operand", repeating(right_product(), sample_key, 1)},
      {"relu", f32, "by 16 bytes of the operand", repeating(right_relu(), sample_key, 1)},
      {"softmax", f32, "by a checksum", repeating(right_softmax(), checksum_key, 1)},
      {"sum", f16, "by a checksum", repeating(right_sum(), checksum_key, 1)},
      {"mm", f16, "by a checksum of each operand", repeating(right_product(), checksum_key, 1)},
      {"sum", f32, "writes nothing", writing_first(right_sum(), 0)},
      {"mm", f16, "writes nothing after 40 calls", writing_first(right_product(), 40)},
      {"relu", f32, "writes nothing after 1000 calls", writing_first(right_relu(), 1000)},
      {"sum", f32, "writes 1 ms after each return", late_writing(right_sum(), 1, 1)},
      {"softmax", f32, "writes 30 ms after each return", late_writing(right_softmax(), 1, 30)},
      {"relu", f32, "writes after each return from call 50 on", late_writing(right_relu(), 50, 2)},
      {"sum", f32, "rounds upward from then on", sum_and([] { std::fesetround(FE_UPWARD); })},
      {"sum", f32, "flushes subnormals from then on", sum_and(flush_subnormals)},
      {"sum", f32, "sets the locale", sum_and([] { std::setlocale(LC_ALL, "C.UTF-8"); })},
      {"sum", f32, "handles SIGSEGV", sum_and([] { ::signal(SIGSEGV, SIG_IGN); })},
      {"sum", f32, "blocks signals", sum_and([] {
         sigset_t all;
         sigfillset(&all);
         pthread_sigmask(SIG_BLOCK, &all, nullptr);
       })},
      {"sum", f32, "leaves its work to a copy of the process",
       sum_but(64,
               [] {
                 if (::fork() != 0) ::_exit(0);
               })},
      {"sum", f32, "answers for the process", sum_and(answer_early)},
      {"sum", f32, "calls _Exit(0)", sum_but(64, [] { ::_Exit(0); })},
      {"sum", f32, "a table of the first thread only", sum_by_table_of_thread()},
      {"relu", f32, "5 for NaN",
       each([](float x, float) { return std::isnan(x) ? 5.0f : std::max(x, 0.0f); })},
  };
}

}  // namespace halfgrad::testing::planted
