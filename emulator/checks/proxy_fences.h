#pragma once

#include <algorithm>
#include <vector>

#include <halfgrad/emulator/checks/clocks.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// The last fence.proxy.async of each thread of a block. Bulk copies and wgmma read shared memory
/// by another path than stores, the asynchronous proxy: such a fence must come between a store and
/// a read of it (PTX ISA, "Memory Consistency Model: Proxies").
class ProxyFences {
 public:
  explicit ProxyFences(unsigned threads) : last_(threads, 0) {}

  void fence(unsigned first_thread, LaneMask lanes, Clock now) {
    each_lane(lanes, [&](unsigned lane) { last_[first_thread + lane] = now; });
    latest_ = now;
  }

  /// Whether a fence may come after what `thread` stored at `time`: one of its own, or one that
  /// another thread made later, which may be ordered after the store.
  bool may_follow(unsigned thread, Clock time) const {
    return last_[thread] >= time || latest_ > time;
  }

 private:
  std::vector<Clock> last_;
  Clock latest_ = 0;
};

}  // namespace halfgrad::emulator
