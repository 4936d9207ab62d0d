#include <halfgrad/data/idx.h>
#include <halfgrad/tests/message_of.h>

#include <cstring>

#include <gtest/gtest.h>

#include "../folder.h"
#include "../malformed/expect.h"
#include "../malformed/idx.h"

namespace halfgrad::tests::idx_files {
namespace {

using namespace data;

void parse(const Bytes& file, const std::string& name) { parse_idx(file, name); }

template <class T>
std::vector<T> values(const IdxFile& file) {
  std::vector<T> result(file.data.size() / sizeof(T));
  std::memcpy(result.data(), file.data.data(), file.data.size());
  return result;
}

std::string error_of(const Bytes& input) {
  return message_of<std::runtime_error>([&] { parse_idx(input, "digits"); });
}

TEST(Idx, ReadsBytes) {
  for (const Bytes& input : {kThree, gzip(kThree)}) {
    const IdxFile file = parse_idx(input);
    EXPECT_EQ(file.dtype, DType::u8);
    EXPECT_EQ(file.dims, (std::vector<std::int64_t>{3}));
    EXPECT_EQ(values<std::uint8_t>(file), (std::vector<std::uint8_t>{7, 8, 255}));
  }
}

TEST(Idx, ReadsEveryTypeBigEndian) {
  const auto two = [](int code, const Bytes& data) {
    return parse_idx(bytes({0, 0, code, 1, 0, 0, 0, 2}) + data);
  };
  const Bytes floats = bytes({0x3F, 0x80, 0, 0, 0xC0, 0x20, 0, 0});
  const Bytes doubles = bytes({0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xC0, 0x04, 0, 0, 0, 0, 0, 0});
  const IdxFile shorts = two(0x0B, bytes({0xFF, 0xFE, 1, 2}));
  EXPECT_EQ(shorts.dtype, DType::i16);
  EXPECT_EQ(two(0x09, bytes({0x80, 0x7F})).dtype, DType::i8);
  EXPECT_EQ(values<std::int8_t>(two(0x09, bytes({0x80, 0x7F}))),
            (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(values<std::int16_t>(shorts), (std::vector<std::int16_t>{-2, 258}));
  EXPECT_EQ(values<std::int32_t>(two(0x0C, bytes({0x80, 0, 0, 0, 1, 2, 3, 4}))),
            (std::vector<std::int32_t>{INT32_MIN, 0x01020304}));
  EXPECT_EQ(values<float>(two(0x0D, floats)), (std::vector<float>{1, -2.5}));
  EXPECT_EQ(values<double>(two(0x0E, doubles)), (std::vector<double>{1, -2.5}));
}

TEST(Idx, KeepsTheBitsOfANan) {
  const IdxFile file = parse_idx(bytes({0, 0, 0x0D, 1, 0, 0, 0, 1, 0x7F, 0xA0, 0x12, 0x34}));
  EXPECT_EQ(values<std::uint32_t>(file), (std::vector<std::uint32_t>{0x7FA01234}));
}

TEST(Idx, ReadsEightDimsAndEmptyOnes) {
  Bytes input = bytes({0, 0, 8, 8});
  for (int i = 0; i < 8; ++i) input = input + bytes({0, 0, 0, i == 3 ? 2 : 1});
  EXPECT_EQ(parse_idx(input + zeros(2)).dims, (std::vector<std::int64_t>{1, 1, 1, 2, 1, 1, 1, 1}));
  const IdxFile empty = parse_idx(bytes({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 28}));
  EXPECT_EQ(empty.dims, (std::vector<std::int64_t>{0, 28}));
  EXPECT_TRUE(empty.data.empty());
  EXPECT_TRUE(parse_idx(gzip(bytes({0, 0, 8, 1, 0, 0, 0, 0}))).data.empty());
}

TEST(Idx, ReadsGzipWithACompressionRatioOf900) {
  const Bytes input = bytes({0, 0, 8, 1, 0, 0x80, 0, 0}) + zeros(1 << 23);
  const Bytes packed = gzip(input);
  ASSERT_LT(packed.size() * 900, input.size());
  EXPECT_EQ(parse_idx(packed).data, zeros(1 << 23));
}

TEST(Idx, RefusesEveryMalformedFileWithItsCode) {
  const std::vector<Malformed> list = malformed();
  EXPECT_GE(list.size(), 60u);
  expect_refused(list, "read_idx", parse, 1 << 17);
}

TEST(Idx, MessagesSayWhere) {
  EXPECT_EQ(error_of(bytes({0, 0, 8, 1, 0, 0})),
            "read_idx: expected 4 bytes of dimension, got 2 in digits at byte 4");
  EXPECT_EQ(error_of(kThree + zeros(1)),
            "read_idx: expected the end of the data, got more bytes in digits at byte 11");
}

TEST(Idx, RefusesEveryTruncationAndSurvivesEveryFlippedBit) {
  for (const Bytes& whole : {kThree, gzip(kThree)}) expect_robust(whole, parse);
}

TEST(Idx, ReadsBackTheFilesThatItWrites) {
  const Folder folder;
  const IdxFile files[] = {
      {DType::u8, {2, 3}, bytes({1, 2, 3, 4, 5, 255})},
      {DType::i8, {3}, bytes({0x80, 0xFF, 0x7F})},
      {DType::i16, {1, 2}, bytes({1, 2, 3, 0x80})},
      {DType::i32, {1, 2}, bytes({1, 2, 3, 4, 5, 6, 7, 0x80})},
      {DType::f32, {2}, bytes({0, 0, 0x80, 0x7F, 1, 0, 0xA0, 0x7F})},
      {DType::f64, {1, 1, 1}, bytes({1, 2, 3, 4, 5, 6, 7, 8})},
      {DType::f32, {0, 5}, {}},
  };
  for (const IdxFile& file : files) {
    write_idx(folder / "file", file);
    const IdxFile read = read_idx(folder / "file");
    EXPECT_EQ(read.dtype, file.dtype);
    EXPECT_EQ(read.dims, file.dims);
    EXPECT_EQ(read.data, file.data);
  }
}

TEST(Idx, WritesTheExpectedBytes) {
  const Folder folder;
  write_idx(folder / "file", {DType::i32, {1}, bytes({4, 3, 2, 1})});
  EXPECT_EQ(contents(folder / "file"), bytes({0, 0, 12, 1, 0, 0, 0, 1, 1, 2, 3, 4}));
}

TEST(Idx, RefusesToWriteContentsThatTheFormatLacks) {
  const Folder folder;
  const std::int64_t large = std::int64_t{1} << 31;
  const IdxFile files[] = {
      {DType::u8, {}, bytes({1})},
      {DType::u8, std::vector<std::int64_t>(9, 1), bytes({1})},
      {DType::u8, {-1}, {}},
      {DType::u8, {std::int64_t{1} << 32}, {}},
      {DType::u8, {2}, bytes({1})},
      {DType::u8, {1, 1}, bytes({1, 2})},
      {DType::f32, {1}, bytes({1})},
      {DType::u8, {large, large, 4}, {}},
      {DType::u8, {large, large, large}, {}},
      {DType::u8, {0, large, large, large}, {}},
      {DType::f16, {1}, bytes({1, 2})},
      {DType::i64, {1}, zeros(8)},
      {DType::boolean, {1}, bytes({1})},
  };
  for (const IdxFile& file : files)
    EXPECT_THROW(write_idx(folder / "file", file), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder / "file"));
}

TEST(Idx, NamesTheFileThatCannotBeReadOrWritten) {
  const Folder folder;
  for (const auto& path : {folder / "missing", folder / ""}) {
    try {
      read_idx(path);
      ADD_FAILURE() << path;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(write_idx(folder / "missing/file", {DType::u8, {0}, {}}), std::runtime_error);
}

}  // namespace
}  // namespace halfgrad::tests::idx_files
