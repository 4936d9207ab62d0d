#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include <halfgrad/emulator/checks/clocks.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// The fences of a block's threads between the two paths to memory: fence.proxy.async, and
/// fence.mbarrier_init for mbarriers. Bulk copies and wgmma access memory by another path than
/// loads and stores, the asynchronous proxy. A fence must lie between a store and their access, on
/// the way by which the one is ordered before the other (PTX ISA, "Memory Consistency Model:
/// Proxies"): the thread that stored executes it, the thread that issues the copy, or one between.
class ProxyFences {
 public:
  /// Lanes of a warp execute a fence. `own`: the accesses of the block's threads that it is ordered
  /// after. `of_mbarriers`: fence.mbarrier_init, which is for the inits of its own thread only.
  void fence(unsigned first_thread, LaneMask lanes, ThreadClocks own, Clock now,
             bool of_mbarriers) {
    if (fences_.size() == kMostFences) {
      forgotten_ = fences_.front().time;
      fences_.pop_front();
    }
    fences_.push_back({first_thread, lanes, std::move(own), now, of_mbarriers});
  }
  /// The end of an asynchronous reduction is a fence for everybody.
  void complete(Clock now) { complete_ = now; }

  /// A store, and the copy that needs a fence after it.
  struct Need {
    unsigned thread = 0;  ///< stored
    Clock time = 0;       ///< at this time
    bool mbarrier = false;
    unsigned issuer = kNobody;  ///< the thread of this block that issues the copy
  };
  static constexpr unsigned kNobody = ~0u;

  /// Whether a fence lies between the store and now. `is_before(thread, clock)`: whether the issuer
  /// is ordered after that thread of this block.
  template <class F>
  bool follow(const Need& need, F is_before) const {
    if (need.time <= complete_ || need.time <= forgotten_) return true;
    if (last_ < fences_.size() && helps(fences_[last_], need, is_before)) return true;
    for (std::size_t i = fences_.size(); i-- > 0;) {
      if (!helps(fences_[i], need, is_before)) continue;
      last_ = i;
      return true;
    }
    return false;
  }

  /// mbarrier.init, by a byte offset in shared memory; a time of 0: mbarrier.inval.
  struct Init {
    unsigned thread = 0;
    Clock time = 0;
    std::uint32_t place = 0;  ///< Function::places of the instruction
  };
  void initialise(std::uint32_t offset, Init init) { inits_[offset] = init; }
  Init init_of(std::uint32_t offset) const {
    const auto found = inits_.find(offset);
    return found == inits_.end() ? Init{} : found->second;
  }

 private:
  struct Fence {
    unsigned first_thread = 0;
    LaneMask lanes = 0;
    ThreadClocks own;
    Clock time = 0;
    bool of_mbarriers = false;

    bool has(unsigned thread) const {
      return thread - first_thread < kWarpSize && (lanes >> (thread - first_thread) & 1) != 0;
    }
  };
  static constexpr std::size_t kMostFences = 256;

  template <class F>
  static bool helps(const Fence& fence, const Need& need, F is_before) {
    if (fence.time < need.time || (fence.of_mbarriers && !need.mbarrier)) return false;
    if (fence.has(need.thread) && is_before(need.thread, fence.time)) return true;
    if (fence.of_mbarriers || fence.own.at(need.thread) < need.time) return false;
    return fence.has(need.issuer) ||
           is_before(fence.first_thread + first_lane(fence.lanes), fence.time);
  }

  std::deque<Fence> fences_;
  mutable std::size_t last_ = 0;  ///< the fence that helped last: neighbours have the same one
  Clock complete_ = 0, forgotten_ = 0;
  std::map<std::uint32_t, Init> inits_;
};

}  // namespace halfgrad::emulator
