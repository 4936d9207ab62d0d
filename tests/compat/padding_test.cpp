#include <halfgrad/compat/torch.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

namespace F = nn::functional;
using Floats = std::vector<float>;

TEST(Padding, AddsOneNumberToTheLastDimensions) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
  EXPECT_EQ(F::pad(x, F::PadFuncOptions({1, 2})).to_vector<float>(),
            (Floats{0, 1, 2, 0, 0, 0, 3, 4, 0, 0}));
  EXPECT_EQ(F::pad(x, F::PadFuncOptions({0, 0, 1, 0}).value(7)).to_vector<float>(),
            (Floats{7, 7, 1, 2, 3, 4}));
  EXPECT_EQ(constant_pad_nd(x, {-1, 1, 0, -1}, 5).to_vector<float>(), (Floats{2, 5}));
  EXPECT_EQ(constant_pad_nd(tensor({1, 2}), {1, 0}).dtype(), kLong);
  EXPECT_EQ(constant_pad_nd(zeros({0, 2}), {0, 0, 1, 1}, 3).sizes(), (Shape{2, 2}));
}

TEST(Padding, TakesElementsOfTheInput) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const auto padded = [&](PadMode mode, const std::vector<std::int64_t>& pad) {
    return F::pad(x, F::PadFuncOptions(pad).mode(mode)).to_vector<float>();
  };
  EXPECT_EQ(padded(kReflect, {2, 1}), (Floats{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(padded(kReplicate, {2, 1}), (Floats{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded(kCircular, {2, 3}), (Floats{2, 3, 1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(padded(kReplicate, {-1, 1}), (Floats{2, 3, 3}));
}

TEST(Padding, IsACopyWithAGradient) {
  const Tensor x = randn({2, 3}, dtype(kDouble).requires_grad(true));
  EXPECT_FALSE(constant_pad_nd(x, {0, 0}).is_alias_of(x));
  EXPECT_FALSE(constant_pad_nd(x, {-1, 0}).is_alias_of(x));
  for (const PadMode mode : {kConstant, kReflect, kReplicate, kCircular}) {
    const auto function = [mode](const std::vector<Tensor>& in) {
      return F::pad(in[0], F::PadFuncOptions({1, -1, 1, 0}).mode(mode));
    };
    EXPECT_TRUE(autograd::gradcheck(function, {x}));
  }
}

TEST(Padding, RefusesWhatDoesNotFit) {
  const Tensor x = ones({3});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { constant_pad_nd(x, {1}); }),
            "pad: expected a pair for each of at most 1 dimensions, got [1]");
  EXPECT_THROW(constant_pad_nd(x, {1, 1, 1, 1}), std::invalid_argument);
  EXPECT_THROW(constant_pad_nd(x, {-2, -2}), std::invalid_argument);
  EXPECT_THROW(constant_pad_nd(x, {-4, 5}), std::invalid_argument);
  EXPECT_THROW(F::pad(x, F::PadFuncOptions({3, 0}).mode(kReflect)), std::invalid_argument);
  EXPECT_THROW(F::pad(x, F::PadFuncOptions({4, 0}).mode(kCircular)), std::invalid_argument);
  EXPECT_THROW(F::pad(ones({0}), F::PadFuncOptions({1, 0}).mode(kReplicate)),
               std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
