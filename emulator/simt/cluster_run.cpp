#include <halfgrad/emulator/simt/cluster_run.h>

#include <algorithm>

namespace halfgrad::emulator {
namespace {

constexpr std::uint64_t kTurn = 1 << 14;  ///< units of time of a block before the next one's turn

Dim3 index_in_box(std::uint64_t number, const Dim3& sizes) {
  return {static_cast<unsigned>(number % sizes.x),
          static_cast<unsigned>(number / sizes.x % sizes.y),
          static_cast<unsigned>(number / sizes.x / sizes.y)};
}

}  // namespace

void ClusterRun::prepare(GridState& grid, std::vector<InstructionCounters>& counters) {
  grid_ = &grid;
  blocks_.resize(grid.cluster_blocks);
  by_rank_.clear();
  for (auto& block : blocks_) {
    if (block == nullptr) block = std::make_unique<BlockRun>();
    block->prepare(grid, barrier_, counters);
    by_rank_.push_back(&block->block());
  }
  barrier_.prepare(by_rank_);
}

void ClusterRun::start(std::uint64_t number) {
  const Dim3 &grid = grid_->launch.request.grid, &size = grid_->launch.request.cluster;
  const Dim3 cluster = index_in_box(number, {grid.x / size.x, grid.y / size.y, grid.z / size.z});
  current_ = 0;
  vain_turns_ = {};
  barrier_.start();
  for (unsigned rank = 0; rank < blocks_.size(); ++rank) {
    const Dim3 own = index_in_box(rank, size);
    Block& block = blocks_[rank]->block();
    block.cluster = by_rank_;
    block.rank = rank;
    block.index_in_cluster = own;
    blocks_[rank]->start(
        {cluster.x * size.x + own.x, cluster.y * size.y + own.y, cluster.z * size.z + own.z});
  }
}

ClusterRun::Outcome ClusterRun::run(std::uint64_t units) {
  if (blocks_.size() > 1) return run_turns(units);
  const Outcome outcome = run_one(*blocks_[0], units);
  if (outcome == Outcome::finished) end_checks();
  if (outcome == Outcome::blocked) blocks_[0]->stuck();
  return outcome;
}

/// A block that waits at the cluster's barrier goes on if the barrier completes meanwhile.
ClusterRun::Outcome ClusterRun::run_one(BlockRun& block, std::uint64_t units) {
  for (;;) {
    const std::uint64_t completions = barrier_.completions();
    const Outcome outcome = block.run(units);
    if (outcome != Outcome::blocked || barrier_.completions() == completions) return outcome;
  }
}

ClusterRun::Outcome ClusterRun::run_turns(std::uint64_t units) {
  for (std::uint64_t used = 0; used < units; used += kTurn) {
    const std::uint64_t completions = barrier_.completions();
    std::size_t blocked = 0, spins = 0, finished = 0, stuck = 0;
    for (current_ = 0; current_ < blocks_.size(); ++current_) {
      BlockRun& block = *blocks_[current_];
      const Outcome outcome =
          block.block().finished ? Outcome::finished : run_one(block, std::min(units, kTurn));
      if (outcome == Outcome::stopped) return outcome;
      if (outcome == Outcome::blocked) stuck = current_;
      blocked += outcome == Outcome::blocked ? 1 : 0;
      spins += outcome == Outcome::spins ? 1 : 0;
      finished += outcome == Outcome::finished ? 1 : 0;
    }
    current_ = stuck;
    if (finished == blocks_.size()) {
      end_checks();
      return Outcome::finished;
    }
    const bool progress = barrier_.completions() != completions;
    if (blocked + finished == blocks_.size() && !progress) blocks_[stuck]->stuck();
    if (blocked + finished + spins == blocks_.size() && !progress) return Outcome::spins;
  }
  return Outcome::out_of_time;
}

/// Checks keep the state of a block until no block of the cluster can access its memory.
void ClusterRun::end_checks() {
  LaunchChecks* const checks = grid_->launch.checks.get();
  if (checks == nullptr) return;
  for (auto& block : blocks_) checks->check_lifetime(block->block());
  for (auto& block : blocks_) checks->block_ends(block->block());
}

bool ClusterRun::only_polled() const {
  return std::all_of(blocks_.begin(), blocks_.end(), [](const auto& block) {
    return block->block().finished || block->only_polled();
  });
}

std::uint64_t ClusterRun::executed() const {
  std::uint64_t sum = 0;
  for (const auto& block : blocks_) sum += block->executed();
  return sum;
}

void ClusterRun::flush_output() {
  for (auto& block : blocks_) block->flush_output();
}

}  // namespace halfgrad::emulator
