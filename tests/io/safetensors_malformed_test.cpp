#include <halfgrad/io/safetensors.h>

#include "../malformed/expect.h"
#include "../malformed/safetensors.h"

namespace halfgrad::tests::safetensors_files {
namespace {

using namespace io;

TEST(SafetensorsMalformed, EachIsRefusedWithItsCode) {
  const std::vector<Malformed> list = malformed();
  EXPECT_GE(list.size(), 60u);
  expect_refused(list, "load_safetensors", parse_safetensors);
}

TEST(SafetensorsMalformed, EveryTruncationAndFlippedBitIsHandled) {
  expect_robust(file(R"({"__metadata__":{"k":"\u00e9"},"a":)" + kScalar +
                         R"(,"b":{"dtype":"F16","shape":[1,2],"data_offsets":[1,5]}} )",
                     5),
                parse_safetensors);
}

TEST(SafetensorsMalformed, ErrorsNameTheByteAndTheFix) {
  try {
    parse_safetensors(shaped("I8", "[2]", "[0,2]", 2), "weights.safetensors");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.offset(), 13u);
    EXPECT_EQ(error.fix(), "convert it before saving");
    EXPECT_STREQ(error.what(),
                 "load_safetensors: expected BOOL, U8, I32, I64, F16, BF16, F32 or F64, got I8 for "
                 "\"a\" in weights.safetensors at byte 13; convert it before saving");
  }
}

}  // namespace
}  // namespace halfgrad::tests::safetensors_files
