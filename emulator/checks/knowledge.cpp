#include <halfgrad/emulator/checks/knowledge.h>

#include <algorithm>
#include <utility>

#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

LaneMask bit(unsigned lane) { return LaneMask{1} << lane; }

}  // namespace

WarpKnowledge::WarpKnowledge(std::uint32_t block, unsigned warp, KnowledgePointer known)
    : block_(block), first_thread_(warp * kWarpSize), shared_(std::move(known)) {}

bool WarpKnowledge::knows(unsigned lane, unsigned thread, Clock clock) const {
  if (clock <= floor_) return true;
  const unsigned other = thread - first_thread_;
  if (other < kWarpSize && (peers_[lane] & bit(other)) != 0 && clock <= peers_clock_[lane]) {
    return true;
  }
  return clock <= of(lane)->own.at(thread);
}

bool WarpKnowledge::knows(unsigned lane, std::uint32_t block, unsigned thread, Clock clock) const {
  if (block == block_) return knows(lane, thread, clock);
  const ThreadClocks* const clocks = find(of(lane)->others, block);
  return clocks != nullptr && clock <= clocks->at(thread);
}

bool WarpKnowledge::observed(unsigned lane, std::uint32_t block, unsigned thread,
                             Clock clock) const {
  if (patterns_ == nullptr || (patterns_->has_observed & bit(lane)) == 0) return false;
  for (const auto& trees : patterns_->observed) {
    const ThreadClocks* const clocks = find(trees[lane], block);
    if (clocks != nullptr && clock <= clocks->at(thread)) return true;
  }
  return false;
}

void WarpKnowledge::raise_lanes(ThreadClocks& clocks, LaneMask lanes, Clock clock) const {
  while (lanes != 0) {  // one run of neighbouring lanes after the other
    const unsigned begin = first_lane(lanes);
    const unsigned length = static_cast<unsigned>(std::countr_one(lanes >> begin));
    clocks.raise(first_thread_ + begin, first_thread_ + begin + length, clock);
    lanes &= begin + length == kWarpSize ? 0 : kAllLanes << (begin + length);
  }
}

void WarpKnowledge::update_floor() {
  floor_ = shared_ ? shared_->own.least() : 0;
  if (each_ == nullptr) return;
  floor_ = (*each_)[0]->own.least();
  for (const auto& known : *each_) floor_ = std::min(floor_, known->own.least());
}

void WarpKnowledge::set(LaneMask lanes, const KnowledgePointer& known) {
  each_lane(lanes, [&](unsigned lane) { peers_[lane] = 0; });
  if (lanes == kAllLanes) {
    each_.reset();
    shared_ = known;
  } else {
    if (each_ == nullptr) {
      each_ = std::make_unique<std::array<KnowledgePointer, kWarpSize>>();
      each_->fill(shared_);
    }
    each_lane(lanes, [&](unsigned lane) { (*each_)[lane] = known; });
  }
  update_floor();
}

void WarpKnowledge::synchronise(LaneMask lanes, Clock now) {
  take_observed(lanes, true);
  bool equal = patterns_ == nullptr || (patterns_->sequential & lanes) == 0;
  each_lane(lanes, [&](unsigned lane) {
    equal &= of(lane) == of(first_lane(lanes)) && (peers_[lane] & ~lanes) == 0;
    equal &= patterns_ == nullptr || patterns_->awaited[lane] == nullptr;
  });
  if (!equal) {
    Knowledge joined = complete(first_lane(lanes), lanes, now);
    take_fences(joined, lanes);
    set(lanes, std::make_shared<Knowledge>(std::move(joined)));
  }
  each_lane(lanes, [&](unsigned lane) {
    peers_[lane] = lanes;
    peers_clock_[lane] = now;
  });
}

WarpKnowledge::Patterns& WarpKnowledge::patterns() {
  if (patterns_ == nullptr) patterns_ = std::make_unique<Patterns>();
  return *patterns_;
}

