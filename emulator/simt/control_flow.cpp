#include <halfgrad/emulator/simt/control_flow.h>

namespace halfgrad::emulator {
namespace {

/// Calls f(pc) for the instructions that can follow instruction `pc` at once.
template <class F>
void each_successor(const Function& function, std::uint32_t pc, F f) {
  const Instruction& instruction = function.code[pc];
  const bool guarded = instruction.guard != kNoOffset;
  bool goes_on = true;
  switch (instruction.control) {
    case Control::branch:
      f(instruction.target);
      goes_on = guarded;
      break;
    case Control::branch_indexed:
      for (const std::uint32_t target : function.branch_tables[instruction.target]) f(target);
      goes_on = guarded;
      break;
    case Control::ret:
    case Control::exit:
    case Control::trap:
      goes_on = guarded;
      break;
    default:
      break;
  }
  if (goes_on && pc + 1 < function.code.size()) f(pc + 1);
}

}  // namespace

bool can_follow(const Function& function, std::uint32_t from, std::uint32_t to) {
  std::vector<bool> seen(function.code.size());
  std::vector<std::uint32_t> todo{from};
  while (!todo.empty()) {
    const std::uint32_t pc = todo.back();
    todo.pop_back();
    bool found = false;
    each_successor(function, pc, [&](std::uint32_t next) {
      found = found || next == to;
      if (next >= seen.size() || seen[next]) return;
      seen[next] = true;
      todo.push_back(next);
    });
    if (found) return true;
  }
  return false;
}

}  // namespace halfgrad::emulator
