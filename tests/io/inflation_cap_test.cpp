// Compressed files unpack to 1 GiB at most, unless the caller allows more.
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/data/idx.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/tests/message_of.h>

#include "../malformed/npy.h"
#include "../malformed/zip_builder.h"

namespace halfgrad::tests {
namespace {

constexpr std::size_t kPacked = 1'200'000;  // bytes; deflate could make 1.2e9 of them

TEST(InflationCap, AGzippedFileBeyond1GiBIsRefused) {
  const Bytes start = gzip(bytes({0, 0, 8, 1, 0x40, 0, 0, 1}));
  EXPECT_EQ(
      message_of<files::FormatError>([&] { data::parse_idx(start + zeros(kPacked), "file"); }),
      "read_idx: expected at most 1073741824 unpacked bytes, got 1073741833 in file at byte 8; "
      "pass {.max_unpacked_bytes = 1073741833} if you trust the file");
}

TEST(InflationCap, AMemberBeyond1GiBIsRefused) {
  ZipPart part = zip_part("a.npy", bytes("anything"), true);
  part.data = part.data + zeros(kPacked);
  for (ZipFields* fields : {&part.local, &part.directory}) {
    fields->packed_size = part.data.size();
    fields->size = (1 << 30) + 1;
  }
  EXPECT_EQ(
      message_of<files::FormatError>([&] { io::parse_npz(zip({part}), "file"); }),
      "load_npz: expected at most 1073741824 unpacked bytes, got 1073741825 in file at byte 0; "
      "pass {.max_unpacked_bytes = 1073741825} if you trust the file");
}

TEST(InflationCap, TheOptionCountsAllMembersTogether) {
  const Bytes array = npy_files::shaped("(100,)", 400);
  const Bytes file = zip({zip_part("a.npy", array, true), zip_part("b.npy", array, true),
                          zip_part("stored.npy", array)});
  const std::uint64_t size = 2 * array.size();
  EXPECT_EQ(io::parse_npz(file, "file", {.max_unpacked_bytes = size}).size(), 3u);
  EXPECT_NE(message_of<files::FormatError>([&] {
              io::parse_npz(file, "file", {.max_unpacked_bytes = size - 1});
            }).find("pass {.max_unpacked_bytes = " + std::to_string(size) + "}"),
            std::string::npos);
}

TEST(InflationCap, TheOptionIncludesTheHeaderOfAGzippedFile) {
  const Bytes file = gzip(bytes({0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9}));
  EXPECT_EQ(data::parse_idx(file, "file", {.max_unpacked_bytes = 11}).data.size(), 3u);
  EXPECT_THROW(data::parse_idx(file, "file", {.max_unpacked_bytes = 10}), files::FormatError);
}

TEST(InflationCap, PlainFilesHaveNone) {
  const Bytes file = bytes({0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9});
  EXPECT_EQ(data::parse_idx(file, "file", {.max_unpacked_bytes = 1}).data.size(), 3u);
}

}  // namespace
}  // namespace halfgrad::tests
