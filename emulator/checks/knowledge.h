#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <halfgrad/emulator/checks/clocks.h>
#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/checks/proxy_fences.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// The accesses that a thread is ordered after: of its own block and of others.
///
/// Sequentially consistent fences of device scope are ordered among each other (PTX ISA, "Fence-SC
/// order"). If a thread is ordered after a read that observed a write, and that write after fence
/// F, then a fence of the thread comes after F: in the other order, the read could not have
/// observed the write. So accesses before F are carried along, and a later fence takes them over.
struct Knowledge {
  ThreadClocks own;
  Tree others;
  Tree fenced{};   ///< accesses before such fences that the thread is ordered after
  Tree awaited{};  ///< accesses that such a fence would take over
};
using KnowledgePointer = std::shared_ptr<const Knowledge>;

/// Knowledge that strong accesses released through a word of memory. A release of block scope
/// reaches threads of its own block only.
struct Released {
  Tree device;  ///< for every block
  Tree block;   ///< for the threads of block `block_number`
  Tree fenced;  ///< before sequentially consistent fences: Knowledge::fenced of the writers
  std::uint32_t block_number = 0;
};

/// A strong write of another thread that a volatile load saw, and that nothing orders before it.
struct Sight {
  std::uint32_t block = 0, thread = 0;
  Clock clock = 0;  ///< 0: none
  std::uint64_t address = 0;
};

/// The knowledge of the lanes of a warp. Lanes share one object until some of them acquire more.
class WarpKnowledge {
 public:
  WarpKnowledge(std::uint32_t block, unsigned warp, KnowledgePointer known);

  /// Whether `lane` is ordered after what `thread` of the own block did at `clock`.
  bool knows(unsigned lane, unsigned thread, Clock clock) const;
  /// The same about another block.
  bool knows(unsigned lane, std::uint32_t block, unsigned thread, Clock clock) const;
  /// Whether a strong read of `lane` is ordered after that access. Such a read may rely on a
  /// release that the lane has observed and that no fence has completed yet: volatile reads after
  /// an atomic.
  bool observed(unsigned lane, std::uint32_t block, unsigned thread, Clock clock) const;
  /// All lanes know all threads of the block up to this time.
  Clock floor() const { return floor_; }

  /// Lanes synchronise at time `now`: each knows what all of them know and did.
  void synchronise(LaneMask lanes, Clock now);
  /// Lanes execute one instruction together that orders no memory, such as a shuffle.
  void meet(LaneMask lanes, Clock now) { met_ = {lanes, now}; }
  /// Whether the last such instruction lies between an access of `thread` at `clock` and now, and
  /// both threads executed it: a program may have taken it for a barrier.
  bool has_met(unsigned lane, unsigned thread, Clock clock) const {
    const unsigned other = thread - first_thread_;
    return other < kWarpSize && clock <= met_.clock && (met_.lanes >> other & 1) != 0 &&
           (met_.lanes >> lane & 1) != 0;
  }
  /// A fence at time `now`; `sequential`: sequentially consistent.
  void fence(LaneMask lanes, bool device, bool sequential, Clock now);
  /// Remembers what a fence of the lane after this strong read will take over.
  void await(unsigned lane, const Tree& fenced);
  /// Accesses before sequentially consistent fences of others that the lane is ordered after.
  const Tree& fenced(unsigned lane) const { return of(lane)->fenced; }
  /// Remembers what a strong read observed until a fence, a barrier or an acquire takes it over.
  void observe(unsigned lane, const Released& released, bool device);
  /// Takes over what a read with acquire semantics observed.
  void acquire(unsigned lane, const Released& released, bool device);
  /// Takes over the accesses in `tree`, as the lanes wait together at a barrier of a cluster.
  void acquire(LaneMask lanes, const Tree& tree, Clock now);
  /// Returns the accesses that a release by these lanes at time `now` makes known.
  Tree release(LaneMask lanes, Clock now) const;
  /// The write that a volatile load of the lane saw last.
  Sight& sight(unsigned lane) {
    if (sights_ == nullptr) sights_ = std::make_unique<std::array<Sight, kWarpSize>>();
    return (*sights_)[lane];
  }
  bool has_fence(unsigned lane) const {
    return patterns_ != nullptr && patterns_->fences[0][lane].known != nullptr;
  }
  /// Returns the accesses that a strong write without release semantics makes known: all before the
  /// lane's last fence.
  Tree released_by_fence(unsigned lane, bool device) const;

