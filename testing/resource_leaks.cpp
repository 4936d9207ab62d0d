#include <halfgrad/testing/resource_leaks.h>

#include <fstream>
#include <utility>

#include <malloc.h>
#include <unistd.h>

namespace halfgrad::testing::detail {
namespace {

constexpr int kCalls = 256, kIntervals = 8;
constexpr int kMostFiles = 200;  // a kernel may keep as many open

/// The number that the next file of this process gets.
int next_file() {
  const int file = ::dup(STDERR_FILENO);
  if (file >= 0) ::close(file);
  return file;
}

/// Bytes that malloc() has given out.
std::int64_t heap_bytes() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 now = ::mallinfo2();
  return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
#else
  return 0;
#endif
}

/// Bytes of the address space in use, among them memory of mmap().
std::int64_t mapped_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

ResourceLeaks::ResourceLeaks() : first_file_(next_file()) {
  heap_.last = heap_.first = heap_bytes();
  pages_.last = pages_.first = mapped_bytes();
}

bool ResourceLeaks::Growth::goes_on(std::int64_t now) {
  constexpr std::int64_t kLeast = kCalls * 4;  // bytes in an interval
  if (now - last < kLeast) {
    intervals = 0;
    first = now;
  } else {
    ++intervals;
  }
  last = now;
  return intervals >= kIntervals;
}

std::string ResourceLeaks::after_call() {
  const int file = next_file();
  if (first_file_ >= 0 && (file < 0 || file > first_file_ + kMostFiles)) {
    first_file_ = file;
    return "the kernel leaves files open: " +
           (file < 0 ? std::string("no more can be opened")
                     : "more than " + std::to_string(kMostFiles)) +
           " after " + std::to_string(calls_ + 1) + " calls";
  }
  if (++calls_ % kCalls != 0) return {};
  for (const auto& [growth, now] :
       {std::pair{&heap_, heap_bytes()}, std::pair{&pages_, mapped_bytes()}}) {
    if (!growth->goes_on(now)) continue;
    return "the kernel loses memory: " +
           std::to_string((growth->last - growth->first) / (kCalls * kIntervals)) +
           " bytes a call, in " + std::to_string(kCalls * kIntervals) + " calls";
  }
  return {};
}

}  // namespace halfgrad::testing::detail
