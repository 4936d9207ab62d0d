#include <halfgrad/emulator/checks/grid_table.h>

#include <algorithm>

#include <halfgrad/emulator/checks/launch_state.h>
#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/readable_name.h>

namespace halfgrad::emulator {
namespace {

constexpr std::uint32_t kUnknownCounter = 0xffff;

}  // namespace

std::uint32_t GridTable::add(const LaunchRequest& request) {
  const std::uint64_t count = request.grid.product();
  // The count starts again rather than mix those of two grids, if there are too many blocks.
  if (blocks_ + count > kBlockMask) {
    grids_.clear();
    blocks_ = 0;
  }
  const auto first = static_cast<std::uint32_t>(blocks_);
  grids_.push_back({first, request.grid, request.block, &request.module, &request.kernel});
  blocks_ += count;
  return first;
}

const GridTable::Grid& GridTable::grid_of(std::uint32_t block) const {
  const auto next =
      std::upper_bound(grids_.begin(), grids_.end(), block,
                       [](std::uint32_t number, const Grid& g) { return number < g.first_block; });
  return next == grids_.begin() ? grids_.front() : *(next - 1);
}

std::string GridTable::thread(std::uint32_t block, unsigned thread, const Kernel& own) const {
  const Grid& grid = grid_of(block);
  const std::string text = thread_text(grid.grid, grid.block, block - grid.first_block, thread);
  return grid.kernel == &own ? text : text + " of kernel " + readable_name(grid.kernel->main->name);
}

std::string GridTable::place(std::uint32_t block, std::uint32_t counter) const {
  if (counter == kUnknownCounter) return "an unknown line";
  const Grid& grid = grid_of(block);
  return place_of(*grid.module, *grid.kernel, counter);
}

}  // namespace halfgrad::emulator
