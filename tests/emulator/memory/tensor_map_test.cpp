#include <halfgrad/emulator/memory/tensor_map.h>

#include <gtest/gtest.h>

#include <functional>

namespace halfgrad::emulator {
namespace {

struct Arguments {
  std::vector<std::uint64_t> dims{64, 64, 8}, strides{128, 8192};
  std::vector<std::uint32_t> box{32, 16, 1}, steps{1, 1, 1};
  TensorMapArguments all{.type = 6, .rank = 3, .address = 4096};
};

/// The text of the exception that a change of right arguments leads to, or "".
std::string refusal(const std::function<void(Arguments&)>& change) {
  Arguments arguments;
  arguments.all.dims = arguments.dims.data();
  arguments.all.strides = arguments.strides.data();
  arguments.all.box = arguments.box.data();
  arguments.all.steps = arguments.steps.data();
  change(arguments);
  try {
    encode_tensor_map(arguments.all);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  } catch (const UnknownTensorMap& unknown) {
    return std::string("unknown: ") + unknown.what();
  }
  return "";
}

#define EXPECT_REFUSED(change, message) EXPECT_EQ(refusal([](Arguments& a) { change; }), message)
#define EXPECT_ACCEPTED(change) EXPECT_EQ(refusal([](Arguments& a) { change; }), "")

TEST(TensorMapRules, AcceptLimits) {
  EXPECT_ACCEPTED((void)a);
  EXPECT_ACCEPTED(a.dims[1] = std::uint64_t{1} << 32);
  EXPECT_ACCEPTED(a.box[1] = 256);
  EXPECT_ACCEPTED(a.steps[2] = 8);
  EXPECT_ACCEPTED(a.strides[1] = (std::uint64_t{1} << 40) - 16);
  EXPECT_ACCEPTED(a.all.swizzle = 2);
  EXPECT_ACCEPTED(a.all.fill = 1);
  EXPECT_ACCEPTED(a.all.rank = 1; a.all.strides = nullptr);
}

TEST(TensorMapRules, NameTheArgument) {
  EXPECT_REFUSED(a.all.rank = 0, "expected a tensorRank from 1 to 5, got 0");
  EXPECT_REFUSED(a.all.rank = 6, "expected a tensorRank from 1 to 5, got 6");
  EXPECT_REFUSED(a.all.address = 4104,
                 "expected a globalAddress that is a multiple of 16, got 0x1008");
  EXPECT_REFUSED(a.dims[2] = 0, "expected globalDim[2] from 1 to 2^32, got 0");
  EXPECT_REFUSED(a.dims[0] = (std::uint64_t{1} << 32) + 1,
                 "expected globalDim[0] from 1 to 2^32, got 4294967297");
  EXPECT_REFUSED(a.strides[0] = 136,
                 "expected globalStrides[0] (in bytes, of dimension 1) that is a multiple of 16, "
                 "got 136");
  EXPECT_REFUSED(a.strides[1] = std::uint64_t{1} << 40,
                 "expected globalStrides[1] below 2^40 bytes, got 1099511627776");
  EXPECT_REFUSED(a.box[1] = 257, "expected boxDim[1] from 1 to 256, got 257");
  EXPECT_REFUSED(a.box[2] = 0, "expected boxDim[2] from 1 to 256, got 0");
  EXPECT_REFUSED(a.box[0] = 4, "expected a boxDim[0] of a multiple of 16 bytes, got 8");
  EXPECT_REFUSED(a.steps[1] = 9, "expected elementStrides[1] from 1 to 8, got 9");
  EXPECT_REFUSED(a.steps[1] = 0, "expected elementStrides[1] from 1 to 8, got 0");
  EXPECT_REFUSED(a.all.swizzle = 1,
                 "expected a boxDim[0] of at most 32 bytes, the span of the swizzle, got 64");
  EXPECT_REFUSED(a.all.swizzle = 7, "expected a swizzle of CUtensorMapSwizzle, got 7");
  EXPECT_REFUSED(a.all.type = 16, "expected a tensorDataType of CUtensorMapDataType, got 16");
  EXPECT_REFUSED(a.all.l2_promotion = 4,
                 "expected an l2Promotion of CUtensorMapL2promotion, got 4");
  EXPECT_REFUSED(a.all.type = 1;
                 a.all.fill = 1,
                 "expected a floating-point type for an oobFill with NaN, got UINT16");
  EXPECT_REFUSED(a.all.box = nullptr, "expected arrays, got a null pointer");
}

TEST(TensorMapRules, TellUnknownFromInvalid) {
  EXPECT_REFUSED(a.all.type = 11,
                 "unknown: the data type TFLOAT32, which converts or pads "
                 "elements, is not emulated");
  EXPECT_REFUSED(a.all.interleave = 1, "unknown: interleaved layouts are not emulated");
  EXPECT_REFUSED(a.all.swizzle = 4,
                 "unknown: swizzles of atoms of 32 and 64 bytes are not emulated");
}

}  // namespace
}  // namespace halfgrad::emulator
