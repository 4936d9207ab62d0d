#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/losses.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// uint8, int8 and int16: stored in 8 and 16 bits, computed in int64, wrapped when stored.
namespace halfgrad {
namespace {

using SmallIntegers = TensorsOnDevice;
HALFGRAD_ON_DEVICES(SmallIntegers);

constexpr DType kSmall[] = {kUInt8, kInt8, kInt16};

TEST_P(SmallIntegers, BroadcastAndKeepEveryValue) {
  for (const DType dtype : kSmall) {
    const bool is_unsigned = dtype == kUInt8;
    const double low = is_unsigned ? 0 : dtype == kInt8 ? -128 : -32768;
    const double high = is_unsigned ? 255 : dtype == kInt8 ? 127 : 32767;
    const Tensor x = arange(low, high + 1, 1, in(kLong)).to(dtype);
    EXPECT_EQ(x.element_size(), item_size(dtype));
    EXPECT_TRUE(equal(x.to(kLong), arange(low, high + 1, 1, in(kLong))));
    EXPECT_TRUE(equal(x.to(kDouble).to(dtype), x));
    EXPECT_TRUE(equal(x.to(kFloat).to(dtype), x));
    EXPECT_EQ(max(x).item<std::int64_t>(), static_cast<std::int64_t>(high));
    EXPECT_EQ(min(x).item<double>(), low);
    const Tensor row = elements({low, high}, dtype), column = elements({1, 2, 3}, dtype);
    const Tensor wide = (row.to(kLong) + column.to(kLong).unsqueeze(1)).to(dtype);
    EXPECT_TRUE(equal(row + column.unsqueeze(1), wide)) << "wraps";
    EXPECT_TRUE(equal((row + column.unsqueeze(1)).t(), wide.t()));
    EXPECT_EQ(sum(zeros({0}, in(dtype))).dtype(), kLong);
    EXPECT_EQ((zeros({0, 3}, in(dtype)) + x[0]).sizes(), (Shape{0, 3}));
  }
}

TEST_P(SmallIntegers, AreCreatedFilledAndAssigned) {
  for (const DType dtype : kSmall) {
    SCOPED_TRACE(name(dtype));
    Tensor x = full({2, 3}, 100, in(dtype));
    EXPECT_EQ(ones_like(x).dtype(), dtype);
    EXPECT_EQ(randint(0, 100, {50}, in(dtype)).dtype(), dtype);
    x[0][1] = 7;
    x.slice(1, 2).fill_(9);
    expect_values(x.flatten(), {100, 7, 9, 100, 100, 9});
    x.index_put_({x == 100}, tensor(1).to(x.device()).to(dtype));
    expect_values(x.flatten(), {1, 7, 9, 1, 1, 9});
    x += 1;
    x *= 20;
    expect_values(x.to(kUInt8).flatten(), {40, 160, 200, 40, 40, 200});
    x.copy_(tensor({1.9, 2.0, -0.5}));
    expect_values(x[1], {1, 2, 0});
    EXPECT_THROW(x.add_(0.5), std::invalid_argument);
    EXPECT_THROW(full({1}, 40000, in(dtype)), std::invalid_argument);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { x.requires_grad_(); }),
              "requires_grad_: expected a floating-point tensor, got " + std::string(name(dtype)));
    EXPECT_THROW(zeros({1}, CreationOptions{dtype, device(), true}), std::invalid_argument);
  }
}

// docs/dtypes.md says where this differs from PyTorch, which wraps -1 to 255 before it compares.
TEST_P(SmallIntegers, CompareValuesAndWrapSums) {
  const Tensor bytes = elements({5, 255, 200}, kUInt8), signed_bytes = elements({5, -128}, kInt8);
  EXPECT_FALSE(any(bytes == -1).item<bool>());
  EXPECT_TRUE(all(bytes < 300).item<bool>());
  EXPECT_TRUE(all(signed_bytes < 200).item<bool>());
  expect_values(bytes + 300, {49, 43, 244});
  expect_values(bytes * 300, {220, 212, 96});
  expect_values(signed_bytes - 300, {-39, 84});
  const Tensor wide = tensor(300).to(device());  // 44 as int8
  EXPECT_EQ(maximum(signed_bytes, wide).dtype(), kInt8);
  expect_values(maximum(signed_bytes, wide), {44, 44});
  expect_values(minimum(wide, elements({5, 100}, kInt8)), {5, 44});
  expect_values(elements({300.9, -1.5}).to(kUInt8), {44, 255});
}

