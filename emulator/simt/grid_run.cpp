#include <halfgrad/emulator/simt/grid_run.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <halfgrad/emulator/simt/cluster_run.h>
#include <halfgrad/emulator/simt/worker_pool.h>

namespace halfgrad::emulator {
namespace {

/// Units of time of a block before another one gets a turn. Blocks that poll memory give up
/// earlier.
constexpr std::uint64_t kBlockTurn = 1 << 18;
/// Helpers are woken if about so many instructions of a warp are left: waking them takes as long as
/// some hundred.
constexpr std::uint64_t kWorthHelp = 4096;
/// Storage of clusters that a host thread keeps for later launches.
constexpr std::size_t kKeptClusters = 2;

using Clusters = std::vector<std::unique_ptr<ClusterRun>>;

Clusters& kept_clusters() {
  thread_local Clusters clusters;
  return clusters;
}

/// Runs clusters of a grid on one host thread. Without clusters, each block is one.
class GridWorker {
 public:
  explicit GridWorker(GridState& grid) : grid_(grid) {
    counters_.resize(grid.launch.request.kernel.instruction_count);
  }
  ~GridWorker() {
    Clusters& kept = kept_clusters();
    for (auto& run : free_) {
      if (kept.size() < kKeptClusters) kept.push_back(std::move(run));
    }
  }
  GridWorker(const GridWorker&) = delete;
  GridWorker& operator=(const GridWorker&) = delete;

  /// Runs one cluster for a turn: a fresh one while the GPU could hold more, then the one whose
  /// last turn is longest ago. Returns false when nothing is left for this thread.
  bool step() {
    std::unique_ptr<ClusterRun> run = next();
    if (run == nullptr) return false;
    const ClusterRun::Outcome outcome = turn(*run);
    executed_ += run->executed();
    if (outcome == ClusterRun::Outcome::finished) {
      grid_.resident.fetch_sub(grid_.cluster_blocks, std::memory_order_relaxed);
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

  std::vector<InstructionCounters> take_counters() { return std::move(counters_); }
  std::uint64_t executed() const { return executed_; }  ///< instructions, about

 private:
  /// Ends the launch when all blocks have polled in vain for long.
  void count_fruitless(ClusterRun& run, ClusterRun::Outcome outcome) {
    constexpr std::uint64_t kMostTurns = 1 << 16, kMostTurnsOfBlock = 64;
    if (outcome != ClusterRun::Outcome::spins || !run.only_polled()) {
      return grid_.vain_turns.progress();
    }
    const bool all_started = grid_.next_cluster.load() >= grid_.clusters ||
                             grid_.resident.load() >= grid_.resident_limit;
    const std::uint64_t blocks = grid_.resident.load();
    const std::uint64_t most = std::max(kMostTurns, kMostTurnsOfBlock * blocks);
    const bool in_vain =
        grid_.vain_turns.add(run.vain_turns(), blocks / grid_.cluster_blocks, most);
    if (all_started && in_vain) run.polls_in_vain();
  }

  ClusterRun::Outcome turn(ClusterRun& run) {
    try {
      const ClusterRun::Outcome outcome = run.run(kBlockTurn);
      run.flush_output();
      count_fruitless(run, outcome);
      const bool stops =
          outcome == ClusterRun::Outcome::stopped ||
          (outcome == ClusterRun::Outcome::spins && grid_.aborted.load() != GridState::kNone);
      return stops ? ClusterRun::Outcome::finished : outcome;
    } catch (...) {
      run.flush_output();
      grid_.abort(run.current_block(), std::current_exception());
      return ClusterRun::Outcome::finished;
    }
  }

  std::unique_ptr<ClusterRun> next() {
    if (std::unique_ptr<ClusterRun> run = fresh()) return run;
    if (waiting_.empty()) return nullptr;
    std::unique_ptr<ClusterRun> run = std::move(waiting_.front());
    waiting_.pop_front();
    return run;
  }

  std::unique_ptr<ClusterRun> fresh() {
    const bool full = grid_.resident.load(std::memory_order_relaxed) >= grid_.resident_limit;
    if (full && !waiting_.empty()) return nullptr;
    if (grid_.next_cluster.load(std::memory_order_relaxed) >= grid_.clusters) return nullptr;
    const std::uint64_t number = grid_.next_cluster.fetch_add(1);
    if (number >= grid_.clusters || number > grid_.aborted.load()) return nullptr;
    grid_.resident.fetch_add(grid_.cluster_blocks, std::memory_order_relaxed);
    try {
      std::unique_ptr<ClusterRun> run = storage();
      run->start(number);
      return run;
    } catch (...) {
      grid_.abort(number, std::current_exception());
      return nullptr;
    }
  }

  std::unique_ptr<ClusterRun> storage() {
    if (!free_.empty()) {
      std::unique_ptr<ClusterRun> run = std::move(free_.back());
      free_.pop_back();
      return run;
    }
    Clusters& kept = kept_clusters();
    std::unique_ptr<ClusterRun> run;
    if (kept.empty()) {
      run = std::make_unique<ClusterRun>();
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
  Clusters free_;  ///< prepared for this launch
  std::deque<std::unique_ptr<ClusterRun>> waiting_;
};

/// The grid as a task of the pool.
class GridTask : public WorkerPool::Task {
 public:
  explicit GridTask(GridState& grid) : grid_(grid) {}

  void help() override {
    GridWorker worker(grid_);
    worker.run_all();
    add(worker);
  }

  void add(GridWorker& worker) {
    const std::lock_guard lock(mutex_);
    if (sum_.instructions.empty()) {
      sum_.instructions = worker.take_counters();
      return;
    }
    const std::vector<InstructionCounters> counters = worker.take_counters();
    for (std::size_t i = 0; i < counters.size(); ++i) {
      sum_.instructions[i] += counters[i];
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
  return static_cast<unsigned>(std::min<std::uint64_t>(threads, grid.clusters)) - 1;
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
      const std::uint64_t started = std::min(grid.next_cluster.load(), grid.clusters);
      const std::uint64_t left =
          worker.executed() / std::max<std::uint64_t>(started, 1) * (grid.clusters - started);
      if (!helped && helpers != 0 && left >= kWorthHelp) helped = pool.start(task, helpers);
    }
    task.add(worker);
  }
  if (helped) pool.finish();
  grid.flush_output();
  return task.take_sum();
}

}  // namespace halfgrad::emulator
