#include <halfgrad/emulator/simt/grid_run.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <halfgrad/emulator/simt/block_run.h>
#include <halfgrad/emulator/simt/worker_pool.h>

namespace halfgrad::emulator {
namespace {

/// Units of time of a block before another one gets a turn. Blocks that poll memory give up
/// earlier.
constexpr std::uint64_t kBlockTurn = 1 << 18;
/// Instructions of a warp that must be left, about, before helpers are woken: that takes as long as
/// some hundred of them.
constexpr std::uint64_t kWorthHelp = 4096;
/// Blocks' storage that a host thread keeps for later launches.
constexpr std::size_t kKeptBlocks = 2;

using Blocks = std::vector<std::unique_ptr<BlockRun>>;

Blocks& kept_blocks() {
  thread_local Blocks blocks;
  return blocks;
}

/// Runs blocks of a grid on one host thread.
class GridWorker {
 public:
  explicit GridWorker(GridState& grid) : grid_(grid) {
    counters_.resize(grid.launch.request.kernel.instruction_count);
  }
  ~GridWorker() {
    Blocks& kept = kept_blocks();
    for (auto& run : free_) {
      if (kept.size() < kKeptBlocks) kept.push_back(std::move(run));
    }
  }
  GridWorker(const GridWorker&) = delete;
  GridWorker& operator=(const GridWorker&) = delete;

  /// Runs one block for a turn: a fresh one while the GPU could hold more, then the one whose last
  /// turn is longest ago. Returns false when nothing is left for this thread.
  bool step() {
    std::unique_ptr<BlockRun> run = next();
    if (run == nullptr) return false;
    const BlockRun::Outcome outcome = turn(*run);
    executed_ += run->executed();
    if (outcome == BlockRun::Outcome::finished) {
      grid_.resident.fetch_sub(1, std::memory_order_relaxed);
      free_.push_back(std::move(run));
    } else {
      waiting_.push_back(std::move(run));
    }
    return true;
  }

  void run_all() {
    while (step()) {
    }
  }

  const std::vector<InstructionCounters>& counters() const { return counters_; }
  std::uint64_t executed() const { return executed_; }  ///< instructions, about

 private:
  /// Ends the launch when all blocks have polled in vain for long.
  void count_fruitless(BlockRun& run, BlockRun::Outcome outcome) {
    constexpr std::uint64_t kMostTurns = 1 << 16, kMostTurnsOfBlock = 64;
    if (outcome != BlockRun::Outcome::spins || !run.only_polled()) {
      grid_.fruitless_turns.store(0, std::memory_order_relaxed);
      return;
    }
    const std::uint64_t turns = grid_.fruitless_turns.fetch_add(1, std::memory_order_relaxed);
    const bool all_started =
        grid_.next_block.load() >= grid_.blocks || grid_.resident.load() >= grid_.resident_limit;
    const std::uint64_t blocks = grid_.resident.load();
    if (all_started && turns > std::max(kMostTurns, kMostTurnsOfBlock * blocks))
      run.polls_in_vain();
  }

  BlockRun::Outcome turn(BlockRun& run) {
    const std::uint64_t number = run.block().number;
    try {
      const BlockRun::Outcome outcome = run.run(kBlockTurn);
      run.flush_output();
      count_fruitless(run, outcome);
      const bool stops =
          outcome == BlockRun::Outcome::stopped ||
          (outcome == BlockRun::Outcome::spins && grid_.aborted.load() != GridState::kNone);
      return stops ? BlockRun::Outcome::finished : outcome;
    } catch (...) {
      run.flush_output();
      grid_.abort(number, std::current_exception());
      return BlockRun::Outcome::finished;
    }
  }

  std::unique_ptr<BlockRun> next() {
    if (std::unique_ptr<BlockRun> run = fresh()) return run;
    if (waiting_.empty()) return nullptr;
    std::unique_ptr<BlockRun> run = std::move(waiting_.front());
    waiting_.pop_front();
    return run;
  }

  std::unique_ptr<BlockRun> fresh() {
    const bool full = grid_.resident.load(std::memory_order_relaxed) >= grid_.resident_limit;
    if (full && !waiting_.empty()) return nullptr;
    if (grid_.next_block.load(std::memory_order_relaxed) >= grid_.blocks) return nullptr;
    const std::uint64_t number = grid_.next_block.fetch_add(1);
    if (number >= grid_.blocks || number > grid_.aborted.load()) return nullptr;
    grid_.resident.fetch_add(1, std::memory_order_relaxed);
    try {
      std::unique_ptr<BlockRun> run = storage();
      run->start(number);
      return run;
    } catch (...) {
      grid_.abort(number, std::current_exception());
      return nullptr;
    }
  }

  std::unique_ptr<BlockRun> storage() {
    if (!free_.empty()) {
      std::unique_ptr<BlockRun> run = std::move(free_.back());
      free_.pop_back();
      return run;
    }
    Blocks& kept = kept_blocks();
    std::unique_ptr<BlockRun> run;
    if (kept.empty()) {
      run = std::make_unique<BlockRun>();
    } else {
      run = std::move(kept.back());
      kept.pop_back();
    }
    run->prepare(grid_, counters_);
    return run;
  }

  GridState& grid_;
  std::vector<InstructionCounters> counters_;
  std::uint64_t executed_ = 0;
  Blocks free_;  ///< prepared for this launch
  std::deque<std::unique_ptr<BlockRun>> waiting_;
};

/// The grid as a task of the pool.
class GridTask : public WorkerPool::Task {
 public:
  explicit GridTask(GridState& grid) : grid_(grid) {
    sum_.instructions.resize(grid.launch.request.kernel.instruction_count);
  }

  void help() override {
    GridWorker worker(grid_);
    worker.run_all();
    add(worker);
  }

  void add(const GridWorker& worker) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < sum_.instructions.size(); ++i) {
      sum_.instructions[i] += worker.counters()[i];
    }
  }

  LaunchCounters take_sum() { return std::move(sum_); }

 private:
  GridState& grid_;
  std::mutex mutex_;
  LaunchCounters sum_;
};

unsigned helpers_for(const GridState& grid) {
  if (grid.step) return 0;
  unsigned threads = grid.launch.machine.settings.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<std::uint64_t>(threads, grid.blocks)) - 1;
}

}  // namespace

LaunchCounters run_grid(GridState& grid) {
  GridTask task(grid);
  WorkerPool& pool = WorkerPool::instance();
  bool helped = false;
  {
    GridWorker worker(grid);
    const unsigned helpers = helpers_for(grid);
    while (worker.step()) {
      const std::uint64_t started = std::min(grid.next_block.load(), grid.blocks);
      const std::uint64_t left =
          worker.executed() / std::max<std::uint64_t>(started, 1) * (grid.blocks - started);
      if (!helped && helpers != 0 && left >= kWorthHelp) helped = pool.start(task, helpers);
    }
    task.add(worker);
  }
  if (helped) pool.finish();
  grid.flush_output();
  return task.take_sum();
}

}  // namespace halfgrad::emulator
