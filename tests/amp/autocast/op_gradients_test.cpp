#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/tests/amp/autocast/op_calls.h>
#include <nlohmann/json.hpp>

/// Gradients of every op for float16 operands against PyTorch's.
namespace halfgrad {
namespace {

using nlohmann::json;
using Values = std::vector<double>;

Tensor half(const json& elements, const Shape& sizes) {
  return tensor(elements.get<Values>(), sizes, {.dtype = kHalf});
}

/// The largest difference in roundoffs of the largest gradient, at least 1: a gradient is the sum
/// of products of that size, each rounded.
double roundoffs_off(const Values& got, const Values& expected) {
  double scale = 1, error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    scale = std::fmax(scale, std::abs(expected[i]));
    error = std::fmax(error, std::abs(got[i] - expected[i]));
  }
  return error / (scale * roundoff(kHalf));
}

TEST(OpGradients, EqualPyTorchs) {
  std::ifstream stream(HALFGRAD_SOURCE_DIR "/tests/expected/op_gradients.json");
  const json file = json::parse(stream);
  ASSERT_EQ(file["rows"].size(), 230);
  for (const json& row : file["rows"]) {
    SCOPED_TRACE(row["op"].get<std::string>() + ", " + row["range"].get<std::string>());
    op_calls::Operands operands;
    for (const json& elements : row["operands"]) {
      operands.push_back(half(elements, {4, 4}).requires_grad_());
    }
    const Tensor result = op_calls::kOps.at(row["op"])(operands);
    const Tensor cotangent = half(row["cotangent"], result.sizes());
    const auto gradients = autograd::grad({result}, operands, {cotangent}, {.allow_unused = true});
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const json& expected = row["gradients"][i];
      ASSERT_EQ(gradients[i].defined(), !expected.is_null()) << "operand " << i;
      if (expected.is_null()) continue;
      // Two roundings, PyTorch's and ours, in each of two factors.
      EXPECT_LE(roundoffs_off(gradients[i].to_vector<double>(), expected), 4) << "operand " << i;
    }
  }
}

}  // namespace
}  // namespace halfgrad
