#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Moved, divided and reversed dimensions. Expected values are PyTorch's.
namespace halfgrad {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

using MovedDimensions = TensorsOnDevice;
HALFGRAD_ON_DEVICES(MovedDimensions);

TEST_P(MovedDimensions, MovesOneDimensionOrSeveral) {
  const Tensor x = arange(24).reshape({2, 3, 4}).to(device());
  EXPECT_EQ(movedim(x, 0, 2).sizes(), (Shape{3, 4, 2}));
  EXPECT_EQ(movedim(x, -1, 0).sizes(), (Shape{4, 2, 3}));
  EXPECT_EQ(movedim(x, {0, 1}, {-1, 0}).sizes(), (Shape{3, 4, 2}));
  EXPECT_EQ(movedim(x, {2, 0}, {0, 1}).sizes(), (Shape{4, 2, 3}));
  EXPECT_EQ(movedim(x, Shape{}, Shape{}).sizes(), x.sizes());
  EXPECT_EQ(movedim(x, {0, 1, 2}, {2, 0, 1}).sizes(), (Shape{3, 4, 2}));
  EXPECT_EQ(elements(movedim(x, 0, 2)[1][0]), (Doubles{4, 16}));
  EXPECT_EQ(elements(moveaxis(x, {2, 0}, {0, 1})[3][1]), (Doubles{15, 19, 23}));
  EXPECT_EQ(moveaxis(x, 0, 1).sizes(), (Shape{3, 2, 4}));
  EXPECT_TRUE(movedim(x, 0, 2).is_alias_of(x));
  EXPECT_EQ(movedim(sum(x), 0, -1).sizes(), Shape{});
  EXPECT_EQ(movedim(zeros({0, 3}), 0, 1).sizes(), (Shape{3, 0}));
  EXPECT_EQ(swapaxes(x, 0, -1).sizes(), (Shape{4, 3, 2}));
  EXPECT_EQ(elements(swapdims(x, 0, 1)[2]), (Doubles{8, 9, 10, 11, 20, 21, 22, 23}));
}

TEST_P(MovedDimensions, RefusesOnesThatAreNoPermutation) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(message_of([&] {
              movedim(x, {0, 1}, 2);
            }),
            "movedim: expected a destination for each source, got [0, 1] and [2]");
  EXPECT_EQ(message_of([&] {
              movedim(x, {0, -3}, {0, 1});
            }),
            "movedim: expected each dimension once, got [0, -3] and [0, 1]");
  EXPECT_THROW(movedim(x, {0, 1}, {2, -1}), std::invalid_argument);
  EXPECT_THROW(movedim(sum(x), {0, 0}, {0, 0}), std::invalid_argument);
  EXPECT_THROW(movedim(x, 3, 0), std::out_of_range);
  EXPECT_THROW(moveaxis(x, 0, -4), std::out_of_range);
  EXPECT_THROW(swapdims(x, 0, 3), std::out_of_range);
}

TEST_P(MovedDimensions, Unfolds) {
  const Tensor x = arange(10).reshape({2, 5}).to(device());
  EXPECT_EQ(unfold(x, 1, 3, 2).sizes(), (Shape{2, 2, 3}));
  EXPECT_EQ(elements(unfold(x, 1, 3, 2)), (Doubles{0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9}));
  EXPECT_EQ(elements(unfold(x, 0, 1, 1)[1]), (Doubles{5, 6, 7, 8, 9}));
  EXPECT_EQ(unfold(x, 0, 1, 1).sizes(), (Shape{2, 5, 1}));
  EXPECT_EQ(elements(unfold(x.t(), -2, 2, 3)), (Doubles{0, 1, 5, 6, 3, 4, 8, 9}));
  EXPECT_EQ(elements(unfold(x.slice(1, 1), 1, 4, kMost)), (Doubles{1, 2, 3, 4, 6, 7, 8, 9}));
  EXPECT_EQ(unfold(x, 1, 0, 2).sizes(), (Shape{2, 3, 0}));
  EXPECT_EQ(unfold(sum(x), 0, 1, 1).sizes(), (Shape{1}));
  EXPECT_EQ(unfold(sum(x), -1, 0, 1).sizes(), (Shape{0}));
  EXPECT_TRUE(unfold(x, 1, 3, 2).is_alias_of(x));
  EXPECT_TRUE(x.unfold(1, 3, 2).equal(unfold(x, 1, 3, 2)));
  EXPECT_EQ(message_of([&] { unfold(x, 1, 6, 1); }),
            "unfold: expected 0 <= size <= 5 and step >= 1, got size 6 and step 1");
  EXPECT_THROW(unfold(x, 1, -1, 1), std::invalid_argument);
  EXPECT_THROW(unfold(x, 1, 1, 0), std::invalid_argument);
  EXPECT_THROW(unfold(sum(x), 0, 2, 1), std::invalid_argument);
  EXPECT_THROW(unfold(x, 2, 1, 1), std::out_of_range);
}

