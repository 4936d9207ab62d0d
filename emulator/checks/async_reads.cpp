// Products of wgmma and bulk copies, which read shared memory until a wait ends them, and the ends
// of asynchronous copies into shared memory.
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
  static constexpr const char* kExpected[] = {
      "a store of shared memory that a product under way reads: expected wgmma.wait_group before",
      "a store of shared memory that a bulk copy under way reads: expected "
      "cp.async.bulk.wait_group.read, by the thread that issued the copy, before",
      "a store of shared memory that a bulk copy to another block reads: expected a wait for the "
      "mbarrier of the copy before"};
  races.report(touch, lane, FindingKind::race, kExpected[static_cast<unsigned>(chunk->reader)],
               std::string(product ? "a product of " : "a bulk copy by ") +
                   races.grids().thread(block, chunk->thread, touch.kernel()) + " at " +
                   races.grids().place(block, chunk->place));
}

void LaunchChecks::async_copy_waited(Execution& execution, unsigned lane,
                                     std::uint32_t shared_offset, unsigned bytes) {
  if (!state_->check_race) return;
  BlockState& block = state_of(*execution.block);
  const unsigned thread = execution.warp->index * kWarpSize + lane;
  block.each_cell(shared_offset, bytes, [&](ShadowPage& page, Cell& cell) {
    if (!page.is_live(cell.write) || !cell.write.asynchronous) return;
    cell.write.asynchronous = false;
    cell.write.copied = true;
    cell.write.thread = thread & 0x3ffu;
    cell.write.clock = block.knowledge.clock;
  });
}

void LaunchChecks::async_copy_landed(Execution& execution, std::uint32_t shared_offset,
                                     unsigned bytes) {
  if (!state_->check_race) return;
  state_of(*execution.block).each_cell(shared_offset, bytes, [](ShadowPage& page, Cell& cell) {
    if (page.is_live(cell.write) && cell.write.asynchronous) cell.write = Slot();
  });
}

}  // namespace halfgrad::emulator
