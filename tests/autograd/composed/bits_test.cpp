#include <cstdint>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/bits.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Bits of integers, and views of the bytes of a tensor.
namespace halfgrad {
namespace {

using Bits = TensorsOnDevice;
HALFGRAD_ON_DEVICES(Bits);

TEST_P(Bits, AgreeWithTheOperatorsOfC) {
  const std::vector<std::int64_t> a{0, 1, 6, -1, -128, 127, 90}, b{3, 3, 5, 7, 1, 100, -2};
  for (const DType dtype : {kInt8, kInt16, kInt32, kInt64}) {
    const Tensor x = tensor(a).to(dtype).to(device()), y = tensor(b).to(dtype).to(device());
    Doubles both, either, one, none;
    for (std::size_t i = 0; i < a.size(); ++i) {
      both.push_back(static_cast<double>(a[i] & b[i]));
      either.push_back(static_cast<double>(a[i] | b[i]));
      one.push_back(static_cast<double>(a[i] ^ b[i]));
      none.push_back(static_cast<double>(~a[i]));
    }
    EXPECT_EQ(bitwise_and(x, y).dtype(), dtype);
    EXPECT_EQ(elements(x & y), both);
    EXPECT_EQ(elements(x | y), either);
    EXPECT_EQ(elements(x ^ y), one);
    EXPECT_EQ(elements(~x), none);
  }
  EXPECT_EQ(elements(~tensor({0, 5}).to(kUInt8)), (Doubles{255, 250}));
}

TEST_P(Bits, ShiftsAreThoseOfPyTorch) {
  const Tensor x = elements({1, 64, -3, 127}, kInt8);
  EXPECT_EQ(elements(bitwise_left_shift(x, 1)), (Doubles{2, -128, -6, -2}));
  EXPECT_EQ(elements(bitwise_left_shift(x, 8)), (Doubles{0, 0, 0, 0}));
  EXPECT_EQ(elements(bitwise_left_shift(x, -1)), (Doubles{0, 0, 0, 0}));
  EXPECT_EQ(elements(x.bitwise_right_shift(1)), (Doubles{0, 32, -2, 63}));
  EXPECT_EQ(elements(x.bitwise_right_shift(8)), (Doubles{0, 0, -1, 0}));
  EXPECT_EQ(elements(bitwise_right_shift(x, -1)), (Doubles{0, 0, -1, 0}));
  EXPECT_EQ(elements(bitwise_left_shift(1, elements({0, 3, 62, 63}, kLong))),
            (Doubles{1, 8, 0x1p62, -0x1p63}));
}

TEST_P(Bits, PromoteBroadcastAndRefuse) {
  const Tensor column = elements({1, 2}, kInt).unsqueeze(1), row = elements({3, 5, 6}, kInt64);
  EXPECT_EQ((column & row).dtype(), kInt64);
  EXPECT_EQ(elements(column & row), (Doubles{1, 1, 0, 2, 0, 2}));
  EXPECT_EQ((column & 3).dtype(), kInt);
  EXPECT_EQ(elements(4 | row), (Doubles{7, 5, 6}));
  EXPECT_EQ(elements(row.t() ^ 1), (Doubles{2, 4, 7}));
  EXPECT_EQ((elements({1, 0}, kBool) & elements({3, 3}, kInt)).dtype(), kInt);
  Tensor x = elements({6, 5}, kInt);
  x.bitwise_and_(4);
  x |= elements({1, 2}, kInt);
  EXPECT_EQ(elements(x), (Doubles{5, 6}));
  EXPECT_EQ((elements(Doubles(), kInt) & 1).numel(), 0);
  EXPECT_EQ(message_of([&] { bitwise_or(row, elements({1})); }),
            "bitwise_or: expected integers or bool, got int64 and float64");
  EXPECT_EQ(message_of([&] { ~elements({1}); }),
            "operator~: expected integers or bool, got float64");
  EXPECT_THROW(row & 0.5, std::invalid_argument);
  EXPECT_THROW(bitwise_left_shift(elements({1}, kBool), elements({1}, kBool)),
               std::invalid_argument);
}

TEST_P(Bits, ViewsOfBytes) {
  const Tensor x = elements({1, -2}, kFloat32);
  const Tensor bits = x.view(kInt);
  EXPECT_EQ(elements(bits), (Doubles{0x3f800000, double(std::int32_t(0xc0000000))}));
  bits.bitwise_and_(0x7fffffff);
  EXPECT_EQ(elements(x), (Doubles{1, 2})) << "one memory";
  const Tensor halves = elements({1, 2, 3, 4}, kFloat16).reshape({2, 2});
  EXPECT_EQ(halves.view(kUInt8).sizes(), (Shape{2, 4}));
  EXPECT_EQ(elements(halves.view(kUInt8)), (Doubles{0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44}));
  EXPECT_EQ(elements(halves.slice(0, 1, 2).view(kInt32)), (Doubles{0x44004200}));
  EXPECT_EQ(elements(halves.view(kInt32).view(kFloat16)), elements(halves));
  EXPECT_EQ(elements(halves.t().view(kInt16)), elements(halves.t().contiguous().view(kInt16)));
  EXPECT_FALSE(x.clone().requires_grad_().view(kInt).requires_grad());
  EXPECT_EQ(message_of([&] { halves.t().view(kInt32); }),
            "view: expected a last dimension of stride 1, and sizes and strides of whole elements "
            "of int32, got sizes [2, 2] and strides [1, 2] of float16");
  EXPECT_THROW(elements({1, 2, 3}, kFloat16).view(kInt32), std::invalid_argument);
  EXPECT_THROW(elements({1, 2, 3}, kFloat16).slice(0, 1, 3).view(kInt32), std::invalid_argument);
  EXPECT_THROW(elements({1}, kFloat16).reshape({}).view(kUInt8), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