void WarpKnowledge::await(unsigned lane, const Tree& fenced) {
  if (fenced == nullptr) return;
  Tree& awaited = patterns().awaited[lane];
  awaited = join(awaited, fenced);
}

void WarpKnowledge::take_fences(Knowledge& known, LaneMask lanes) {
  if (patterns_ == nullptr) return;
  each_lane(patterns_->sequential & lanes, [&](unsigned lane) {
    known.fenced = join(known.fenced, released_by_fence(lane, true));
  });
  patterns_->sequential &= ~lanes;
  each_lane(lanes, [&](unsigned lane) {
    known.awaited = join(known.awaited, std::exchange(patterns_->awaited[lane], nullptr));
  });
}

void WarpKnowledge::fence(LaneMask lanes, bool device, bool sequential, Clock now) {
  take_observed(lanes, device);
  Patterns& state = patterns();
  if (device && sequential) {
    each_lane(lanes, [&](unsigned lane) {
      add(lane, state.awaited[lane]);
      add(lane, of(lane)->awaited);
    });
    state.sequential |= lanes;
  }
  each_lane(lanes, [&](unsigned lane) {
    const Fence fence{of(lane), peers_[lane], peers_clock_[lane], now};
    state.fences[0][lane] = fence;
    if (device) state.fences[1][lane] = fence;
  });
}

void WarpKnowledge::add(unsigned lane, const Tree& tree) {
  if (tree == nullptr) return;
  const KnowledgePointer& before = of(lane);
  Knowledge known{before->own, join(before->others, tree), before->fenced, before->awaited};
  const ThreadClocks* const own = find(tree, block_);
  if (own != nullptr) known.own.join(*own);
  if (known.others == before->others && known.own == before->own) return;
  const LaneMask peers = peers_[lane];  // set() forgets them
  set(bit(lane), std::make_shared<Knowledge>(std::move(known)));
  peers_[lane] = peers;
}

void WarpKnowledge::take_observed(LaneMask lanes, bool device) {
  if (patterns_ == nullptr) return;
  each_lane(lanes & patterns_->has_observed, [&](unsigned lane) {
    add(lane, std::exchange(patterns_->observed[0][lane], nullptr));
    if (!device) return;
    add(lane, std::exchange(patterns_->observed[1][lane], nullptr));
    patterns_->has_observed &= ~bit(lane);
  });
}

void WarpKnowledge::observe(unsigned lane, const Released& released, bool device) {
  Patterns& state = patterns();
  if (released.block_number == block_) {
    state.observed[0][lane] = join(state.observed[0][lane], released.block);
  }
  if (device) state.observed[1][lane] = join(state.observed[1][lane], released.device);
  state.has_observed |= bit(lane);
}

void WarpKnowledge::acquire(unsigned lane, const Released& released, bool device) {
  auto& trees = patterns().acquired[lane];
  Tree &last = trees[0], &before = trees[1];
  const auto take = [&](const Tree& tree) {
    if (tree == last || tree == before) return;
    add(lane, tree);
    before = std::exchange(last, tree);
  };
  if (released.block_number == block_) take(released.block);
  if (device) take(released.device);
}

void WarpKnowledge::acquire(LaneMask lanes, const Tree& tree, Clock now) {
  if (tree == nullptr) return;
  Knowledge known = complete(first_lane(lanes), lanes, now);
  known.others = join(known.others, tree);
  if (const ThreadClocks* const own = find(tree, block_)) known.own.join(*own);
  set(lanes, std::make_shared<const Knowledge>(std::move(known)));
}

Tree WarpKnowledge::release(LaneMask lanes, Clock now) const {
  Knowledge known = complete(first_lane(lanes), lanes, now);
  return join(known.others, leaf(block_, std::move(known.own)));
}

Tree WarpKnowledge::released_by_fence(unsigned lane, bool device) const {
  if (patterns_ == nullptr) return nullptr;
  const Fence& fence = patterns_->fences[device][lane];
  if (fence.known == nullptr) return nullptr;
  ThreadClocks own = fence.known->own;
  raise_lanes(own, fence.peers, fence.peers_clock);
  raise_lanes(own, bit(lane), fence.clock);
  return join(fence.known->others, leaf(block_, std::move(own)));
}

