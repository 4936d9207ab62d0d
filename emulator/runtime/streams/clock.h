#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace halfgrad::emulator {

/// A chain is a list of operations that run one after the other: a stream, one branch of the graphs
/// that a stream launches, or the host. Chains are numbered from 1 and never renumbered.
using ChainId = std::uint32_t;

/// The index-th operation of a chain, counted from 1.
struct Position {
  ChainId chain = 0;
  std::uint32_t index = 0;
};

/// A vector clock: for each chain, how many of its operations come before (Fidge 1988, Mattern
/// 1989). Chains that are not listed count 0.
class Clock {
 public:
  bool covers(Position position) const { return count(position.chain) >= position.index; }
  bool covers(const Clock& other) const;
  std::uint32_t count(ChainId chain) const;

  /// Adds a position with all that precedes it in its chain.
  void reach(Position position);
  /// The maximum of both clocks, chain by chain.
  void join(const Clock& other);
  /// Drops the chains in which `other` counts at least as many operations.
  void drop_covered(const Clock& other);

  const std::vector<Position>& positions() const { return positions_; }

 private:
  std::vector<Position> positions_;  ///< sorted by chain, every index at least 1
};

/// Clocks of operations do not change, and neighbours in a stream mostly share one.
using SharedClock = std::shared_ptr<const Clock>;

/// The join of both; the first itself if it covers the second.
SharedClock joined(const SharedClock& first, const Clock& second);
SharedClock reached(const SharedClock& clock, Position position);

}  // namespace halfgrad::emulator
