#include <halfgrad/data/idx.h>
#include <halfgrad/tests/message_of.h>

#include <cstring>

#include <gtest/gtest.h>
#include <zlib.h>

#include "../bytes.h"
#include "../malformed.h"

namespace halfgrad::data {
namespace {

using files::FormatCode;

using namespace tests;

Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, plain.size()) + 32);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

template <class T>
std::vector<T> values(const IdxFile& file) {
  std::vector<T> result(file.data.size() / sizeof(T));
  std::memcpy(result.data(), file.data.data(), file.data.size());
  return result;
}

std::string error_of(const Bytes& input) {
  return message_of<std::runtime_error>([&] { parse_idx(input, "digits"); });
}

const Bytes kOneDim = bytes({0, 0, 8, 1, 0, 0, 0, 3});
const Bytes kThree = kOneDim + bytes({7, 8, 255});

TEST(Idx, ReadsBytes) {
  for (const Bytes& input : {kThree, gzip(kThree)}) {
    const IdxFile file = parse_idx(input);
    EXPECT_EQ(file.dtype, DType::u8);
    EXPECT_EQ(file.dims, (std::vector<int64_t>{3}));
    EXPECT_EQ(values<uint8_t>(file), (std::vector<uint8_t>{7, 8, 255}));
  }
}

TEST(Idx, ReadsEveryTypeBigEndian) {
  const auto two = [](int code, const Bytes& data) {
    return parse_idx(bytes({0, 0, code, 1, 0, 0, 0, 2}) + data);
  };
  const Bytes floats = bytes({0x3F, 0x80, 0, 0, 0xC0, 0x20, 0, 0});
  const Bytes doubles = bytes({0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xC0, 0x04, 0, 0, 0, 0, 0, 0});
  using Ints = std::vector<int32_t>;
  EXPECT_EQ(values<int32_t>(two(0x09, bytes({0x80, 0x7F}))), (Ints{-128, 127}));
  EXPECT_EQ(values<int32_t>(two(0x0B, bytes({0xFF, 0xFE, 1, 2}))), (Ints{-2, 258}));
  EXPECT_EQ(values<int32_t>(two(0x0C, bytes({0x80, 0, 0, 0, 1, 2, 3, 4}))),
            (Ints{INT32_MIN, 0x01020304}));
  EXPECT_EQ(values<float>(two(0x0D, floats)), (std::vector<float>{1, -2.5}));
  EXPECT_EQ(values<double>(two(0x0E, doubles)), (std::vector<double>{1, -2.5}));
}

TEST(Idx, KeepsTheBitsOfANan) {
  const IdxFile file = parse_idx(bytes({0, 0, 0x0D, 1, 0, 0, 0, 1, 0x7F, 0xA0, 0x12, 0x34}));
  EXPECT_EQ(values<uint32_t>(file), (std::vector<uint32_t>{0x7FA01234}));
}

TEST(Idx, ReadsEightDimsAndEmptyOnes) {
  Bytes input = bytes({0, 0, 8, 8});
  for (int i = 0; i < 8; ++i) input = input + bytes({0, 0, 0, i == 3 ? 2 : 1});
  EXPECT_EQ(parse_idx(input + zeros(2)).dims, (std::vector<int64_t>{1, 1, 1, 2, 1, 1, 1, 1}));
  const IdxFile empty = parse_idx(bytes({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 28}));
  EXPECT_EQ(empty.dims, (std::vector<int64_t>{0, 28}));
  EXPECT_TRUE(empty.data.empty());
  EXPECT_TRUE(parse_idx(gzip(bytes({0, 0, 8, 1, 0, 0, 0, 0}))).data.empty());
}

TEST(Idx, ReadsGzipThatPacksAThousandfold) {
  const Bytes input = bytes({0, 0, 8, 1, 0, 0x80, 0, 0}) + zeros(1 << 23);
  const Bytes packed = gzip(input);
  ASSERT_LT(packed.size() * 900, input.size());
  EXPECT_EQ(parse_idx(packed).data, zeros(1 << 23));
}

