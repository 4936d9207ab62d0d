#include <halfgrad/testing/op_example.h>

#include <algorithm>
#include <cmath>

#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/ulp.h>

namespace halfgrad {
namespace {

constexpr std::uint64_t kDraws = 16;

Tensor draw(const OperandSpec& spec, DType dtype, RandomKey key) {
  switch (spec.kind) {
    case OperandSpec::Kind::number:
      return random_tensor(spec.sizes, spec.low, spec.high, key).to(dtype);
    case OperandSpec::Kind::boolean: {
      auto values = random_tensor(spec.sizes, 0, 2, key).to_vector<double>();
      for (double& value : values) value = std::floor(value);
      return tensor_of(values, spec.sizes).to(kBool);
    }
    case OperandSpec::Kind::index: {
      auto values = random_tensor(spec.sizes, spec.low, spec.high + 1, key).to_vector<double>();
      for (double& value : values) value = std::floor(value);
      return tensor_of(values, spec.sizes).to(kInt64);
    }
  }
  return {};
}

}  // namespace

std::vector<Tensor> draw_operands(const OpExample& example, DType dtype, std::uint64_t seed,
                                  Device device) {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < example.operands.size(); ++i) {
    operands.push_back(draw(example.operands[i], dtype, {seed, i}).to(device));
  }
  return operands;
}

Values values_of(const Tensor& tensor) { return {tensor.sizes(), tensor.to_vector<double>()}; }

Tensor expected_result(const OpExample& example, const std::vector<Tensor>& operands) {
  std::vector<Values> values;
  values.reserve(operands.size());
  for (const Tensor& operand : operands) values.push_back(values_of(operand));
  const Values expected = example.reference(values);
  return tensor_of(expected.data, expected.sizes);
}

double measured_roundoffs(const OpEntry& op, DType dtype, Device device) {
  double worst = 0;
  for (const OpExample& example : op.examples) {
    for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
      const auto operands = draw_operands(example, dtype, seed, device);
      const Tensor result = example.run(operands);
      worst = std::max(worst, worst_error(result, expected_result(example, operands)).roundoffs);
    }
  }
  return worst;
}

}  // namespace halfgrad
