#include <halfgrad/emulator/simt/counters.h>

namespace halfgrad::emulator {

InstructionCounters& InstructionCounters::operator+=(const InstructionCounters& other) {
  executed += other.executed;
  active_lanes += other.active_lanes;
  sectors += other.sectors;
  sectors_needed += other.sectors_needed;
  bank_conflicts += other.bank_conflicts;
  bytes_loaded += other.bytes_loaded;
  bytes_stored += other.bytes_stored;
  flops += other.flops;
  return *this;
}

InstructionCounters LaunchCounters::total() const {
  InstructionCounters sum;
  for (const InstructionCounters& one : instructions) sum += one;
  return sum;
}

}  // namespace halfgrad::emulator
