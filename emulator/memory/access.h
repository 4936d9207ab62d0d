#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

enum class Space : std::uint8_t { generic, global, shared, local, parameter, constant };
enum class AccessKind : std::uint8_t { load, store, atomic };
/// Memory semantics (PTX ISA, "Memory Consistency Model"). `volatile_` counts as relaxed at system
/// scope.
enum class Order : std::uint8_t { weak, volatile_, relaxed, acquire, release, acquire_release };
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

/// Generic addresses name their space in the top four bits; device memory has 0 there, so a global
/// address is a generic address. The offset in the window is in the low bits.
inline constexpr std::uint64_t kSharedWindow = 4ull << 60;
inline constexpr std::uint64_t kLocalWindow = 2ull << 60;
inline constexpr std::uint64_t kParameterWindow = 6ull << 60;
inline constexpr std::uint64_t kWindowMask = 15ull << 60;

/// One access of a warp: every active lane accesses `bytes` bytes.
struct Access {
  Space space = Space::generic;
  AccessKind kind = AccessKind::load;
  std::uint8_t bytes = 0;      ///< of one lane, all elements of a vector
  std::uint8_t alignment = 1;  ///< that the hardware demands
  Order order = Order::weak;
  Scope scope = Scope::gpu;
  bool asynchronous = false;  ///< by cp.async or a bulk copy: unordered until waited for
};

/// Where the bytes of each active lane are in the host's memory.
struct HostPointers {
  std::array<std::byte*, kWarpSize> lane;
  bool contiguous = false;  ///< all 32 lanes are active and follow each other from lane[0]
};

/// Translates the active lanes' addresses. Checks bounds and alignment (throws KernelAborted),
/// counts sectors and bank conflicts, and tells the launch's checks. `stored` are the bytes that a
/// store will write, `bytes` for each lane, or nullptr.
HostPointers resolve(Execution& execution, const Instruction& instruction, const Access& access,
                     const LaneAddresses& addresses, const std::byte* stored = nullptr);

/// Addresses of an instruction whose base is its source `i`: base + immediate, 32 or 64 bits wide.
LaneAddresses addresses_of(const Execution& execution, const Instruction& instruction, unsigned i,
                           unsigned base_bytes);
/// The same with an offset of its own, for instructions with two addresses.
LaneAddresses addresses_of(const Execution& execution, const Instruction& instruction, unsigned i,
                           unsigned base_bytes, std::int64_t offset);

}  // namespace halfgrad::emulator
