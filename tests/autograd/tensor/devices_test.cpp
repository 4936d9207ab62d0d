#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/tests/message_of.h>

// Ops run on the device of their operands. A second CPU device (core/device.h) stands in for a GPU.
namespace halfgrad {
namespace {

constexpr Device kHere;
constexpr Device kThere(kCPU, 1);

std::vector<Tensor> leaves(const OpExample& example, std::vector<Tensor> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (example.operands[i].differentiable && operands[i].is_floating_point()) {
      operands[i].requires_grad_();
    }
  }
  return operands;
}

class OpDevices : public ::testing::TestWithParam<OpEntry> {};
INSTANTIATE_TEST_SUITE_P(AllOps, OpDevices, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param.name; });

TEST_P(OpDevices, ResultsAndGradientsAreOnTheDeviceOfTheOperands) {
  for (const OpExample& example : GetParam().examples) {
    SCOPED_TRACE(example.name);
    const auto operands = leaves(example, draw_operands(example, kFloat, 1, kThere));
    const Tensor result = example.run(operands);
    EXPECT_EQ(result.device(), kThere);
    if (!result.requires_grad()) continue;
    std::vector<Tensor> inputs;
    std::copy_if(operands.begin(), operands.end(), std::back_inserter(inputs),
                 [](const Tensor& operand) { return operand.requires_grad(); });
    for (const bool create_graph : {false, true}) {
      for (const Tensor& gradient :
           autograd::grad({result}, inputs, {ones_like(result)},
                          {.retain_graph = true, .create_graph = create_graph})) {
        EXPECT_EQ(gradient.device(), kThere);
      }
    }
  }
}

TEST_P(OpDevices, OperandsOnTwoDevicesAreRefused) {
  for (const OpExample& example : GetParam().examples) {
    const auto here = draw_operands(example, kFloat, 1, kHere);
    for (std::size_t i = 0; i < here.size(); ++i) {
      auto operands = here;
      operands[i] = here[i].to(kThere);
      const auto stays = [](const Tensor& x) { return x.device() == kHere && x.dim() > 0; };
      if (here[i].dim() == 0 || std::none_of(operands.begin(), operands.end(), stays)) continue;
      EXPECT_THROW(example.run(operands), std::invalid_argument)
          << example.name << ", operand " << i;
    }
  }
}

TEST(Devices, TheErrorNamesBothAndTheFix) {
  EXPECT_EQ(
      message_of([] { return full({2}, 0, {.device = kHere}) + full({2}, 0, {.device = kThere}); }),
      "add: expected operands on one device, got cpu and cpu:1; .to(device) moves a tensor");
}

TEST(Devices, AZeroDimensionalCpuTensorMovesToTheOthers) {
  const Tensor scalar = tensor(3.0, {.device = kHere, .requires_grad = true});
  const Tensor x = full({2}, 2.0, {.device = kThere});
  const Tensor y = scalar * x;
  EXPECT_EQ(y.device(), kThere);
  EXPECT_EQ(y.to_vector<double>(), std::vector<double>(2, 6));
  y.sum().backward();
  EXPECT_EQ(scalar.grad().device(), kHere);
  EXPECT_EQ(scalar.grad().item(), 4);
}

TEST(Devices, GradientsAreOnTheDeviceOfTheirTensors) {
  const Tensor x = full({2}, 2.0, {.device = kHere, .requires_grad = true});
  (x * x).to(kThere).sum().backward();
  EXPECT_EQ(x.grad().device(), kHere);
  EXPECT_EQ(x.grad().to_vector<double>(), std::vector<double>(2, 4));
  const Tensor elsewhere = full({2}, 1.0, {.device = kThere});
  EXPECT_THROW(Tensor(x).set_grad(elsewhere), std::invalid_argument);
  EXPECT_THROW((x * x).backward(elsewhere), std::runtime_error);
}

TEST(Devices, InPlaceOpsStayOnTheirDevice) {
  Tensor x = full({2}, 2.0, {.device = kHere});
  const Tensor elsewhere = full({2}, 1.0, {.device = kThere});
  EXPECT_THROW(x.add_(elsewhere), std::invalid_argument);
  EXPECT_THROW(full({}, 2.0, {.device = kHere}).add_(elsewhere.select(0, 0)),
               std::invalid_argument);
  EXPECT_EQ(x.copy_(elsewhere).device(), kHere);
  EXPECT_EQ(x.to_vector<double>(), std::vector<double>(2, 1));
}

TEST(Devices, TensorsAreMadeOnTheDefaultDevice) {
  struct Scope {
    Scope() { set_default_device(kThere); }
    ~Scope() { set_default_device(before); }
    Device before = get_default_device();
  } scope;
  const Tensor made[] = {
      empty({1}), zeros({1}), ones({1}),       full({1}, 2), arange(2), linspace(0, 1, 2), eye(2),
      rand({1}),  randn({1}), randint(3, {1}), randperm(3),  tensor(1), tensor({1, 2})};
  for (const Tensor& x : made) EXPECT_EQ(x.device(), kThere);
  EXPECT_EQ(zeros_like(made[0]).device(), kThere);
  EXPECT_EQ(zeros({1}, {.device = kHere}).device(), kHere);
}

}  // namespace
}  // namespace halfgrad
