#include <halfgrad/emulator/ptx/instructions/mbarrier_access.h>

#include <algorithm>
#include <cstring>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/async_landing.h>

namespace halfgrad::emulator {

MbarrierAccess::MbarrierAccess(Execution& execution, const Instruction& instruction, unsigned lane,
                               std::byte* place)
    : execution_(execution), instruction_(instruction), lane_(lane), place_(place) {
  const std::vector<std::byte>& shared = execution.block->shared;
  if (place < shared.data() || place >= shared.data() + shared.size()) {
    abort_kernel(execution, instruction, lane, FindingKind::out_of_bounds,
                 "expected an mbarrier in the block's shared memory");
  }
  offset_ = static_cast<std::uint32_t>(place - shared.data());
  std::uint64_t bits;
  std::memcpy(&bits, place_, sizeof bits);
  word = MbarrierWord::from_bits(bits);
}

MbarrierAccess::~MbarrierAccess() {
  const std::uint64_t bits = word.bits();
  std::memcpy(place_, &bits, sizeof bits);
}

bool MbarrierAccess::let_copies_land() {
  std::vector<BarrierCopy>& copies = execution_.block->barrier_copies;
  std::int64_t bytes = 0, arrivals = 0;
  bool any = false;
  for (const BarrierCopy& copy : copies) {
    if (copy.barrier != offset_) continue;
    any = true;
    bytes += copy.bytes;
    arrivals += copy.arrivals;
  }
  if (!any || word.pending != arrivals || word.transactions != bytes) return false;
  for (const BarrierCopy& copy : copies) {
    if (copy.barrier != offset_) continue;
    if (!copy.data.empty()) {
      land_for_barrier(execution_, copy.shared_offset, copy.data.data(),
                       static_cast<unsigned>(copy.data.size()));
    }
    for (const AsyncCopy& part : copy.parts) {
      land_for_barrier(execution_, part.shared_offset, part.data.data(), part.bytes);
    }
  }
  std::erase_if(copies, [&](const BarrierCopy& copy) { return copy.barrier == offset_; });
  word.pending = 0;
  word.transactions = 0;
  word.complete_if_ready();
  return true;
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