TEST_P(MovedDimensions, UnflattensADimension) {
  const Tensor x = arange(24).reshape({2, 12}).to(device());
  EXPECT_EQ(unflatten(x, 1, {3, 4}).sizes(), (Shape{2, 3, 4}));
  EXPECT_EQ(unflatten(x, -1, {2, -1, 3}).sizes(), (Shape{2, 2, 2, 3}));
  EXPECT_EQ(unflatten(x, 0, {1, 2}).sizes(), (Shape{1, 2, 12}));
  EXPECT_EQ(unflatten(x, 0, -1).sizes(), x.sizes());
  EXPECT_EQ(elements(unflatten(x, 1, {3, 4})[1][2]), (Doubles{20, 21, 22, 23}));
  EXPECT_TRUE(unflatten(x.t(), 0, {3, 4}).is_alias_of(x)) << "not contiguous";
  EXPECT_EQ(elements(unflatten(x.t(), 0, {3, 4})[2][1]), (Doubles{9, 21}));
  EXPECT_EQ(unflatten(zeros({0, 6}), 1, {2, -1}).sizes(), (Shape{0, 2, 3}));
  EXPECT_EQ(unflatten(zeros({0, 6}), 0, {-1, 5}).sizes(), (Shape{0, 5, 6}));
  EXPECT_EQ(message_of([&] {
              unflatten(x, 1, {5, -1});
            }),
            "unflatten: expected sizes whose product is 12, one of them -1 at most, got [5, -1]");
  EXPECT_THROW(unflatten(x, 1, Shape{}), std::invalid_argument);
  EXPECT_THROW(unflatten(x, 1, {3, 3}), std::invalid_argument);
  EXPECT_THROW(unflatten(x, 1, {-1, -1}), std::invalid_argument);
  EXPECT_THROW(unflatten(x, 1, {-2, -6}), std::invalid_argument);
  EXPECT_THROW(unflatten(zeros({0}), 0, {0, -1}), std::invalid_argument);
  EXPECT_THROW(unflatten(x, 1, {std::int64_t{1} << 62, 12}), std::invalid_argument);
  EXPECT_THROW(unflatten(x, 2, {3, 4}), std::out_of_range);
  EXPECT_THROW(unflatten(sum(x), 0, {1, 1}), std::invalid_argument);
  EXPECT_THROW(unflatten(x, 1, {1, 1, 1, 1, 1, 1, 1, 12}), std::invalid_argument) << "9 dimensions";
}

