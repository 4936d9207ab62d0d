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

/// The way that an access takes. Textures, surfaces and ld.global.nc have caches that stores of the
/// same launch do not update.
enum class AccessPath : std::uint8_t { memory, texture, surface, read_only };

/// Role of an access to an mbarrier, whose phases order threads (LaunchChecks).
enum class MbarrierAct : std::uint8_t { none, arrive, wait };

/// One access of a warp: every active lane accesses `bytes` bytes.
struct Access {
  Space space = Space::generic;
  AccessKind kind = AccessKind::load;
  std::uint8_t bytes = 0;      ///< bytes of one lane: all elements of a vector
  std::uint8_t alignment = 1;  ///< alignment in bytes that the hardware requires
  Order order = Order::weak;
  Scope scope = Scope::gpu;
  bool overwrites = false;  ///< an atomic exchange whose old value no instruction reads
  /// Access by cp.async or a bulk copy, which is unordered until the program waits for it.
  bool asynchronous = false;
  AccessPath path = AccessPath::memory;
  MbarrierAct mbarrier = MbarrierAct::none;
};

/// Host addresses of the bytes that each active lane accesses.
struct HostPointers {
  std::array<std::byte*, kWarpSize> lane;
  bool contiguous = false;  ///< all 32 lanes are active, with adjacent bytes from lane[0]
};

/// Translates the active lanes' addresses. Checks bounds and alignment (throws KernelAborted),
/// counts sectors and bank conflicts, and calls the launch's checks. `stored` points to the bytes
/// that a store will write (`access.bytes` for each lane), or is nullptr.
HostPointers resolve(Execution& execution, const Instruction& instruction, const Access& access,
                     const LaneAddresses& addresses, const std::byte* stored = nullptr);

/// Addresses of an instruction whose base is its source `i`: base + immediate, 32 or 64 bits wide.
LaneAddresses addresses_of(const Execution& execution, const Instruction& instruction, unsigned i,
                           unsigned base_bytes);
/// Addresses base + `offset`, for instructions with two addresses and so two offsets.
LaneAddresses addresses_of(const Execution& execution, const Instruction& instruction, unsigned i,
                           unsigned base_bytes, std::int64_t offset);

}  // namespace halfgrad::emulator