std::vector<Malformed> malformed() {
  const Bytes packed = gzip(kThree);
  const Bytes large = gzip(bytes({0, 0, 8, 1, 0, 1, 0, 0}) + zeros(65536));
  const Bytes huge = bytes({255, 255, 255, 255});
  return {
      {"empty file", {}, FormatCode::truncated, "expected 4 bytes of magic number, got 0"},
      {"one byte", bytes({0}), FormatCode::truncated, "expected 4 bytes of magic number, got 1"},
      {"half a magic number", bytes({0, 0, 8}), FormatCode::truncated,
       "expected 4 bytes of magic number, got 3"},
      {"little-endian magic", bytes({1, 8, 0, 0}) + zeros(8), FormatCode::bad_magic,
       "begins with two zero bytes"},
      {"text", bytes({'P', '5', '\n', '2'}), FormatCode::bad_magic, "begins with two zero bytes"},
      {"second byte set", bytes({0, 1, 8, 1, 0, 0, 0, 0}), FormatCode::bad_magic,
       "begins with two zero bytes"},
      {"zip archive", bytes({'P', 'K', 3, 4}), FormatCode::bad_magic, "or gzip's 1F 8B"},
      {"type 0", bytes({0, 0, 0, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype,
       "13 or 14 in the third byte, got 0"},
      {"type 7", bytes({0, 0, 7, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype,
       "13 or 14 in the third byte, got 7"},
      {"type 10", bytes({0, 0, 10, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype,
       "13 or 14 in the third byte, got 10"},
      {"type 15", bytes({0, 0, 15, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype,
       "13 or 14 in the third byte, got 15"},
      {"type 255", bytes({0, 0, 255, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype,
       "13 or 14 in the third byte, got 255"},
      {"no dimensions", bytes({0, 0, 8, 0, 1}), FormatCode::bad_shape,
       "expected 1 to 8 dimensions, got 0"},
      {"nine dimensions", bytes({0, 0, 8, 9}) + zeros(36), FormatCode::bad_shape,
       "expected 1 to 8 dimensions, got 9"},
      {"255 dimensions", bytes({0, 0, 8, 255}) + zeros(1020), FormatCode::bad_shape,
       "1 to 8 dimensions, got 255"},
      {"dimension missing", bytes({0, 0, 8, 1}), FormatCode::truncated,
       "expected 4 bytes of dimension, got 0"},
      {"dimension cut", bytes({0, 0, 8, 1, 0, 0, 0}), FormatCode::truncated,
       "expected 4 bytes of dimension, got 3"},
      {"second dimension missing", bytes({0, 0, 8, 2, 0, 0, 0, 0}), FormatCode::truncated,
       "of dimension, got 0"},
      {"little-endian dimension", bytes({0, 0, 8, 1, 3, 0, 0, 0, 7, 8, 9}), FormatCode::truncated,
       "expected at most 3 elements in a file of this size, got 1 x 50331648"},
      {"dimension of 2^32 - 1", bytes({0, 0, 8, 1}) + huge + zeros(9), FormatCode::truncated,
       "got 1 x 4294967295"},
      {"product beyond 2^64", bytes({0, 0, 8, 3}) + huge + huge + huge, FormatCode::truncated,
       "got 1 x 4294967295"},
      {"product wraps to zero",
       bytes({0, 0, 8, 3, 0, 0, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 2}) + zeros(40),
       FormatCode::truncated, "got 2 x 2147483648"},
      {"elements fit, their bytes do not", bytes({0, 0, 0x0E, 1, 0, 0, 0, 2}) + zeros(15),
       FormatCode::truncated, "expected at most 1 elements in a file of this size, got 1 x 2"},
      {"data missing", kOneDim, FormatCode::truncated, "expected at most 0 elements"},
      {"data cut", without_last(kThree, 1), FormatCode::truncated, "expected at most 2 elements"},
      {"data cut behind two dimensions", bytes({0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 5, 6}),
       FormatCode::truncated, "expected at most 2 elements in a file of this size, got 1 x 3"},
      {"trailing byte", kThree + zeros(1), FormatCode::trailing_bytes,
       "expected the end of the data, got more bytes"},
      {"file twice", kThree + kThree, FormatCode::trailing_bytes,
       "expected the end of the data, got more bytes"},
      {"empty dimension with data", bytes({0, 0, 8, 1, 0, 0, 0, 0, 1}), FormatCode::trailing_bytes,
       "the end of the data"},
      {"gzip magic alone", bytes({0x1F, 0x8B}), FormatCode::truncated,
       "a whole gzip stream, got a truncated one"},
      {"gzip header cut", without_last(packed, packed.size() - 9), FormatCode::truncated,
       "got a truncated one"},
      {"gzip data cut", without_last(large, 12), FormatCode::truncated, "got a truncated one"},
      {"gzip checksum missing", without_last(packed, 8), FormatCode::truncated,
       "got a truncated one"},
      {"gzip length cut", without_last(packed, 1), FormatCode::truncated, "got a truncated one"},
      {"gzip checksum wrong", with_byte(packed, packed.size() - 8, 0), FormatCode::corrupt_stream,
       "incorrect data check"},
      {"gzip length wrong", with_byte(packed, packed.size() - 4, 99), FormatCode::corrupt_stream,
       "incorrect length check"},
      {"gzip method unknown", with_byte(packed, 2, 7), FormatCode::corrupt_stream,
       "unknown compression method"},
      {"gzip flags reserved", with_byte(packed, 3, 0xE0), FormatCode::corrupt_stream,
       "unknown header flags set"},
      {"gzip block type reserved", with_byte(packed, 10, 7), FormatCode::corrupt_stream,
       "invalid block type"},
      {"gzip with trailing garbage", packed + zeros(5), FormatCode::trailing_bytes,
       "expected the end of the file after the gzip stream, got 5 more bytes"},
      {"gzip of two members", packed + packed, FormatCode::trailing_bytes,
       "the end of the file after the gzip stream"},
      {"gzip of gzip", gzip(packed), FormatCode::bad_magic, "begins with two zero bytes"},
      {"gzip of nothing", gzip({}), FormatCode::truncated,
       "expected 4 bytes of magic number, got 0"},
      {"gzip with too little data", gzip(without_last(kThree, 1)), FormatCode::truncated,
       "3 bytes of data, got 2"},
      {"gzip with a trailing byte", gzip(kThree + zeros(1)), FormatCode::trailing_bytes,
       "expected the end of the data"},
      {"gzip with a huge dimension", gzip(bytes({0, 0, 8, 1}) + huge), FormatCode::truncated,
       "in a file of this size"},
      {"dimension zero and the others beyond 2^63",
       bytes({0, 0, 8, 4, 0, 0, 0, 0}) + huge + huge + huge, FormatCode::size_overflow},
      {"doubles, and a product beyond 2^63 but for a zero",
       bytes({0, 0, 14, 3, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0}), FormatCode::truncated},
      {"npy file", bytes("\x93NUMPY") + zeros(20), FormatCode::bad_magic},
      {"safetensors file", bytes({2, 0, 0, 0, 0, 0, 0, 0, '{', '}'}), FormatCode::bad_magic},
      {"byte-swapped gzip", bytes({0x8B, 0x1F, 8, 0}), FormatCode::bad_magic},
      {"png", bytes("\x89PNG\r\n\x1A\n"), FormatCode::bad_magic},
      {"first byte set", bytes({8, 0, 8, 1, 0, 0, 0, 0}), FormatCode::bad_magic},
      {"type 1", bytes({0, 0, 1, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype},
      {"type 16", bytes({0, 0, 16, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype},
      {"type with the sign bit", bytes({0, 0, 0x88, 1, 0, 0, 0, 0}), FormatCode::unknown_dtype},
      {"int16 data odd", bytes({0, 0, 11, 1, 0, 0, 0, 2, 1, 2, 3}), FormatCode::truncated},
      {"float data cut", bytes({0, 0, 13, 1, 0, 0, 0, 1, 1, 2, 3}), FormatCode::truncated},
      {"double with half the data", bytes({0, 0, 14, 1, 0, 0, 0, 1}) + zeros(4),
       FormatCode::truncated},
      {"int32 with a trailing byte", bytes({0, 0, 12, 1, 0, 0, 0, 1}) + zeros(5),
       FormatCode::trailing_bytes},
      {"float read as bytes", bytes({0, 0, 8, 1, 0, 0, 0, 1}) + zeros(4),
       FormatCode::trailing_bytes},
      {"eighth dimension cut", bytes({0, 0, 8, 8}) + zeros(31), FormatCode::truncated},
      {"gzip data damaged", with_byte(large, 20, 0xFF), FormatCode::corrupt_stream},
      {"gzip with its header alone", without_last(packed, packed.size() - 10),
       FormatCode::truncated},
  };
}

TEST(Idx, RefusesEveryMalformedFileWithItsCode) {
  const std::vector<Malformed> list = malformed();
  EXPECT_GE(list.size(), 60u);
  expect_refused(list, "read_idx", parse_idx, 1 << 17);
}

TEST(Idx, MessagesSayWhere) {
  EXPECT_EQ(error_of(bytes({0, 0, 8, 1, 0, 0})),
            "read_idx: expected 4 bytes of dimension, got 2 in digits at byte 4");
  EXPECT_EQ(error_of(kThree + zeros(1)),
            "read_idx: expected the end of the data, got more bytes in digits at byte 11");
}

TEST(Idx, RefusesEveryTruncationAndSurvivesEveryFlippedBit) {
  for (const Bytes& whole : {kThree, gzip(kThree)}) expect_robust(whole, parse_idx);
}

TEST(Idx, WritesWhatItReads) {
  const Folder folder;
  const IdxFile files[] = {
      {DType::u8, {2, 3}, bytes({1, 2, 3, 4, 5, 255})},
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
  EXPECT_FALSE(std::filesystem::exists(folder / "file.tmp"));
}

TEST(Idx, WritesTheseBytes) {
  const Folder folder;
  write_idx(folder / "file", {DType::i32, {1}, bytes({4, 3, 2, 1})});
  EXPECT_EQ(contents(folder / "file"), bytes({0, 0, 12, 1, 0, 0, 0, 1, 1, 2, 3, 4}));
}

TEST(Idx, RefusesToWriteWhatTheFormatCannotHold) {
  const Folder folder;
  const int64_t large = int64_t{1} << 31;
  const IdxFile files[] = {
      {DType::u8, {}, bytes({1})},
      {DType::u8, std::vector<int64_t>(9, 1), bytes({1})},
      {DType::u8, {-1}, {}},
      {DType::u8, {int64_t{1} << 32}, {}},
      {DType::u8, {2}, bytes({1})},
      {DType::u8, {1, 1}, bytes({1, 2})},
      {DType::f32, {1}, bytes({1})},
      {DType::u8, {large, large, 4}, {}},
      {DType::u8, {large, large, large}, {}},
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
}  // namespace halfgrad::data
