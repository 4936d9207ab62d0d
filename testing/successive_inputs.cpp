#include <halfgrad/testing/successive_inputs.h>

#include <algorithm>
#include <cstddef>
#include <random>

#include <halfgrad/testing/number_format_of.h>

namespace halfgrad::testing {
namespace {

constexpr std::size_t kCalls = 21;

/// Takes one element of one operand from `others`: the first times at the ends, which a kernel that
/// compares a part of its inputs may leave out, then anywhere.
void change_one(std::vector<Values>& operands, const std::vector<Values>& others, std::size_t times,
                std::mt19937_64& random) {
  std::vector<std::size_t> filled;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].data.empty()) filled.push_back(i);
  }
  if (filled.empty()) return;
  const bool at_end = times < 3;
  const std::size_t operand = times == 0 ? filled.back()
                              : at_end   ? filled.front()
                                         : filled[random() % filled.size()];
  const std::size_t count = operands[operand].data.size();
  const std::size_t at =
      at_end ? count - std::min(count, times == 2 ? 2 : std::size_t{1}) : random() % count;
  operands[operand].data[at] = others[operand].data[at];
}

/// Changes all elements by a part of 2^12, or to a neighbour: a kernel that compares its inputs
/// with a tolerance takes them for the same.
void change_slightly(const KernelOp& op, const KernelCase& kernel_case,
                     std::vector<Values>& operands) {
  const std::vector<OperandSpec> specs = op.operands(kernel_case.dims);
  // An op that adjusts its operands has flags and counts among them, but not as the first.
  const std::size_t count = op.adjusted ? 1 : operands.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (specs[i].kind != OperandSpec::Kind::number) continue;
    const DType dtype = operand_dtype(op, i, kernel_case.contract.dtype);
    if (!is_floating_point(dtype)) continue;
    const double part = std::max(0x1p-12, 2 * limits_of(dtype).roundoff);
    for (double& x : operands[i].data) {
      x = rounded_to(dtype, x * (1 - part));
      if (op.admitted) x = rounded_to(dtype, op.admitted(i, x));
    }
  }
}

}  // namespace

std::vector<std::vector<Values>> successive_inputs(const KernelOp& op, KernelCase first) {
  enum Change : std::uint8_t { all, one, order, slight, kChanges };
  std::mt19937_64 random(first.seed);
  std::vector<std::vector<Values>> sets{case_operands(op, first)};
  std::size_t times = 0;
  while (sets.size() < kCalls) {
    const auto change = static_cast<Change>(sets.size() % kChanges);
    ++first.seed;
    // A value that is often greater than its neighbours shows in a maximum, too.
    first.inputs = change == one ? Hostile::moderate : Hostile::normal;
    std::vector<Values> next = sets.back();
    if (change == all) next = case_operands(op, first);
    if (change == one) change_one(next, case_operands(op, first), times++, random);
    if (change == order) {
      for (Values& operand : next) std::reverse(operand.data.begin(), operand.data.end());
    }
    if (change == slight) change_slightly(op, first, next);
    sets.push_back(std::move(next));
  }
  return sets;
}

}  // namespace halfgrad::testing
