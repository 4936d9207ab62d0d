#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace halfgrad::emulator {

/// Logical time of a block: ticks whenever a thread of the block releases what it did. An access is
/// stamped with the time at which it happens; 0 is before all accesses.
using Clock = std::uint32_t;

/// For each thread of a block, the time up to which its accesses are known: a vector clock, stored
/// as runs of threads with equal times. A barrier of the whole block leaves one run.
class ThreadClocks {
 public:
  explicit ThreadClocks(Clock all = 0) : runs_{{kEnd, all}} {}

  Clock at(unsigned thread) const;
  /// Smallest time of any thread.
  Clock least() const;
  /// Sets the times of threads [begin, end) to `clock` where they are smaller.
  void raise(unsigned begin, unsigned end, Clock clock);
  /// Raises each thread's time to that in `other`.
  void join(const ThreadClocks& other);

  bool operator==(const ThreadClocks&) const = default;

 private:
  static constexpr std::uint32_t kEnd = ~0u;
  struct Run {
    std::uint32_t end;
    Clock clock;
    bool operator==(const Run&) const = default;
  };
  std::vector<Run> runs_;  ///< ascending ends; the last end is kEnd
};

/// Immutable map from a block's number to its ThreadClocks: a binary Patricia tree (Okasaki and
/// Gill, "Fast Mergeable Integer Maps"). Versions share nodes, so that joining two that differ in
/// few blocks takes few steps. An empty tree is nullptr.
struct BlockTree;
using Tree = std::shared_ptr<const BlockTree>;
struct BlockTree {
  std::uint32_t block = 0;   ///< leaf: number of the block; inner node: bits above `branch`
  std::uint32_t branch = 0;  ///< the bit that decides between left and right; 0 in a leaf
  ThreadClocks clocks;
  Tree left, right;
};

Tree leaf(std::uint32_t block, ThreadClocks clocks);
/// For each block the later of both times of each thread. Returns `a` itself if b adds nothing.
Tree join(const Tree& a, const Tree& b);
/// Clocks of a block, or nullptr.
const ThreadClocks* find(const Tree& tree, std::uint32_t block);

}  // namespace halfgrad::emulator
