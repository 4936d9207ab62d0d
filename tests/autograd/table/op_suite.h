#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/tests/devices.h>

// Helpers for tests of every op in the table. A failure names the op, its example and the dtype.
namespace halfgrad {

inline void PrintTo(const OpEntry& op, std::ostream* out) { *out << op.name; }

inline constexpr DType kFloatingDTypes[] = {kFloat64, kFloat32, kFloat16, kBFloat16};
inline constexpr std::uint64_t kSeed = 7;

/// A test of an op on one kind of device; skipped with a message if the machine has none.
class OpTest : public ::testing::TestWithParam<std::tuple<OpEntry, DeviceType>> {
 protected:
  void SetUp() override { skip_without(device()); }
  const OpEntry& op() const { return std::get<0>(GetParam()); }
  Device device() const { return std::get<1>(GetParam()); }
  std::vector<Tensor> drawn(const OpExample& example, DType dtype) const {
    return draw_operands(example, dtype, kSeed, device());
  }
};

inline std::string name_of(const ::testing::TestParamInfo<OpTest::ParamType>& info) {
  return std::get<0>(info.param).name + "_" + device_name(std::get<1>(info.param));
}

/// Combines the ops with every kind of device.
inline auto on_devices(const std::vector<OpEntry>& ops) {
  return ::testing::Combine(::testing::ValuesIn(ops), ::testing::Values(kCPU, kCUDA));
}

/// Returns the ops of the table that are elementwise, or the ones that are not.
inline std::vector<OpEntry> ops_where(bool elementwise) {
  std::vector<OpEntry> chosen;
  for (const OpEntry& op : all_ops()) {
    if (op.elementwise == elementwise) chosen.push_back(op);
  }
  return chosen;
}

inline std::string describe(const OpExample& example, DType dtype) {
  return "example '" + example.name + "' in " + std::string(name(dtype));
}

inline std::vector<Tensor> require_grad(std::vector<Tensor> operands, const OpExample& example) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (example.operands[i].differentiable && operands[i].is_floating_point()) {
      operands[i] = operands[i].detach().requires_grad_();
    }
  }
  return operands;
}

inline bool any_requires_grad(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& tensor) { return tensor.requires_grad(); });
}

/// Returns the result and the gradients of all differentiable operands, for a random cotangent that
/// 16 bits can hold.
inline std::vector<Tensor> run_and_differentiate(const OpEntry& op, const OpExample& example,
                                                 std::vector<Tensor> operands,
                                                 bool create_graph = false) {
  operands = require_grad(std::move(operands), example);
  const Tensor result = example.run(operands);
  std::vector<Tensor> all = {result};
  if (!op.differentiable || !any_requires_grad(operands)) return all;
  const Tensor cotangent = random_tensor(result.sizes(), -1, 1, {kSeed, 99})
                               .to(kBFloat16)
                               .to(result.dtype())
                               .to(result.device());
  std::vector<Tensor> inputs;
  for (const Tensor& operand : operands) {
    if (operand.requires_grad()) inputs.push_back(operand);
  }
  for (const Tensor& gradient :
       autograd::grad({result}, inputs, {cotangent}, {.create_graph = create_graph})) {
    all.push_back(gradient);
  }
  return all;
}

inline void expect_same_bits(const std::vector<Tensor>& actual,
                             const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].sizes(), expected[i].sizes()) << "output " << i;
    EXPECT_EQ(actual[i].to_vector<double>(), expected[i].to_vector<double>()) << "output " << i;
  }
}

}  // namespace halfgrad
