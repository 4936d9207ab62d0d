#include <halfgrad/emulator/simt/grid_state.h>

#include <cstdio>
#include <utility>

namespace halfgrad::emulator {

void GridState::abort(std::uint64_t block, std::exception_ptr exception) {
  const std::lock_guard lock(mutex_);
  if (block > aborted.load()) return;
  aborted.store(block);
  exception_ = std::move(exception);
}

void GridState::print(std::uint64_t block, std::string text) {
  const std::lock_guard lock(mutex_);
  printed_[block] += text;
}

void GridState::flush_output() {
  const std::lock_guard lock(mutex_);
  if (printed_.empty()) return;
  for (const auto& [block, text] : printed_) std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  printed_.clear();
}

}  // namespace halfgrad::emulator