// The example of docs/dtypes.md.
TEST_P(SmallIntegers, HoldPixels) {
  const Tensor pixels = elements({0, 51, 200, 255}, kUInt8);
  const Tensor x = pixels.to(kFloat) / 255, change = pixels.to(kShort) - 128;
  EXPECT_EQ(x.dtype(), kFloat);
  EXPECT_EQ(max(x).item(), 1);
  EXPECT_EQ(change.dtype(), kInt16);
  expect_values(change, {-128, -77, 72, 127});
  expect_values(pixels - 128, {128, 179, 72, 127});
  EXPECT_EQ((pixels > 127).sum().dtype(), kInt64);
  EXPECT_EQ((pixels > 127).sum().item(), 2);
  EXPECT_EQ(all(pixels).dtype(), kUInt8);
  EXPECT_EQ(all(pixels.to(kInt8)).dtype(), kBool);
}

TEST(SmallIntegerElements, KeepTheirTypes) {
  EXPECT_EQ(tensor(std::vector<std::int8_t>{-128, 127}).dtype(), kChar);
  EXPECT_EQ(tensor(std::vector<std::int16_t>{-32768, 32767}).dtype(), kShort);
  EXPECT_EQ(tensor(std::vector<std::uint8_t>{0, 255}).dtype(), kByte);
  EXPECT_EQ(tensor(std::int8_t{5}).dtype(), kInt8) << "as in libtorch, which widens int only";
  const Tensor x = tensor({-128.0, 127.0}, {.dtype = kInt8, .device = kCPU});
  EXPECT_EQ(x.to_vector<std::int8_t>(), (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(x.to(kInt16).to_vector<std::int16_t>(), (std::vector<std::int16_t>{-128, 127}));
  EXPECT_EQ(x[0].item<std::int8_t>(), -128);
  EXPECT_EQ(x[0].item<std::uint8_t>(), 128) << "negative values wrap in unsigned types";
  EXPECT_THROW(tensor(128).item<std::int8_t>(), std::invalid_argument);
  EXPECT_THROW(tensor(256).item<std::uint8_t>(), std::invalid_argument);
  EXPECT_EQ(x.data_ptr<std::int8_t>()[1], 127);
}

TEST_P(SmallIntegers, PickAsIndicesAndLabelsWherePyTorchDoes) {
  const Tensor x = tensor({{1.0, 2.0, 0.5}, {0.0, -1.0, 3.0}}).to(device());
  const Tensor labels = tensor({2, 0}).to(device());
  EXPECT_TRUE(equal(cross_entropy(x, labels.to(kUInt8)), cross_entropy(x, labels)));
  EXPECT_TRUE(equal(nll_loss(x, labels.to(kUInt8)), nll_loss(x, labels)));
  EXPECT_TRUE(equal(cross_entropy(x[0], labels[0].to(kUInt8)), cross_entropy(x[0], labels[0])));
  const CrossEntropyOptions smooth{.reduction = Reduction::none, .label_smoothing = 0.1};
  EXPECT_TRUE(equal(cross_entropy(x, labels.to(kUInt8), smooth), cross_entropy(x, labels, smooth)));
  EXPECT_TRUE(equal(cross_entropy(x, labels.to(kUInt8), {.ignore_index = 0}),
                    cross_entropy(x, labels, {.ignore_index = 0})));
  for (const DType dtype : {kInt8, kInt16, kInt32, kBool}) {
    const std::string got = std::string(name(dtype));
    EXPECT_EQ(message_of<std::invalid_argument>([&] { cross_entropy(x, labels.to(dtype)); }),
              "cross_entropy: expected int64 or uint8 class indices, got " + got);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { nll_loss(x, labels.to(dtype)); }),
              "nll_loss: expected int64 or uint8 class indices, got " + got);
  }
  for (const DType dtype : kSmall) {
    const Tensor index = tensor({1, 0}).to(device()).to(dtype);
    const std::string got = std::string(name(dtype));
    EXPECT_EQ(message_of<std::invalid_argument>([&] { index_select(x, 0, index); }),
              "index_select: expected indices of int64 or int32, got " + got);
    if (dtype == kUInt8) continue;  // a mask
    EXPECT_THROW(x.index({index}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace halfgrad
