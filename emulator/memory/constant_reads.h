#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

class Module;

/// The parts of a module's constant variables that a grid has loaded, by words of 4 bytes.
/// Thread-safe.
class ConstantReads {
 public:
  explicit ConstantReads(Module& module);

  bool has_variables() const { return !variables_.empty(); }
  void add(LaneMask lanes, const LaneAddresses& addresses, unsigned bytes);

  struct Range {
    std::uint64_t address;
    std::size_t bytes;
  };
  std::vector<Range> ranges() const;

 private:
  struct Constant {
    std::uint64_t address;
    std::size_t bytes;
    std::size_t first_word;  ///< number of the word at its address in `words_`
    std::size_t word_count() const { return (bytes + 3) / 4; }
  };
  void add(std::uint64_t address, unsigned bytes);
  bool is_read(std::size_t word) const { return (words_[word / 32] >> word % 32 & 1) != 0; }

  std::vector<Constant> variables_;  ///< by address
  std::unique_ptr<std::atomic<std::uint32_t>[]> words_;
};

}  // namespace halfgrad::emulator
