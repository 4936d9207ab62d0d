// Products of wgmma and bulk copies, which read shared memory until a wait ends them.
#include <halfgrad/emulator/checks/launch_state.h>

namespace halfgrad::emulator {

void LaunchChecks::async_read_issued(Execution& execution, const Instruction& instruction,
                                     AsyncReader reader, unsigned lane,
                                     std::span<const std::uint32_t> chunks) {
  if (!state_->check_race) return;
  Block& block = *execution.block;
  state_of(block).reads.issue(
      chunks, block.shared.size(),
      {.thread = static_cast<std::uint16_t>(execution.warp->index * kWarpSize + lane),
       .place = execution.frame->function->places[instruction.index],
       .reader = reader});
}

void LaunchChecks::async_read_waited(Execution& execution, std::span<const std::uint32_t> chunks) {
  if (state_->check_race) state_of(*execution.block).reads.finish(chunks);
}

void LaunchChecks::State::check_async_reads(const Touch& touch, unsigned lane,
                                            const BlockState& owner, std::uint64_t offset,
                                            unsigned bytes) {
  const ReadsInFlight::Chunk* chunk = owner.reads.find(offset & ~kWindowMask, bytes);
  if (chunk == nullptr) return;
  const std::uint32_t block = owner.knowledge.number;
  const bool product = chunk->reader == AsyncReader::product;
  races.report(touch, lane, FindingKind::race,
               product
                   ? "a store of shared memory that a product under way reads: expected "
                     "wgmma.wait_group before"
                   : "a store of shared memory that a bulk copy under way reads: expected "
                     "cp.async.bulk.wait_group.read, by the thread that issued the copy, before",
               std::string(product ? "a product of " : "a bulk copy by ") +
                   races.grids().thread(block, chunk->thread, touch.kernel()) + " at " +
                   races.grids().place(block, chunk->place));
}

}  // namespace halfgrad::emulator