TEST_P(MovedDimensions, AddsDimensions) {
  const Tensor scalar = elements({5})[0], vector = elements({1, 2});
  const Tensor matrix = zeros({2, 3}), cube = zeros({2, 3, 4});
  EXPECT_EQ(atleast_1d(scalar).sizes(), Shape{1});
  EXPECT_EQ(atleast_2d(scalar).sizes(), (Shape{1, 1}));
  EXPECT_EQ(atleast_3d(scalar).sizes(), (Shape{1, 1, 1}));
  EXPECT_EQ(atleast_1d(vector).sizes(), Shape{2});
  EXPECT_EQ(atleast_2d(vector).sizes(), (Shape{1, 2}));
  EXPECT_EQ(atleast_3d(vector).sizes(), (Shape{1, 2, 1}));
  EXPECT_EQ(atleast_2d(matrix).sizes(), matrix.sizes());
  EXPECT_EQ(atleast_3d(matrix).sizes(), (Shape{2, 3, 1}));
  EXPECT_EQ(atleast_3d(cube).sizes(), cube.sizes());
  EXPECT_TRUE(atleast_3d(vector).is_alias_of(vector));
  const std::vector<Tensor> all{scalar, vector, cube};
  EXPECT_EQ(atleast_1d(all)[0].sizes(), Shape{1});
  EXPECT_EQ(atleast_2d(all)[1].sizes(), (Shape{1, 2}));
  EXPECT_EQ(atleast_3d(all)[1].sizes(), (Shape{1, 2, 1}));
  EXPECT_TRUE(atleast_1d(std::vector<Tensor>()).empty());
  EXPECT_THROW(atleast_1d(Tensor()), std::runtime_error);
}

TEST_P(MovedDimensions, TurnAndFlip) {
  const Tensor x = arange(6).reshape({2, 3}).to(device());
  EXPECT_EQ(elements(fliplr(x)), (Doubles{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(elements(flipud(x)), (Doubles{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(elements(flipud(x[1])), (Doubles{5, 4, 3}));
  EXPECT_EQ(rot90(x).sizes(), (Shape{3, 2}));
  EXPECT_EQ(elements(rot90(x)), (Doubles{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(elements(rot90(x, 2)), (Doubles{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(elements(rot90(x, -1)), (Doubles{3, 0, 4, 1, 5, 2}));
  EXPECT_EQ(elements(rot90(x, 1, {1, 0})), elements(rot90(x, -1)));
  EXPECT_EQ(elements(rot90(x, 7)), elements(rot90(x, -1)));
  EXPECT_EQ(elements(rot90(x, kLeast)), elements(x));
  EXPECT_EQ(elements(rot90(x, kLeast + 1)), elements(rot90(x, 1)));
  EXPECT_EQ(rot90(zeros({2, 3, 4}), 1, {-1, 0}).sizes(), (Shape{4, 3, 2}));
  EXPECT_EQ(rot90(zeros({0, 3})).sizes(), (Shape{3, 0}));
  EXPECT_EQ(elements(rot90(x > 2, 2)), (Doubles{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(rot90(x.to(kHalf), 3).dtype(), kHalf);
  for (const std::int64_t k : {0, 1, 2, 3}) EXPECT_FALSE(rot90(x, k).is_alias_of(x)) << k;
  EXPECT_THROW(fliplr(x[0]), std::invalid_argument);
  EXPECT_THROW(flipud(sum(x)), std::invalid_argument);
  EXPECT_THROW(rot90(x, 1, 0), std::invalid_argument);
  EXPECT_THROW(rot90(x, 0, {0, -2}), std::invalid_argument);
  EXPECT_THROW(rot90(x[0]), std::invalid_argument);
  EXPECT_THROW(rot90(x, 1, {0, 2}), std::out_of_range);
}

TEST_P(MovedDimensions, HaveTheGradientsOfFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{movedim(in[0], {0, 1}, {2, 0}),
                               moveaxis(in[0], 0, 1),
                               swapaxes(in[0], 0, 2),
                               swapdims(in[0], 1, -1),
                               unflatten(in[0], -1, {2, -1}),
                               atleast_3d(in[0][0]),
                               fliplr(in[0]),
                               flipud(in[0]),
                               rot90(in[0], 1, {2, 0}),
                               rot90(in[0], 2, {0, 1}),
                               rot90(in[0], 3, {1, 2}),
                               rot90(in[0], 4, {1, 2}),
                               unfold(in[0], 2, 3, 1)};
  };
  const Tensor x = random_tensor({2, 3, 4}, -2, 2, {.seed = 1}).to(device()).requires_grad_();
  for (const Tensor& y : f({x})) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
}

}  // namespace
}  // namespace halfgrad
