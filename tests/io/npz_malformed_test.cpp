#include <halfgrad/io/npy.h>

#include "../malformed/expect.h"
#include "../malformed/npz.h"

namespace halfgrad::tests::npz_files {
namespace {

using namespace io;

void parse(const Bytes& file, const std::string& name) { parse_npz(file, name); }

TEST(NpzMalformed, EachIsRefusedWithItsCode) {
  const std::vector<Malformed> list = malformed();
  EXPECT_GE(list.size(), 60u);
  expect_refused(list, "load_npz", parse);
}

TEST(NpzMalformed, EveryTruncationAndFlippedBitIsHandled) {
  expect_robust(zip({zip_part("a.npy", kArray), zip_part("b/c.npy", kArray, true)}), parse);
}

TEST(Npz, UnpacksACompressionRatioOf200) {
  const Bytes array = npy("(100000,)", zeros(100'000));
  const Bytes file = zip({zip_part("a.npy", array, true)});
  ASSERT_LT(file.size() * 200, array.size());
  EXPECT_EQ(parse_npz(file).at("a").numel(), 100'000);
}

TEST(Npz, ReadsDataDescriptorsAndComments) {
  ZipPart part = zip_part("a.npy", kArray, true);
  part.local.flags = part.directory.flags = 8;
  part.local.crc = part.local.size = part.local.packed_size = 0;
  const Bytes file = zip({part, zip_part("b.npy", kArray)}, [](ZipEnd& end) {
    end.comment = bytes("hello");
    end.comment_length = 5;
  });
  EXPECT_EQ(parse_npz(file).at("a").to_vector<int>(), (std::vector<int>{7, 8, 9}));
}

TEST(Npz, ReadsZip64) {
  const Bytes file = wide([](const ZipEnd& end) {
    return zip64_end(1, end.size, end.start) + zip64_locator(end.start + end.size);
  });
  EXPECT_EQ(parse_npz(file).at("a").to_vector<int>(), (std::vector<int>{7, 8, 9}));
}

}  // namespace
}  // namespace halfgrad::tests::npz_files
