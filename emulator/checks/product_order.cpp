// Products of wgmma, which read shared memory until a wait ends them.
#include <halfgrad/emulator/checks/launch_state.h>

namespace halfgrad::emulator {

void LaunchChecks::product_issued(Execution& execution, const Instruction& instruction,
                                  std::span<const std::uint32_t> chunks) {
  if (!state_->check_race) return;
  Block& block = *execution.block;
  state_of(block).products.issue(chunks, block.shared.size(),
                                 static_cast<std::uint16_t>(execution.warp->index),
                                 execution.frame->function->places[instruction.index]);
}

void LaunchChecks::product_waited(Execution& execution, std::span<const std::uint32_t> chunks) {
  if (state_->check_race) state_of(*execution.block).products.finish(chunks);
}

void LaunchChecks::State::check_products(const Touch& touch, unsigned lane, const BlockState& owner,
                                         std::uint64_t offset, unsigned bytes) {
  const ProductsInFlight::Chunk* chunk = owner.products.find(offset & ~kWindowMask, bytes);
  if (chunk == nullptr) return;
  const std::uint32_t block = owner.knowledge.number;
  races.report(touch, lane, FindingKind::race,
               "a store of shared memory that a product under way reads: expected "
               "wgmma.wait_group before",
               "a product of " +
                   races.grids().thread(block, chunk->warp * kWarpSize, touch.kernel()) + " at " +
                   races.grids().place(block, chunk->place));
}

}  // namespace halfgrad::emulator
