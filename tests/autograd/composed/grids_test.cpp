#include <cstdint>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Broadcast tensors, grids and combinations. Expected values are PyTorch's.
namespace halfgrad {
namespace {

using GridsOfTensors = TensorsOnDevice;
HALFGRAD_ON_DEVICES(GridsOfTensors);

TEST_P(GridsOfTensors, Broadcast) {
  const Tensor row = elements({1, 2, 3}), column = elements({4, 5}).unsqueeze(1);
  EXPECT_EQ(elements(broadcast_to(row, {2, 3})), (Doubles{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(broadcast_to(row, {2, -1}).sizes(), (Shape{2, 3}));
  const std::vector<Tensor> both = broadcast_tensors({row, column});
  EXPECT_EQ(elements(both[0]), (Doubles{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(elements(both[1]), (Doubles{4, 4, 4, 5, 5, 5}));
  EXPECT_TRUE(both[1].is_alias_of(column));
  EXPECT_EQ(broadcast_tensors({row[0], row[1]})[1].sizes(), Shape{});
  EXPECT_EQ(broadcast_tensors({zeros({0, 1}), zeros({1, 4})})[1].sizes(), (Shape{0, 4}));
  EXPECT_EQ(broadcast_tensors({row, row > 1})[1].dtype(), kBool);
  EXPECT_TRUE(broadcast_tensors({}).empty());
  EXPECT_EQ(message_of([&] {
              broadcast_tensors({row, zeros({2})});
            }),
            "broadcast_tensors: expected shapes that broadcast, got [3] and [2]");
  EXPECT_THROW(broadcast_to(row, {2}), std::invalid_argument);
}

TEST_P(GridsOfTensors, OfCoordinates) {
  const Tensor a = elements({1, 2, 3}), b = elements({4, 5});
  const std::vector<Tensor> grids = meshgrid({a, b});
  EXPECT_EQ(grids[0].sizes(), (Shape{3, 2}));
  EXPECT_EQ(elements(grids[0]), (Doubles{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(elements(grids[1]), (Doubles{4, 5, 4, 5, 4, 5}));
  const std::vector<Tensor> xy = meshgrid({a, b}, "xy");
  EXPECT_EQ(xy[0].sizes(), (Shape{2, 3}));
  EXPECT_EQ(elements(xy[0]), (Doubles{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(elements(xy[1]), (Doubles{4, 4, 4, 5, 5, 5}));
  EXPECT_EQ(meshgrid({a, b, zeros({7}, in(kDouble))}, "xy")[2].sizes(), (Shape{2, 3, 7}));
  EXPECT_EQ(elements(meshgrid({a}, "xy")[0]), elements(a));
  EXPECT_EQ(elements(meshgrid({a[1], b})[0]), (Doubles{2, 2}));
  EXPECT_EQ(meshgrid({a[1], b})[1].sizes(), (Shape{1, 2}));
  EXPECT_EQ(meshgrid({a, b.slice(0, 0, 0)})[0].sizes(), (Shape{3, 0}));
}

TEST_P(GridsOfTensors, RefuseWhatIsNoVector) {
  const Tensor a = elements({1, 2, 3});
  EXPECT_EQ(message_of([&] {
              meshgrid({a, a}, "yx");
            }),
            "meshgrid: expected indexing \"ij\" or \"xy\", got \"yx\"");
  EXPECT_EQ(message_of([&] {
              meshgrid({a, a.to(kFloat)});
            }),
            "meshgrid: expected one dtype, got float64 and float32");
  EXPECT_THROW(meshgrid({}), std::invalid_argument);
  EXPECT_THROW(meshgrid({a, zeros({1, 2}, in(kDouble))}), std::invalid_argument);
  EXPECT_THROW(meshgrid(std::vector<Tensor>(9, a)), std::invalid_argument) << "9 dimensions";
  EXPECT_THROW(cartesian_prod({}), std::invalid_argument);
  EXPECT_THROW(cartesian_prod({a, a[0]}), std::invalid_argument);
  EXPECT_THROW(cartesian_prod({a.unsqueeze(0)}), std::invalid_argument);
  EXPECT_THROW(cartesian_prod({a, a > 1}), std::invalid_argument);
}

TEST_P(GridsOfTensors, ProductOfSets) {
  const Tensor a = elements({1, 2, 3}, kLong), b = elements({4, 5}, kLong);
  EXPECT_EQ(cartesian_prod({a, b}).sizes(), (Shape{6, 2}));
  EXPECT_EQ(elements(cartesian_prod({a, b})), (Doubles{1, 4, 1, 5, 2, 4, 2, 5, 3, 4, 3, 5}));
  EXPECT_EQ(cartesian_prod({a, b}).dtype(), kLong);
  EXPECT_TRUE(cartesian_prod({a}).is_same(a));
  EXPECT_EQ(cartesian_prod({a, b.slice(0, 0, 0)}).sizes(), (Shape{0, 2}));
  EXPECT_EQ(cartesian_prod({b, b, b}).sizes(), (Shape{8, 3}));
}

TEST_P(GridsOfTensors, Combinations) {
  const Tensor x = elements({10, 20, 30}, kLong);
  EXPECT_EQ(elements(combinations(x)), (Doubles{10, 20, 10, 30, 20, 30}));
  EXPECT_EQ(combinations(x).sizes(), (Shape{3, 2}));
  EXPECT_EQ(combinations(x).dtype(), kLong);
  EXPECT_EQ(elements(combinations(x, 3)), (Doubles{10, 20, 30}));
  EXPECT_EQ(elements(combinations(x, 1)), elements(x));
  EXPECT_EQ(elements(combinations(x, 2, true)),
            (Doubles{10, 10, 10, 20, 10, 30, 20, 20, 20, 30, 30, 30}));
  EXPECT_EQ(combinations(x, 3, true).sizes(), (Shape{10, 3}));
  EXPECT_EQ(elements(combinations(x, 3, true)[4]), (Doubles{10, 20, 30}));
  EXPECT_EQ(elements(combinations(x, 3, true)[9]), (Doubles{30, 30, 30}));
  EXPECT_EQ(elements(combinations(arange(5).to(device()), 3)[4]), (Doubles{0, 2, 4}));
  EXPECT_EQ(combinations(arange(12).to(device()), 10).sizes(), (Shape{66, 10})) << "r above 8";
  EXPECT_EQ(combinations(x, 4).sizes(), (Shape{0, 4}));
  EXPECT_EQ(combinations(x, 0).sizes(), Shape{0});
  EXPECT_EQ(combinations(x.slice(0, 0, 0), 2, true).sizes(), (Shape{0, 2}));
  EXPECT_EQ(elements(combinations(x > 10)), (Doubles{0, 1, 0, 1, 1, 1}));
  EXPECT_EQ(message_of([&] { combinations(x, -1); }), "combinations: expected r >= 0, got -1");
  EXPECT_THROW(combinations(x[0]), std::invalid_argument);
  EXPECT_THROW(combinations(x.unsqueeze(0)), std::invalid_argument);
}

TEST_P(GridsOfTensors, HaveTheGradientsOfFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) {
    const std::vector<Tensor> both = broadcast_tensors({in[0], in[1].unsqueeze(1)});
    return std::vector<Tensor>{broadcast_to(in[0], {2, 3}), both[0] * both[1],  meshgrid(in)[0],
                               meshgrid(in, "xy")[1],       cartesian_prod(in), combinations(in[0]),
                               combinations(in[1], 3, true)};
  };
  const Tensor a = random_tensor({3}, -2, 2, {.seed = 3}).to(device()).requires_grad_();
  const Tensor b = random_tensor({2}, -2, 2, {.seed = 4}).to(device()).requires_grad_();
  for (const Tensor& y : f({a, b})) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, {a, b}));
}

}  // namespace
}  // namespace halfgrad
