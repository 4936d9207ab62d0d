#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/simt/block_run.h>

namespace halfgrad::emulator {

/// A call of a builtin by one lane.
struct LaneCall {
  BlockRun& run;
  Execution execution;  ///< context of the call; its mask holds this lane only
  const Instruction& instruction;
  const Call& call;
  unsigned lane;

  std::byte* parameters() const {
    return execution.frame->parameters + lane * execution.frame->function->parameter_bytes;
  }
  /// The bytes of argument i as a T, 0 where the argument is shorter.
  template <class T = std::uint64_t>
  T argument(std::size_t i) const {
    T value{};
    if (i >= call.arguments.size()) return value;
    const Parameter& parameter = call.arguments[i];
    std::memcpy(&value, parameters() + parameter.offset, std::min(sizeof value, parameter.bytes));
    return value;
  }
  void set_result(std::uint64_t value) const {
    if (call.results.empty()) return;
    const Parameter& parameter = call.results[0];
    std::memcpy(parameters() + parameter.offset, &value, std::min<std::size_t>(8, parameter.bytes));
  }
  /// Reads memory as a load of this lane would.
  std::uint64_t load(std::uint64_t address, unsigned bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, resolve_lane(AccessKind::load, address, bytes, nullptr), bytes);
    return value;
  }
  /// Writes memory as a store of this lane would.
  void store(std::uint64_t address, std::uint64_t value, unsigned bytes) {
    std::memcpy(resolve_lane(AccessKind::store, address, bytes, &value), &value, bytes);
  }
  std::string string(std::uint64_t address) {
    std::string text;
    while (const auto next = static_cast<char>(load(address++, 1))) text += next;
    return text;
  }
  /// Number of the lane's thread in its block.
  unsigned thread() const { return execution.warp->index * kWarpSize + lane; }

 private:
  std::byte* resolve_lane(AccessKind kind, std::uint64_t address, unsigned bytes,
                          const void* stored) {
    Access access;
    access.kind = kind;
    access.bytes = access.alignment = static_cast<std::uint8_t>(bytes);
    LaneAddresses addresses{};
    addresses[lane] = address;
    std::byte values[kWarpSize * 8];
    if (stored != nullptr) std::memcpy(values + lane * bytes, stored, bytes);
    return resolve(execution, instruction, access, addresses, stored == nullptr ? nullptr : values)
        .lane[lane];
  }
};

}  // namespace halfgrad::emulator
