#include <halfgrad/io/zip_archive.h>

#include <gtest/gtest.h>

#include "../bytes.h"

namespace halfgrad::io::detail {
namespace {

using namespace tests;

Bytes all_of(const files::ByteSource& source) {
  Bytes all(source.size());
  EXPECT_EQ(source.read(0, all), all.size());
  return all;
}

// Puts everything into zip64's fields, as in an archive of more than 4 GiB.
TEST(ZipWriter, Zip64IsReadAgain) {
  const Bytes data[] = {bytes("hello"), {}, zeros(1000)};
  const std::vector<ZipContents> members{{"a", {data[0], data[2]}}, {"b/c", {data[1]}}};
  const std::vector<std::string> parts = format_zip(members, 0);
  ASSERT_EQ(parts.size(), 3u);
  const Bytes file = bytes(parts[0]) + data[0] + data[2] + bytes(parts[1]) + bytes(parts[2]);

  const files::ByteReader input(file, "test", "memory");
  const std::vector<ZipMember> found = read_zip_directory(input);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(all_of(unpack(found[0], input)), data[0] + data[2]);
  EXPECT_EQ(found[1].name, "b/c");
  EXPECT_EQ(unpack(found[1], input).size(), 0u);
}

TEST(ZipWriter, ManyMembersNeedZip64) {
  const std::vector<ZipContents> members(70'000, {"", {}});
  std::vector<ZipContents> named = members;
  for (std::size_t i = 0; i < named.size(); ++i) named[i].name = std::to_string(i);
  Bytes file;
  for (const std::string& part : format_zip(named)) file = std::move(file) + bytes(part);
  EXPECT_EQ(read_zip_directory(files::ByteReader(file, "test", "memory")).size(), 70'000u);
}

}  // namespace
}  // namespace halfgrad::io::detail
