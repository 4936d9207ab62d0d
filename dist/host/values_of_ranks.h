#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/dist/host/message_memory.h>
#include <halfgrad/dist/host/transport.h>

namespace halfgrad::dist {

/// Sends `own` to every rank. Returns the values of all ranks, in the order of ranks.
template <class T>
std::vector<T> values_of_ranks(Transport& transport, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::int64_t kBytes = sizeof(T);
  // Outlives a failure, as all memory of messages.
  const MessageMemory memory(Array::empty({transport.size() * kBytes}, kUInt8));
  auto* const values = reinterpret_cast<T*>(memory.data());
  std::vector<ReceivedBytes> receives;
  for (int r = 0; r < transport.size(); ++r) {
    receives.emplace_back(memory.data() + r * kBytes, kBytes);
  }
  values[transport.rank()] = own;
  exchange_with_all(transport, receives[transport.rank()], receives);
  return std::vector<T>(values, values + transport.size());
}

/// Returns when every rank has called it.
inline void wait_for_ranks(Transport& transport) { values_of_ranks(transport, std::byte()); }

}  // namespace halfgrad::dist
