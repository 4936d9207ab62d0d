#include <halfgrad/emulator/checks/clocks.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace halfgrad::emulator {

Clock ThreadClocks::at(unsigned thread) const {
  const auto run = std::find_if(runs_.begin(), runs_.end(),
                                [&](const Run& candidate) { return thread < candidate.end; });
  return run->clock;
}

Clock ThreadClocks::least() const {
  Clock least = runs_.front().clock;
  for (const Run& run : runs_) least = std::min(least, run.clock);
  return least;
}

void ThreadClocks::raise(unsigned begin, unsigned end, Clock clock) {
  if (begin >= end) return;
  ThreadClocks other;
  other.runs_.clear();
  if (begin != 0) other.runs_.push_back({begin, 0});
  other.runs_.push_back({end, clock});
  if (end != kEnd) other.runs_.push_back({kEnd, 0});
  join(other);
}

void ThreadClocks::join(const ThreadClocks& other) {
  if (runs_.size() == 1 && other.runs_.size() == 1) {
    runs_[0].clock = std::max(runs_[0].clock, other.runs_[0].clock);
    return;
  }
  std::vector<Run> joined;
  joined.reserve(runs_.size() + other.runs_.size());
  for (auto a = runs_.cbegin(), b = other.runs_.cbegin();;) {
    const Run run{std::min(a->end, b->end), std::max(a->clock, b->clock)};
    if (!joined.empty() && joined.back().clock == run.clock) {
      joined.back().end = run.end;
    } else {
      joined.push_back(run);
    }
    if (run.end == kEnd) break;
    if (a->end == run.end) ++a;
    if (b->end == run.end) ++b;
  }
  runs_ = std::move(joined);
}

namespace {

/// The bits of a block's number above `branch`.
std::uint32_t prefix(std::uint32_t block, std::uint32_t branch) {
  return block & ~(branch | (branch - 1));
}

Tree inner(std::uint32_t branch, Tree left, Tree right) {
  const std::uint32_t bits = prefix(left->block, branch);
  return std::make_shared<BlockTree>(
      BlockTree{bits, branch, ThreadClocks(), std::move(left), std::move(right)});
}

/// A tree of two that have no block in common and differ in a bit above both branches.
Tree node_of(const Tree& a, const Tree& b) {
  const std::uint32_t branch = std::bit_floor(a->block ^ b->block);
  return (a->block & branch) == 0 ? inner(branch, a, b) : inner(branch, b, a);
}

/// Joins `small` into the side of `large` where its blocks belong.
Tree descend(const Tree& large, const Tree& small, bool large_first) {
  const bool goes_left = (small->block & large->branch) == 0;
  const Tree& child = goes_left ? large->left : large->right;
  Tree joined = large_first ? join(child, small) : join(small, child);
  if (joined == child) return large;
  return goes_left ? inner(large->branch, std::move(joined), large->right)
                   : inner(large->branch, large->left, std::move(joined));
}

Tree join_leaves(const Tree& a, const Tree& b) {
  ThreadClocks clocks = a->clocks;
  clocks.join(b->clocks);
  if (clocks == a->clocks) return a;
  if (clocks == b->clocks) return b;
  return leaf(a->block, std::move(clocks));
}

}  // namespace

Tree leaf(std::uint32_t block, ThreadClocks clocks) {
  return std::make_shared<BlockTree>(BlockTree{block, 0, std::move(clocks), nullptr, nullptr});
}

Tree join(const Tree& a, const Tree& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  if (a->branch == b->branch && a->block == b->block) {
    if (a->branch == 0) return join_leaves(a, b);
    Tree left = join(a->left, b->left), right = join(a->right, b->right);
    if (left == a->left && right == a->right) return a;
    if (left == b->left && right == b->right) return b;
    return inner(a->branch, std::move(left), std::move(right));
  }
  if (a->branch > b->branch && prefix(b->block, a->branch) == a->block) {
    return descend(a, b, true);
  }
  if (b->branch > a->branch && prefix(a->block, b->branch) == b->block) {
    return descend(b, a, false);
  }
  return node_of(a, b);
}

const ThreadClocks* find(const Tree& tree, std::uint32_t block) {
  const BlockTree* node = tree.get();
  while (node != nullptr && node->branch != 0) {
    if (prefix(block, node->branch) != node->block) return nullptr;
    node = ((block & node->branch) == 0 ? node->left : node->right).get();
  }
  return node != nullptr && node->block == block ? &node->clocks : nullptr;
}

}  // namespace halfgrad::emulator
