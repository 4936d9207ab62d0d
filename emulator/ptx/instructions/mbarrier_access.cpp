#include <halfgrad/emulator/ptx/instructions/mbarrier_access.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/async_landing.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

/// The block of the cluster whose shared memory holds the place, or nullptr.
Block* block_with(Block& own, const std::byte* place) {
  const auto holds = [&](const Block& block) {
    const std::vector<std::byte>& shared = block.shared;
    return place >= shared.data() && place < shared.data() + shared.size();
  };
  if (holds(own)) return &own;
  for (Block* const block : own.cluster) {
    if (holds(*block)) return block;
  }
  return nullptr;
}

}  // namespace

MbarrierAccess::MbarrierAccess(Execution& execution, const Instruction& instruction, unsigned lane,
                               std::byte* place)
    : execution_(execution), instruction_(instruction), lane_(lane), place_(place) {
  owner_ = block_with(*execution.block, place);
  if (owner_ == nullptr) {
    abort_kernel(execution, instruction, lane, FindingKind::out_of_bounds,
                 "expected an mbarrier in the shared memory of the block or its cluster");
  }
  offset_ = static_cast<std::uint32_t>(place - owner_->shared.data());
  std::uint64_t bits;
  std::memcpy(&bits, place_, sizeof bits);
  word = MbarrierWord::from_bits(bits);
}

MbarrierAccess::~MbarrierAccess() {
  const std::uint64_t bits = word.bits();
  std::memcpy(place_, &bits, sizeof bits);
}

bool MbarrierAccess::let_copies_land() {
  std::vector<BarrierCopy>& copies = owner_->barrier_copies;
  std::int64_t bytes = 0, arrivals = 0;
  bool any = false;
  for (const BarrierCopy& copy : copies) {
    if (copy.barrier != offset_) continue;
    any = true;
    bytes += copy.bytes;
    arrivals += copy.arrivals;
  }
  if (!any || word.pending != arrivals || word.transactions != bytes) return false;
  Execution there = execution_;
  there.block = owner_;
  LaunchChecks* const checks = execution_.launch->checks.get();
  for (const BarrierCopy& copy : copies) {
    if (copy.barrier != offset_) continue;
    if (copy.source != nullptr && checks != nullptr) {
      Execution reader = execution_;
      reader.block = copy.source;
      checks->async_read_waited(reader, copy.chunks);
    }
    if (!copy.data.empty()) {
      land_for_barrier(there, copy.shared_offset, copy.data.data(),
                       static_cast<unsigned>(copy.data.size()));
    }
    // A reduction has stored its elements already; its completion is a fence (PTX ISA, "Async
    // proxy").
    const bool reduces = copy.bytes != 0 && copy.data.empty();
    if (reduces && checks != nullptr) checks->async_reduction_landed(*owner_);
    for (const AsyncCopy& part : copy.parts) {
      land_for_barrier(there, part.shared_offset, part.data.data(), part.bytes);
    }
  }
  std::erase_if(copies, [&](const BarrierCopy& copy) { return copy.barrier == offset_; });
  word.pending = 0;
  word.transactions = 0;
  word.complete_if_ready();
  return true;
}

bool has_copies_to_land(const Block& block) {
  struct Sums {
    std::int64_t bytes = 0, arrivals = 0;
  };
  std::map<std::uint32_t, Sums> of_barrier;
  for (const BarrierCopy& copy : block.barrier_copies) {
    Sums& sums = of_barrier[copy.barrier];
    sums.bytes += copy.bytes;
    sums.arrivals += copy.arrivals;
  }
  return std::any_of(of_barrier.begin(), of_barrier.end(), [&](const auto& entry) {
    std::uint64_t bits;
    std::memcpy(&bits, block.shared.data() + entry.first, sizeof bits);
    const MbarrierWord word = MbarrierWord::from_bits(bits);
    return word.pending == entry.second.arrivals && word.transactions == entry.second.bytes;
  });
}

void MbarrierAccess::arrive(std::uint32_t count) {
  if (count > word.pending) {
    abort_kernel(execution_, instruction_, lane_, FindingKind::barrier,
                 std::to_string(count) + " arrivals at an mbarrier that waits for " +
                     std::to_string(word.pending));
  }
  word.pending -= count;
  word.complete_if_ready();
}

}  // namespace halfgrad::emulator
