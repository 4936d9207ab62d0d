// Bulk groups (PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.commit_group,
// cp.async.bulk.wait_group").
//
// A copy to global memory is done when it is issued. Until its thread waits for its group it may
// still read shared memory: the check of races sees its loads once at the issue and once at the
// wait, and reports each store to these bytes between the two. What it writes to global memory
// nobody may access until its thread waits by wait_group without .read.
#include <halfgrad/emulator/ptx/instructions/bulk_groups.h>

#include <algorithm>

#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kChunk = 16;  // bytes

constexpr Access kLateRead{.space = Space::shared,
                           .kind = AccessKind::load,
                           .bytes = kChunk,
                           .alignment = kChunk,
                           .asynchronous = true};

void commit(Execution& execution, const Instruction&) {
  BulkReads& reads = execution.warp->bulk_reads;
  each_lane(execution.mask, [&](unsigned lane) { ++reads.committed[lane]; });
  for (BulkRead& read : reads.pending) {
    const bool executes = (execution.mask >> read.lane & 1) != 0;
    if (executes && read.group == 0) read.group = reads.committed[read.lane];
  }
}

/// Lets the checks see loads that may happen as late as now.
void finish(Execution& execution, const Instruction& instruction, const BulkRead& read) {
  LaunchChecks* const checks = execution.launch->checks.get();
  if (checks == nullptr) return;
  checks->async_read_waited(execution, read.chunks);
  Execution one = execution;
  one.mask = LaneMask{1} << read.lane;
  for (const std::uint32_t chunk : read.chunks) {
    LaneAddresses addresses{};
    HostPointers places{};
    addresses[read.lane] = chunk;
    places.lane[read.lane] = execution.block->shared.data() + chunk;
    checks->access(one, instruction, kLateRead, addresses, places, nullptr);
  }
}

/// Ends all groups of each lane but the `immediate` youngest, or only their reads.
template <bool OnlyReads>
void wait_for_groups(Execution& execution, const Instruction& instruction) {
  BulkReads& reads = execution.warp->bulk_reads;
  const auto keep = static_cast<std::uint64_t>(instruction.immediate);
  const auto ends = [&](const BulkRead& read) {
    return (execution.mask >> read.lane & 1) != 0 && read.group != 0 &&
           read.group + keep <= reads.committed[read.lane];
  };
  LaunchChecks* const checks = execution.launch->checks.get();
  for (BulkRead& read : reads.pending) {
    if (!ends(read)) continue;
    // A finding names the copy, if this function issued it.
    const bool own = read.function == execution.frame->function;
    if (read.reads) finish(execution, own ? *read.instruction : instruction, read);
    read.reads = false;
    if (!OnlyReads && checks != nullptr) {
      checks->async_writes_waited(execution, read.lane, read.writes);
    }
  }
  std::erase_if(reads.pending, [&](const BulkRead& read) {
    return ends(read) && (!OnlyReads || read.writes.empty());
  });
}

}  // namespace

void BulkSource::add(const std::byte* place, std::uint32_t bytes) {
  const auto begin = static_cast<std::uint32_t>(place - shared_);
  for (std::uint32_t chunk = begin / kChunk * kChunk; chunk < begin + bytes; chunk += kChunk) {
    if (chunks_.empty() || chunks_.back() != chunk) chunks_.push_back(chunk);
  }
}

void note_bulk_read(Execution& execution, const Instruction& instruction, unsigned lane,
                    BulkSource& source) {
  BulkRead read{.function = execution.frame->function,
                .instruction = &instruction,
                .lane = lane,
                .chunks = source.take(),
                .writes = {}};
  if (LaunchChecks* const checks = execution.launch->checks.get()) {
    checks->async_read_issued(execution, instruction, AsyncReader::bulk_copy, lane, read.chunks);
  }
  execution.warp->bulk_reads.pending.push_back(std::move(read));
}

void note_bulk_write(Execution& execution, unsigned lane, std::uint64_t address,
                     std::uint32_t bytes) {
  std::vector<BulkRead>& pending = execution.warp->bulk_reads.pending;
  if (execution.launch->checks == nullptr || pending.empty()) return;
  if (pending.back().lane == lane) pending.back().writes.push_back({address, bytes});
}

void decode_bulk_group(Encoder& encoder) {
  if (encoder.statement.has("commit_group")) {
    encoder.instruction.execute = commit;
    return;
  }
  if (encoder.operands() != 1 || encoder.statement.operands[0].kind != Operand::Kind::immediate) {
    encoder.unknown("expected cp.async.bulk.wait_group{.read} N");
  }
  encoder.instruction.immediate = static_cast<std::int64_t>(encoder.statement.operands[0].bits);
  encoder.instruction.execute =
      encoder.statement.has("read") ? wait_for_groups<true> : wait_for_groups<false>;
}

}  // namespace halfgrad::emulator
