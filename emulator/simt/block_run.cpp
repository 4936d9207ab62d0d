#include <halfgrad/emulator/simt/block_run.h>

#include <algorithm>

namespace halfgrad::emulator {
namespace {

constexpr std::uint64_t kWarpTurn = 4096;  ///< units of time of a warp before the next one's turn
constexpr std::uint64_t kShortest = 8192;  ///< units before a block can count as polling
constexpr std::byte kFreshShared{0xA5};    ///< initial shared memory; undefined on a GPU

}  // namespace

void BlockRun::prepare(GridState& grid, ClusterBarrier& cluster,
                       std::vector<InstructionCounters>& counters) {
  grid_ = &grid;
  cluster_ = &cluster;
  Launch& launch = grid.launch;
  block_.launch = &launch;
  barriers_.prepare();
  block_.counters = &counters;
  block_.threads = static_cast<unsigned>(launch.request.block.product());
  const std::size_t reserved = launch.reserved_shared_begin;
  block_.shared.resize(reserved == 0 ? launch.shared_bytes : reserved + kReservedShared);
  const std::size_t warps = (block_.threads + kWarpSize - 1) / kWarpSize;
  block_.warps.resize(warps);
  warps_.resize(warps);
  for (unsigned i = 0; i < warps; ++i) {
    block_.warps[i].block = &block_;
    block_.warps[i].index = i;
    warps_[i].prepare(*this, block_.warps[i]);
  }
}

void BlockRun::start(const Dim3& index) {
  Launch& launch = grid_->launch;
  const Dim3& grid = launch.request.grid;
  block_.number = (std::uint64_t{index.z} * grid.y + index.y) * grid.x + index.x;
  block_.index = index;
  block_.finished = block_.polls_host_memory = false;
  block_.cluster_phases = block_.cluster_waited = 0;
  std::fill(block_.shared.begin(), block_.shared.begin() + launch.shared_bytes, kFreshShared);
  std::fill(block_.shared.begin() + launch.shared_bytes, block_.shared.end(), std::byte{0});
  block_.barrier_copies.clear();
  for (Warp& warp : block_.warps) {
    const unsigned lanes = std::min(kWarpSize, block_.threads - warp.index * kWarpSize);
    warp.cluster_arrived = warp.cluster_owing = 0;
    warp.alive = lanes == kWarpSize ? kAllLanes : (LaneMask{1} << lanes) - 1;
  }
  for (WarpRun& warp : warps_) warp.start_block();
  barriers_.start_block(block_);
  if (launch.checks != nullptr) launch.checks->block_starts(block_);
}

bool BlockRun::finished() const {
  return std::all_of(block_.warps.begin(), block_.warps.end(),
                     [](const Warp& warp) { return warp.groups.empty(); });
}

std::uint64_t BlockRun::executed() const {
  std::uint64_t sum = 0;
  for (const WarpRun& warp : warps_) sum += warp.executed();
  return sum;
}

BlockRun::Outcome BlockRun::run(std::uint64_t units) {
  const auto polled = [&] {
    std::uint64_t sum = 0;
    for (const WarpRun& warp : warps_) sum += warp.polled();
    return sum;
  };
  const std::uint64_t polled_before = polled(), changes_before = block_.changes;
  for (WarpRun& warp : warps_) warp.start_turn();
  only_polled_ = false;
  const auto judge = [&] {
    const bool polled_alone = std::all_of(warps_.begin(), warps_.end(),
                                          [](const WarpRun& warp) { return warp.only_polled(); });
    only_polled_ = polled_alone && block_.changes == changes_before;
  };
  std::uint64_t used = 0;
  for (;;) {
    if (grid_->aborted.load(std::memory_order_relaxed) < block_.number) return Outcome::stopped;
    const std::uint64_t completions = barriers_.completions();
    std::uint64_t round = 0;
    for (WarpRun& warp : warps_) round += warp.run(kWarpTurn);
    if (finished()) {
      block_.finished = true;
      return Outcome::finished;
    }
    if (round == 0 && barriers_.completions() == completions) {
      judge();
      return Outcome::blocked;
    }
    used += round;
    if (used < kShortest) continue;
    if (executed() > grid_->launch.machine.settings.max_instructions) too_long();
    const std::uint64_t polls = polled() - polled_before;
    judge();
    if (2 * polls >= used) return Outcome::spins;
    if (used >= units) return Outcome::out_of_time;
  }
}

void BlockRun::flush_output() {
  if (printed_.empty()) return;
  grid_->print(block_.number, std::move(printed_));
  printed_.clear();
}

}  // namespace halfgrad::emulator
