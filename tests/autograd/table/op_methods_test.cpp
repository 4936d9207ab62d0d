#include "op_suite.h"

// The methods of ops of one tensor, x.exp() and x.exp_(), as the table lists them.
namespace halfgrad {
namespace {

using OpMethods = OpTest;

std::vector<OpEntry> ops_with_methods() {
  std::vector<OpEntry> ops;
  for (const OpEntry& op : all_ops()) {
    if (op.method != nullptr) ops.push_back(op);
  }
  return ops;
}

/// The example of `op`, run by `run` instead.
OpExample run_by(const OpEntry& op, std::function<Tensor(const Tensor&)> run) {
  OpExample example = op.examples.front();
  example.run = [run = std::move(run)](const std::vector<Tensor>& in) { return run(in[0]); };
  return example;
}

TEST_P(OpMethods, GiveTheBitsOfTheFunction) {
  const OpExample method = run_by(op(), [&](const Tensor& x) { return (x.*op().method)(); });
  for (const DType dtype : kFloatingDTypes) {
    SCOPED_TRACE(name(dtype));
    const auto operands = drawn(method, dtype);
    expect_same_bits(run_and_differentiate(op(), method, operands),
                     run_and_differentiate(op(), op().examples.front(), operands));
  }
}

// The operand is overwritten: an op whose gradient reads it must have kept a copy.
TEST_P(OpMethods, InPlaceGivesTheBitsOfTheFunctionAndItsGradient) {
  const OpExample in_place =
      run_by(op(), [&](const Tensor& x) { return (x.clone().*op().in_place)(); });
  for (const DType dtype : kFloatingDTypes) {
    SCOPED_TRACE(name(dtype));
    const auto operands = drawn(in_place, dtype);
    expect_same_bits(run_and_differentiate(op(), in_place, operands),
                     run_and_differentiate(op(), op().examples.front(), operands));
  }
}

TEST_P(OpMethods, InPlaceOverwritesTheOperand) {
  const Tensor x = drawn(op().examples.front(), kFloat32)[0];
  const Tensor expected = (x.*op().method)();
  Tensor target = x.clone();
  EXPECT_TRUE((target.*op().in_place)().is_same(target));
  expect_same_bits({target}, {expected});
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpMethods, on_devices(ops_with_methods()), name_of);

}  // namespace
}  // namespace halfgrad