Knowledge WarpKnowledge::complete(unsigned lane, LaneMask lanes, Clock now) const {
  Knowledge known = *of(lane);
  each_lane(lanes, [&](unsigned other) {
    if (of(other) != of(lane)) {
      known.own.join(of(other)->own);
      known.others = join(known.others, of(other)->others);
      known.fenced = join(known.fenced, of(other)->fenced);
      known.awaited = join(known.awaited, of(other)->awaited);
    }
    if ((peers_[other] & ~lanes) != 0) raise_lanes(known.own, peers_[other], peers_clock_[other]);
  });
  raise_lanes(known.own, lanes, now);
  return known;
}

BlockKnowledge::BlockKnowledge(std::uint32_t block, unsigned warp_count, Tree known)
    : number(block) {
  const auto all = std::make_shared<Knowledge>(Knowledge{ThreadClocks(), std::move(known)});
  warps.reserve(warp_count);
  for (unsigned warp = 0; warp < warp_count; ++warp) warps.emplace_back(block, warp, all);
}

bool BlockKnowledge::follows_completion(const Barrier& barrier, Arrival arrival) const {
  if (barrier.released.empty()) return true;
  const WarpKnowledge& warp = warps[arrival.warp->index];
  if ((arrival.lanes & ~barrier.released[arrival.warp->index]) == 0) return true;
  bool waited = false;
  for (std::size_t other = 0; other < barrier.released.size(); ++other) {
    if (barrier.released[other] == 0) continue;
    waited = true;
    const auto thread =
        static_cast<unsigned>(other * kWarpSize) + first_lane(barrier.released[other]);
    if (warp.knows(first_lane(arrival.lanes), thread, barrier.since)) return true;
  }
  return !waited;  // no thread can tell when a barrier completed at which all only arrive
}

bool BlockKnowledge::arrive(unsigned id, Arrival arrival) {
  if (arrival.lanes == 0) return true;
  WarpKnowledge& warp = warps[arrival.warp->index];
  warp.take_observed(arrival.lanes, true);
  Barrier& barrier = barriers_[id];
  const bool follows = follows_completion(barrier, arrival);
  Knowledge brought = warp.complete(first_lane(arrival.lanes), arrival.lanes, clock++);
  warp.take_fences(brought, arrival.lanes);
  Knowledge& gathered = barrier.gathered;
  gathered.own.join(brought.own);
  gathered.others = join(gathered.others, brought.others);
  gathered.fenced = join(gathered.fenced, brought.fenced);
  gathered.awaited = join(gathered.awaited, brought.awaited);
  return follows;
}

bool BlockKnowledge::complete(Block& block, unsigned id, std::span<const Arrival> waiters,
                              bool counted) {
  Barrier& barrier = barriers_[id];
  Knowledge known = std::exchange(barrier.gathered, Knowledge());
  // Threads that wait did nothing since they arrived. If nobody else is left, all is known up to
  // now. A barrier without a count also waits until threads that never arrive have exited.
  bool everyone = true;
  std::vector<LaneMask>& waiting = barrier.released;
  waiting.assign(warps.size(), 0);
  for (const Arrival& waiter : waiters) waiting[waiter.warp->index] |= waiter.lanes;
  for (const Warp& warp : block.warps) {
    everyone &= (warp.alive & ~waiting[warp.index]) == 0 && (warp.alive != 0 || !counted);
  }
  if (everyone) known.own = ThreadClocks(clock++);
  barrier.since = clock;
  const auto shared = std::make_shared<const Knowledge>(std::move(known));
  for (const Arrival& waiter : waiters) {
    const bool all = (waiter.warp->alive & ~waiting[waiter.warp->index]) == 0;
    warps[waiter.warp->index].set(all ? kAllLanes : waiter.lanes, shared);
  }
  return everyone;
}

}  // namespace halfgrad::emulator
