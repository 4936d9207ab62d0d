#include <cstdint>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Stacks and parts of tensors. Expected values are PyTorch's.
namespace halfgrad {
namespace {

using JoinedTensors = TensorsOnDevice;
HALFGRAD_ON_DEVICES(JoinedTensors);

std::vector<Shape> shapes_of(const std::vector<Tensor>& parts) {
  std::vector<Shape> shapes;
  for (const Tensor& part : parts) shapes.push_back(part.sizes());
  return shapes;
}

TEST_P(JoinedTensors, StacksVectorsAndMatrices) {
  const Tensor a = elements({1, 2, 3}), b = elements({4, 5, 6});
  EXPECT_EQ(elements(hstack({a, b})), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(hstack({a, b}).sizes(), Shape{6});
  EXPECT_EQ(vstack({a, b}).sizes(), (Shape{2, 3}));
  EXPECT_EQ(elements(row_stack({a, b})), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(dstack({a, b}).sizes(), (Shape{1, 3, 2}));
  EXPECT_EQ(elements(dstack({a, b})), (Doubles{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(column_stack({a, b}).sizes(), (Shape{3, 2}));
  EXPECT_EQ(elements(column_stack({a, b})), (Doubles{1, 4, 2, 5, 3, 6}));

  const Tensor m = elements({7, 8, 9, 10, 11, 12}).reshape({2, 3});
  EXPECT_EQ(elements(hstack({m, m.slice(1, 2)})), (Doubles{7, 8, 9, 9, 10, 11, 12, 12}));
  EXPECT_EQ(elements(vstack({a, m})), (Doubles{1, 2, 3, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(elements(column_stack({m.t(), a})), (Doubles{7, 10, 1, 8, 11, 2, 9, 12, 3}));
  EXPECT_EQ(dstack({m, zeros({2, 3, 4}, in(kDouble))}).sizes(), (Shape{2, 3, 5}));
}

TEST_P(JoinedTensors, StacksScalarsAndEmptyTensors) {
  const Tensor s = elements({5})[0];
  EXPECT_EQ(elements(hstack({s, s})), (Doubles{5, 5}));
  EXPECT_EQ(vstack({s, s}).sizes(), (Shape{2, 1}));
  EXPECT_EQ(dstack({s, s}).sizes(), (Shape{1, 1, 2}));
  EXPECT_EQ(column_stack({s, s}).sizes(), (Shape{1, 2}));
  EXPECT_EQ(vstack({zeros({0, 3}), zeros({2, 3})}).sizes(), (Shape{2, 3}));
  EXPECT_EQ(hstack({zeros({2, 0}), zeros({2, 0})}).sizes(), (Shape{2, 0}));
}

TEST_P(JoinedTensors, StacksPromote) {
  const Tensor a = elements({1, 2}, kHalf), b = elements({3, 4}, kLong);
  EXPECT_EQ(hstack({a, b}).dtype(), kHalf);
  EXPECT_EQ(vstack({b, b > 3}).dtype(), kLong);
  EXPECT_EQ(column_stack({a, elements({3, 4}, kFloat)}).dtype(), kFloat);
  EXPECT_EQ(dstack({b > 3, b > 3}).dtype(), kBool);
  EXPECT_FALSE(hstack({a}).is_alias_of(a)) << "a copy, even of one tensor";
}

TEST_P(JoinedTensors, StacksRefuseShapesThatDoNotFit) {
  const Tensor a = zeros({2}), m = zeros({2, 3});
  EXPECT_EQ(message_of([] { hstack({}); }), "hstack: expected at least one tensor, got none");
  EXPECT_EQ(message_of([] { row_stack({}); }), "row_stack: expected at least one tensor, got none");
  EXPECT_THROW(vstack({}), std::invalid_argument);
  EXPECT_THROW(dstack({}), std::invalid_argument);
  EXPECT_THROW(column_stack({}), std::invalid_argument);
  EXPECT_THROW(hstack({a, m}), std::invalid_argument);
  EXPECT_THROW(vstack({a, m}), std::invalid_argument);
  EXPECT_THROW(dstack({m, m.t()}), std::invalid_argument);
  EXPECT_THROW(column_stack({a, m.t()}), std::invalid_argument);
}

TEST_P(JoinedTensors, SplitsIntoSectionsAndBetweenIndices) {
  const Tensor x = arange(7).to(device());
  EXPECT_EQ(shapes_of(tensor_split(x, 3)), (std::vector<Shape>{{3}, {2}, {2}}));
  EXPECT_EQ(shapes_of(tensor_split(x, 9)),
            (std::vector<Shape>{{1}, {1}, {1}, {1}, {1}, {1}, {1}, {0}, {0}}));
  EXPECT_EQ(elements(tensor_split(x, 3)[1]), (Doubles{3, 4}));
  EXPECT_EQ(shapes_of(tensor_split(x, {1, 6})), (std::vector<Shape>{{1}, {5}, {1}}));
  EXPECT_EQ(elements(tensor_split(x, {1, -2})[1]), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(elements(tensor_split(x, {1, -2})[2]), (Doubles{5, 6}));
  EXPECT_EQ(shapes_of(tensor_split(x, {9, 20})), (std::vector<Shape>{{7}, {0}, {0}}));
  EXPECT_EQ(shapes_of(tensor_split(x, {4, 2})), (std::vector<Shape>{{4}, {0}, {5}})) << "as slices";
  EXPECT_EQ(shapes_of(tensor_split(x, std::vector<std::int64_t>())), (std::vector<Shape>{{7}}));
  EXPECT_EQ(shapes_of(tensor_split(x.reshape({7, 1}).expand({7, 3}), 2, -1)),
            (std::vector<Shape>{{7, 2}, {7, 1}}));
  EXPECT_EQ(shapes_of(tensor_split(zeros({0, 2}), 2)), (std::vector<Shape>{{0, 2}, {0, 2}}));
  EXPECT_TRUE(tensor_split(x, 3)[2].is_alias_of(x));
}

TEST_P(JoinedTensors, SplitsAlongNamedDimensions) {
  const Tensor x = arange(24).reshape({2, 4, 3}).to(device());
  EXPECT_EQ(shapes_of(hsplit(x, 2)), (std::vector<Shape>{{2, 2, 3}, {2, 2, 3}}));
  EXPECT_EQ(shapes_of(hsplit(x, {1, 3})), (std::vector<Shape>{{2, 1, 3}, {2, 2, 3}, {2, 1, 3}}));
  EXPECT_EQ(shapes_of(hsplit(x[0][0], 3)), (std::vector<Shape>{{1}, {1}, {1}}));
  EXPECT_EQ(elements(hsplit(x[0][0], {2, 3})[0]), (Doubles{0, 1}));
  EXPECT_EQ(shapes_of(vsplit(x, 2)), (std::vector<Shape>{{1, 4, 3}, {1, 4, 3}}));
  EXPECT_EQ(elements(vsplit(x[1], {3, 4})[0]), (Doubles{12, 13, 14, 15, 16, 17, 18, 19, 20}));
  EXPECT_EQ(shapes_of(dsplit(x, 3)), (std::vector<Shape>{{2, 4, 1}, {2, 4, 1}, {2, 4, 1}}));
  EXPECT_EQ(elements(dsplit(x, {1, 2})[1]), (Doubles{1, 4, 7, 10, 13, 16, 19, 22}));
}

TEST_P(JoinedTensors, RefusesInvalidParts) {
  const Tensor x = zeros({2, 4, 3});
  EXPECT_EQ(message_of([&] { tensor_split(x, 0); }),
            "tensor_split: expected at least 1 section, got 0");
  EXPECT_EQ(message_of([&] { hsplit(x, 3); }),
            "hsplit: expected sections that divide the size 4, got 3");
  EXPECT_THROW(tensor_split(x, -1), std::invalid_argument);
  EXPECT_THROW(tensor_split(x, 2, 3), std::out_of_range);
  EXPECT_THROW(tensor_split(sum(x), 2), std::invalid_argument);
  EXPECT_THROW(tensor_split(sum(x), {1, 2}), std::invalid_argument);
  EXPECT_THROW(hsplit(sum(x), 1), std::invalid_argument);
  EXPECT_THROW(vsplit(x[0][0], 1), std::invalid_argument);
  EXPECT_THROW(vsplit(x, 0), std::invalid_argument);
  EXPECT_THROW(dsplit(x[0], 1), std::invalid_argument);
  EXPECT_THROW(dsplit(x, 2), std::invalid_argument);
  EXPECT_THROW(dsplit(x[0], {1, 2}), std::invalid_argument);
}

TEST_P(JoinedTensors, HaveTheGradientsOfFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{hstack(in),
                               vstack(in),
                               dstack(in),
                               column_stack({in[0][0], in[1].t()}),
                               hstack({in[0][0], in[1][1]}),
                               tensor_split(in[0], 2, 1)[0],
                               tensor_split(in[0], {1, -1}, 1)[1],
                               hsplit(in[1], 3)[1],
                               vsplit(in[1], 2)[1]};
  };
  std::vector<Tensor> inputs;
  for (std::uint64_t stream = 0; stream < 2; ++stream) {
    const Tensor x = random_tensor({2, 3}, -2, 2, {.seed = 2, .stream = stream});
    inputs.push_back(x.to(device()).requires_grad_());
  }
  for (const Tensor& y : f(inputs)) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, inputs));
}

}  // namespace
}  // namespace halfgrad
