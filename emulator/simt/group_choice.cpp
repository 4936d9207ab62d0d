#include <algorithm>
#include <tuple>

#include <halfgrad/emulator/simt/warp_run.h>

namespace halfgrad::emulator {
namespace {

bool is_ready(const LaneGroup& group) { return group.state == LaneGroup::State::ready; }

/// Whether `a` runs before `b`: groups that let others pass come last, then the deepest call first,
/// then the lowest pc.
bool runs_before(const LaneGroup& a, const LaneGroup& b) {
  const auto key = [](const LaneGroup& group) {
    return std::tuple(group.passed, ~group.frame->depth, group.pc, first_lane(group.mask));
  };
  return key(a) < key(b);
}

/// Whether two groups can go on as one.
bool can_join(const LaneGroup& a, const LaneGroup& b) {
  if (a.pc != b.pc || a.frame != b.frame || a.state != b.state) return false;
  if (a.state == LaneGroup::State::waits_at_barrier) return a.barrier == b.barrier;
  return a.state == LaneGroup::State::ready || a.needed == b.needed;
}

}  // namespace

/// Joins groups that stand at one place.
void WarpRun::join_groups() {
  std::vector<LaneGroup>& groups = warp_->groups;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = groups.size() - 1; b > a; --b) {
      if (!can_join(groups[a], groups[b])) continue;
      groups[a].mask |= groups[b].mask;
      if (groups[a].branch_from != groups[b].branch_from) {
        groups[a].branch_from = kNowhere;
        groups[a].branch_to = groups[a].pc;
      }
      groups[a].passed &= groups[b].passed;
      groups[a].run_length = std::max(groups[a].run_length, groups[b].run_length);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
    }
  }
}

/// Index of the group that runs next, or -1 if all wait.
int WarpRun::pick() {
  std::vector<LaneGroup>& groups = warp_->groups;
  if (groups.size() == 1) {
    groups[0].passed = false;
    return is_ready(groups[0]) ? 0 : -1;
  }
  join_groups();
  const LaneGroup* best = nullptr;
  for (const LaneGroup& group : groups) {
    if (is_ready(group) && (best == nullptr || runs_before(group, *best))) best = &group;
  }
  if (best == nullptr) return -1;
  if (best->passed) {  // each had its turn: a new round begins
    for (LaneGroup& group : groups) group.passed = false;
    return pick();
  }
  return static_cast<int>(best - groups.data());
}

/// The next pc at which a ready group of the same frame stands, or the end of the function.
std::uint32_t WarpRun::meeting_point(const LaneGroup& group) const {
  auto nearest = static_cast<std::uint32_t>(group.frame->function->code.size());
  for (const LaneGroup& other : warp_->groups) {
    const bool ahead = is_ready(other) && other.frame == group.frame && other.pc > group.pc;
    if (ahead) nearest = std::min(nearest, other.pc);
  }
  return nearest;
}

bool WarpRun::others_ready(const LaneGroup& group) const {
  return std::any_of(warp_->groups.begin(), warp_->groups.end(),
                     [&](const LaneGroup& other) { return &other != &group && is_ready(other); });
}

}  // namespace halfgrad::emulator