  /// Adds what the lanes' own fences and strong reads bring to `known`, which the lanes and others
  /// then share.
  void take_fences(Knowledge& known, LaneMask lanes);

  /// Returns the joined knowledge of these lanes, with their own accesses until `now`.
  Knowledge complete(unsigned lane, LaneMask lanes, Clock now) const;
  /// Takes over what strong reads observed.
  void take_observed(LaneMask lanes, bool device);
  void set(LaneMask lanes, const KnowledgePointer& known);

 private:
  struct Fence {
    KnowledgePointer known;
    LaneMask peers = 0;
    Clock peers_clock = 0, clock = 0;
  };
  /// An instruction that lanes executed together and that orders no memory.
  struct Meeting {
    LaneMask lanes = 0;
    Clock clock = 0;
  };
  /// Fences and the releases that strong reads observed (PTX ISA, "Release and Acquire Patterns");
  /// [1]: of device scope and wider.
  struct Patterns {
    std::array<std::array<Fence, kWarpSize>, 2> fences;
    std::array<std::array<Tree, kWarpSize>, 2> observed;
    LaneMask has_observed = 0;
    /// The last two released trees that each lane acquired, of both words of an mbarrier: polls
    /// acquire the same ones again and again.
    std::array<std::array<Tree, 2>, kWarpSize> acquired;
    std::array<Tree, kWarpSize> awaited;  ///< by strong reads, not in Knowledge yet
    LaneMask sequential = 0;  ///< lanes whose last fence was one that Knowledge::fenced lacks
  };

  const KnowledgePointer& of(unsigned lane) const { return each_ ? (*each_)[lane] : shared_; }
  void add(unsigned lane, const Tree& tree);
  Patterns& patterns();
  void raise_lanes(ThreadClocks& clocks, LaneMask lanes, Clock clock) const;
  void update_floor();

  std::uint32_t block_;
  unsigned first_thread_;
  Clock floor_ = 0;
  KnowledgePointer shared_;  ///< for all lanes, while each_ is null
  std::unique_ptr<std::array<KnowledgePointer, kWarpSize>> each_;
  /// The lanes of the last warp-wide synchronisation of each lane, and its time: not in `of(lane)`.
  std::array<LaneMask, kWarpSize> peers_{};
  std::array<Clock, kWarpSize> peers_clock_{};
  Meeting met_;
  std::unique_ptr<Patterns> patterns_;
  std::unique_ptr<std::array<Sight, kWarpSize>> sights_;
};

/// Time and knowledge of the threads of a running block.
class BlockKnowledge {
 public:
  /// `known`: accesses of other blocks that come before the block.
  BlockKnowledge(std::uint32_t number, unsigned warps, Tree known = nullptr);

  std::uint32_t number;
  Clock clock = 1;
  std::vector<WarpKnowledge> warps;
  ProxyFences proxy_fences;
  /// A thread of the block, or of its cluster, has executed griddepcontrol.wait.
  bool waited_for_grids = false;

  /// Named barriers: an arrival releases, completion acquires all arrivals. Returns whether the
  /// arrival is ordered after the barrier's last completion. If not, it could have come before it.
  bool arrive(unsigned id, Arrival arrival);
  /// Returns whether all threads of the block that still run are ordered after all that the block
  /// did. A `counted` barrier waits for this count of arrivals, whoever has exited.
  bool complete(Block& block, unsigned id, std::span<const Arrival> waiters, bool counted);

 private:
  struct Barrier {
    Knowledge gathered;              ///< brought by arrivals since the last completion
    std::vector<LaneMask> released;  ///< lanes that waited for the last completion, by warp
    Clock since = 0;                 ///< the time after the last completion
  };
  bool follows_completion(const Barrier& barrier, Arrival arrival) const;

  std::map<unsigned, Barrier> barriers_;
};

}  // namespace halfgrad::emulator
