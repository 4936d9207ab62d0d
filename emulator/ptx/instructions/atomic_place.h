#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>

#include <halfgrad/emulator/ptx/instructions/memory_form.h>

namespace halfgrad::emulator {

/// Replaces the bits at `place` by update(bits) in one step and returns what was there. Blocks run
/// on several host threads; shared memory belongs to one block, so one thread.
template <class Bits, class Update>
Bits exchange(std::byte* place, bool of_one_thread, Update update) {
  Bits& bits = *reinterpret_cast<Bits*>(place);
  if (of_one_thread) {
    const Bits old = bits;
    bits = update(old);
    return old;
  }
  const std::atomic_ref<Bits> shared(bits);
  Bits old = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(old, update(old))) {
  }
  return old;
}

/// C++20 has no atomic exchange of 16 bytes for every host: a lock, chosen by the address, guards
/// it.
template <class Update>
Bits128 exchange(std::byte* place, bool, Update update) {
  static std::array<std::mutex, 64> locks;
  const auto line = reinterpret_cast<std::uintptr_t>(place) / sizeof(Bits128);
  const std::lock_guard lock(locks[line % locks.size()]);
  Bits128 old;
  std::memcpy(&old, place, sizeof old);
  const Bits128 bits = update(old);
  std::memcpy(place, &bits, sizeof bits);
  return old;
}

template <class Bits, class Update>
Bits replace(std::byte* place, bool of_one_thread, Update update) {
  if constexpr (sizeof(Bits) == 16) {
    return exchange(place, of_one_thread, update);
  } else {
    return exchange<Bits>(place, of_one_thread, update);
  }
}

}  // namespace halfgrad::emulator
