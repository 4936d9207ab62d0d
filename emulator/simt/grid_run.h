#pragma once

#include <halfgrad/emulator/simt/grid_state.h>

namespace halfgrad::emulator {

/// Runs all blocks, spread over host threads, and returns the counters of their instructions.
/// `grid` keeps the exception of the lowest block that ended with one.
LaunchCounters run_grid(GridState& grid);

}  // namespace halfgrad::emulator
