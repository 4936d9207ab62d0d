#include <halfgrad/io/npy.h>

#include "../malformed/expect.h"
#include "../malformed/npy.h"

namespace halfgrad::tests::npy_files {
namespace {

using namespace io;

TEST(NpyMalformed, EachIsRefusedWithItsCode) {
  const std::vector<Malformed> list = malformed();
  EXPECT_GE(list.size(), 60u);
  expect_refused(list, "load_npy", parse_npy);
}

TEST(NpyMalformed, EveryTruncationAndFlippedBitIsHandled) {
  expect_robust(shaped("(2, 1)", 8), parse_npy);
}

}  // namespace
}  // namespace halfgrad::tests::npy_files
