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
    parse_safetensors(shaped("U64", "[2]", "[0,16]", 16), "weights.safetensors");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.offset(), 13u);
    EXPECT_EQ(error.fix(), "convert it before saving");
    EXPECT_STREQ(
        error.what(),
        "load_safetensors: expected BOOL, F16, BF16, F32, F64, I64 or an integer of at most "
        "32 bits, got U64 for \"a\" in weights.safetensors at byte 13; convert it before "
        "saving");
  }
}

}  // namespace
}  // namespace halfgrad::tests::safetensors_files
