#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/emulator/runtime/streams/clock.h>

namespace halfgrad::emulator {

/// Copies that may still read pinned memory of the host, which the host must not write until it has
/// waited for them. The emulator sees no accesses of the host, so it compares samples of the bytes.
/// Eager streams only: work runs while it is given, so that changes in between are the host's.
class HostReads {
 public:
  /// A copy reads these bytes; `text` names its call.
  void add(Position position, const void* begin, std::size_t bytes, std::string text);
  /// Reports those whose bytes have changed since the last call, each once.
  void check();
  /// Takes the bytes as they are: the GPU's work may have written them.
  void accept();
  /// Forgets the copies that the host has waited for.
  void forget(const Clock& waited);
  bool empty() const { return reads_.empty(); }

 private:
  struct Read {
    Position position;
    const std::byte* begin;
    std::size_t bytes;
    std::string text;
    std::uint64_t sample;
  };
  static std::uint64_t sample_of(const Read& read);

  std::vector<Read> reads_;
};

}  // namespace halfgrad::emulator
