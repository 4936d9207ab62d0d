#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Repeated tensors and elements. Expected values are PyTorch's.
namespace halfgrad {
namespace {

// An output_size: an integer would count as `repeats`.
std::optional<std::int64_t> size_of(std::int64_t size) { return size; }

using RepeatedElements = TensorsOnDevice;
HALFGRAD_ON_DEVICES(RepeatedElements);

TEST_P(RepeatedElements, Tiles) {
  const Tensor x = arange(4).reshape({2, 2}).to(device());
  EXPECT_EQ(elements(tile(x, 2)), (Doubles{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(tile(x, {2, 1}).sizes(), (Shape{4, 2}));
  EXPECT_EQ(tile(x, {3, 1, 2}).sizes(), (Shape{3, 2, 4}));
  EXPECT_EQ(tile(x, {0, 1}).sizes(), (Shape{0, 2}));
  EXPECT_EQ(elements(tile(x.t(), Shape{})), (Doubles{0, 2, 1, 3}));
  EXPECT_EQ(elements(tile(x[1][1], 2)), (Doubles{3, 3}));
  EXPECT_EQ(tile(zeros({0, 2}), 3).sizes(), (Shape{0, 6}));
  EXPECT_FALSE(tile(x, 1).is_alias_of(x));
  EXPECT_EQ(message_of([&] { tile(x, {1, -2}); }), "tile: expected counts >= 0, got [1, -2]");
}

TEST_P(RepeatedElements, ByOneCount) {
  const Tensor x = arange(4).reshape({2, 2}).to(device());
  EXPECT_EQ(elements(repeat_interleave(x, 2)), (Doubles{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(repeat_interleave(x, 2).sizes(), Shape{8});
  EXPECT_EQ(elements(repeat_interleave(x, 2, 0)), (Doubles{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(repeat_interleave(x, 3, -1).sizes(), (Shape{2, 6}));
  EXPECT_EQ(elements(repeat_interleave(x.t(), 2, -1)), (Doubles{0, 0, 2, 2, 1, 1, 3, 3}));
  EXPECT_EQ(repeat_interleave(x, 0, 1).sizes(), (Shape{2, 0}));
  EXPECT_EQ(repeat_interleave(zeros({0, 3}), 2, 1).sizes(), (Shape{0, 6}));
  EXPECT_EQ(repeat_interleave(zeros({0, 3}), 2, 0).sizes(), (Shape{0, 3}));
  EXPECT_EQ(elements(repeat_interleave(x[1][0], 3)), (Doubles{2, 2, 2}));
  EXPECT_EQ(repeat_interleave(x, 2, 0, 4).size(0), 4);
  EXPECT_EQ(repeat_interleave(x.to(kHalf), 2).dtype(), kHalf);
  EXPECT_EQ(elements(repeat_interleave(x > 1, 1, 1)), (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(repeat_interleave(zeros({1, 1, 1, 1, 1, 1, 2, 1}), 3, -2).size(-2), 6);
  for (const std::int64_t repeats : {0, 1, 2}) {
    EXPECT_FALSE(repeat_interleave(x, repeats, 0).is_alias_of(x)) << repeats;
  }
}

TEST_P(RepeatedElements, ByACountForEach) {
  const Tensor x = arange(6).reshape({2, 3}).to(device());
  EXPECT_EQ(elements(repeat_interleave(x, elements({1, 2}, kLong), 0)),
            (Doubles{0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(elements(repeat_interleave(x, elements({2, 0, 1}, kInt), -1)),
            (Doubles{0, 0, 2, 3, 3, 5}));
  EXPECT_EQ(elements(repeat_interleave(x, elements({0, 1, 0, 2, 0, 0}, kLong))),
            (Doubles{1, 3, 3}));
  EXPECT_EQ(elements(repeat_interleave(x, elements({2}, kLong), 1)),
            (Doubles{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(repeat_interleave(x, elements({2}, kLong)[0], 0).sizes(), (Shape{4, 3}));
  EXPECT_EQ(repeat_interleave(x, elements({0, 0}, kLong), 0).sizes(), (Shape{0, 3}));
  EXPECT_EQ(repeat_interleave(x, elements({1, 2}, kLong), 0, 3).size(0), 3);
  EXPECT_EQ(repeat_interleave(zeros({0, 3}), zeros({0}, kLong), 0).sizes(), (Shape{0, 3}));
  EXPECT_EQ(elements(repeat_interleave(x[1][2], elements({2}, kLong))), (Doubles{5, 5}));
  EXPECT_EQ(repeat_interleave(x > 1, elements({1, 2}, kLong), 0).dtype(), kBool);
}

TEST_P(RepeatedElements, ReturnsIndicesThatRepeat) {
  const Tensor index = repeat_interleave(elements({1, 0, 3}, kLong));
  EXPECT_EQ(elements(index), (Doubles{0, 2, 2, 2}));
  EXPECT_EQ(index.dtype(), kLong);
  EXPECT_EQ(index.device().type(), device().type());
  EXPECT_EQ(repeat_interleave(elements({1, 2}, kInt), size_of(3)).dtype(), kInt);
  EXPECT_EQ(repeat_interleave(zeros({0}, kLong)).sizes(), Shape{0});
}

TEST_P(RepeatedElements, RefuseInvalidCounts) {
  const Tensor x = zeros({2, 3}, in(kFloat));
  EXPECT_EQ(message_of([&] { repeat_interleave(x, -1); }),
            "repeat_interleave: expected repeats >= 0, got -1");
  EXPECT_EQ(message_of([&] { repeat_interleave(x, 2, 0, 5); }),
            "repeat_interleave: expected an output_size of 4, got 5");
  EXPECT_EQ(message_of([&] {
              repeat_interleave(x, elements({1, 2}, kLong), 1);
            }),
            "repeat_interleave: expected one count, or one for each of 3 elements, got shape [2]");
  EXPECT_EQ(message_of([&] {
              repeat_interleave(x, elements({1, 2}), 0);
            }),
            "repeat_interleave: expected repeats of int64 or int32, got float64");
  EXPECT_THROW(repeat_interleave(x, elements({1, 1}) > 0, 0), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(x, elements({1, -1}, kLong), 0), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(x, elements({1, 2}, kLong)), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(x, zeros({2, 1}, in(kLong)), 0), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(x, zeros({0}, in(kLong)), 0), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(x, elements({1, 2}, kLong), 0, 2), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(x, 2, 2), std::out_of_range);
  EXPECT_THROW(repeat_interleave(sum(x), 2, 0), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(elements({1}, kLong)[0]), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(elements({1, 2}, kLong), size_of(4)), std::invalid_argument);
  EXPECT_THROW(repeat_interleave(elements({1, -2}, kLong)), std::invalid_argument);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(repeat_interleave(x, kMost, 0), std::invalid_argument);
  const Tensor most = full({2}, kMost, in(kLong));
  EXPECT_THROW(repeat_interleave(x, most, 0), std::invalid_argument);
}

TEST_P(RepeatedElements, HaveTheGradientsOfFiniteDifferences) {
  const Tensor counts = elements({2, 0, 1}, kLong);
  const auto f = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{tile(in[0], {2, 2}),
                               repeat_interleave(in[0], 2),
                               repeat_interleave(in[0].t(), 3, 0),
                               repeat_interleave(in[0], 1, 0),
                               repeat_interleave(in[0], counts, 1),
                               repeat_interleave(in[0], counts[0])};
  };
  const Tensor x = random_tensor({2, 3}, -2, 2, {.seed = 5}).to(device()).requires_grad_();
  for (const Tensor& y : f({x})) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
}

}  // namespace
}  // namespace halfgrad
