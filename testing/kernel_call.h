#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The messages between a check and the process of its kernel, at the start of the memory that both
/// map. The sockets carry one byte for each message.
namespace halfgrad::testing::detail {

struct CallArray {
  std::uint64_t data = 0;  // offset of the first element in the shared memory
  std::uint64_t bytes = 0;
  std::uint64_t storage = 0, storage_bytes = 0;  // the array with the guards around it
  std::int32_t dtype = 0, ndim = 0;
  std::array<std::int64_t, 8> sizes{}, strides{};

  friend bool operator==(const CallArray&, const CallArray&) = default;
};

inline constexpr std::size_t kMostArrays = 16;

struct KernelCall {
  std::uint32_t count = 0;    // number of arrays
  std::uint32_t outputs = 1;  // the last of them
  std::array<CallArray, kMostArrays> arrays{};

  std::size_t first_output() const { return count - outputs; }

  // The answer.
  bool threw = false;
  std::array<char, 4096> text{};  // describes an exception or a change of state
  bool only_flushes = false;      // the change is that subnormals are flushed
  // Written by the handler of signals, before the process ends.
  std::int32_t signal = 0;
  bool in_shared_memory = false, wrote = false;
  std::uint64_t address = 0;  // an offset if in_shared_memory
};

inline constexpr char kRun = 'r', kReady = 'k', kFailed = 'f', kChangedState = 's';

/// The pages [first, last) that hold an array, as offsets.
struct PageRange {
  std::size_t first, last;
};
inline PageRange pages_of(const CallArray& array, std::size_t page) {
  const std::size_t end = array.data + array.bytes;
  return {array.data / page * page, (end + page - 1) / page * page};
}

}  // namespace halfgrad::testing::detail
