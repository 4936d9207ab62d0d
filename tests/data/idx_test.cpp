#include <halfgrad/data/idx.h>

#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <zlib.h>

namespace halfgrad::data {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes zeros(size_t count) { return Bytes(count); }

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

Bytes without_last(Bytes all, size_t count) {
  all.resize(all.size() - count);
  return all;
}

Bytes with_byte(Bytes all, size_t at, int value) {
  all[at] = static_cast<std::byte>(value);
  return all;
}

template <class T>
std::vector<T> values(const IdxFile& file) {
  std::vector<T> result(file.data.size() / sizeof(T));
  std::memcpy(result.data(), file.data.data(), file.data.size());
  return result;
}

std::string error_of(const Bytes& input) {
  try {
    parse_idx(input, "digits");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

/// A folder for one test's files.
class Folder {
 public:
  Folder() : path_(std::filesystem::path(testing::TempDir()) / name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& file) const { return path_ / file; }

 private:
  static std::string name() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("halfgrad_") + info->test_suite_name() + "_" + info->name();
  }
  std::filesystem::path path_;
};

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

struct Malformed {
  const char* name;
  Bytes input;
  const char* message;
};

std::vector<Malformed> malformed() {
  const Bytes packed = gzip(kThree);
  const Bytes large = gzip(bytes({0, 0, 8, 1, 0, 1, 0, 0}) + zeros(65536));
  const Bytes huge = bytes({255, 255, 255, 255});
  return {
      {"empty file", {}, "expected 4 bytes of magic number, got 0"},
      {"one byte", bytes({0}), "expected 4 bytes of magic number, got 1"},
      {"half a magic number", bytes({0, 0, 8}), "expected 4 bytes of magic number, got 3"},
      {"little-endian magic", bytes({1, 8, 0, 0}) + zeros(8), "begins with two zero bytes"},
      {"text", bytes({'P', '5', '\n', '2'}), "begins with two zero bytes"},
      {"second byte set", bytes({0, 1, 8, 1, 0, 0, 0, 0}), "begins with two zero bytes"},
      {"zip archive", bytes({'P', 'K', 3, 4}), "or gzip's 1F 8B"},
      {"type 0", bytes({0, 0, 0, 1, 0, 0, 0, 0}), "13 or 14 in the third byte, got 0"},
      {"type 7", bytes({0, 0, 7, 1, 0, 0, 0, 0}), "13 or 14 in the third byte, got 7"},
      {"type 10", bytes({0, 0, 10, 1, 0, 0, 0, 0}), "13 or 14 in the third byte, got 10"},
      {"type 15", bytes({0, 0, 15, 1, 0, 0, 0, 0}), "13 or 14 in the third byte, got 15"},
      {"type 255", bytes({0, 0, 255, 1, 0, 0, 0, 0}), "13 or 14 in the third byte, got 255"},
      {"no dimensions", bytes({0, 0, 8, 0, 1}), "expected 1 to 8 dimensions, got 0"},
      {"nine dimensions", bytes({0, 0, 8, 9}) + zeros(36), "expected 1 to 8 dimensions, got 9"},
      {"255 dimensions", bytes({0, 0, 8, 255}) + zeros(1020), "1 to 8 dimensions, got 255"},
      {"dimension missing", bytes({0, 0, 8, 1}), "expected 4 bytes of dimension, got 0"},
      {"dimension cut", bytes({0, 0, 8, 1, 0, 0, 0}), "expected 4 bytes of dimension, got 3"},
      {"second dimension missing", bytes({0, 0, 8, 2, 0, 0, 0, 0}), "of dimension, got 0"},
      {"little-endian dimension", bytes({0, 0, 8, 1, 3, 0, 0, 0, 7, 8, 9}),
       "expected at most 3 elements in a file of this size, got 1 x 50331648"},
      {"dimension of 2^32 - 1", bytes({0, 0, 8, 1}) + huge + zeros(9), "got 1 x 4294967295"},
      {"product beyond 2^64", bytes({0, 0, 8, 3}) + huge + huge + huge, "got 1 x 4294967295"},
      {"product wraps to zero",
       bytes({0, 0, 8, 3, 0, 0, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 2}) + zeros(40),
       "got 2 x 2147483648"},
      {"elements fit, their bytes do not", bytes({0, 0, 0x0E, 1, 0, 0, 0, 2}) + zeros(15),
       "expected at most 1 elements in a file of this size, got 1 x 2"},
      {"data missing", kOneDim, "expected at most 0 elements"},
      {"data cut", without_last(kThree, 1), "expected at most 2 elements"},
      {"data cut behind two dimensions", bytes({0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 5, 6}),
       "expected at most 2 elements in a file of this size, got 1 x 3"},
      {"trailing byte", kThree + zeros(1), "expected the end of the data, got more bytes"},
      {"file twice", kThree + kThree, "expected the end of the data, got more bytes"},
      {"empty dimension with data", bytes({0, 0, 8, 1, 0, 0, 0, 0, 1}), "the end of the data"},
      {"gzip magic alone", bytes({0x1F, 0x8B}), "a whole gzip stream, got a truncated one"},
      {"gzip header cut", without_last(packed, packed.size() - 9), "got a truncated one"},
      {"gzip data cut", without_last(large, 12), "got a truncated one"},
      {"gzip checksum missing", without_last(packed, 8), "got a truncated one"},
      {"gzip length cut", without_last(packed, 1), "got a truncated one"},
      {"gzip checksum wrong", with_byte(packed, packed.size() - 8, 0), "incorrect data check"},
      {"gzip length wrong", with_byte(packed, packed.size() - 4, 99), "incorrect length check"},
      {"gzip method unknown", with_byte(packed, 2, 7), "unknown compression method"},
      {"gzip flags reserved", with_byte(packed, 3, 0xE0), "unknown header flags set"},
      {"gzip block type reserved", with_byte(packed, 10, 7), "invalid block type"},
      {"gzip with trailing garbage", packed + zeros(5),
       "expected the end of the file after the gzip stream, got 5 more bytes"},
      {"gzip of two members", packed + packed, "the end of the file after the gzip stream"},
      {"gzip of gzip", gzip(packed), "begins with two zero bytes"},
      {"gzip of nothing", gzip({}), "expected 4 bytes of magic number, got 0"},
      {"gzip with too little data", gzip(without_last(kThree, 1)), "3 bytes of data, got 2"},
      {"gzip with a trailing byte", gzip(kThree + zeros(1)), "expected the end of the data"},
      {"gzip with a huge dimension", gzip(bytes({0, 0, 8, 1}) + huge), "in a file of this size"},
  };
}

TEST(Idx, RefusesEveryMalformedInputWithItsMessage) {
  for (const Malformed& m : malformed()) {
    const std::string error = error_of(m.input);
    EXPECT_NE(error.find(m.message), std::string::npos) << m.name << ": " << error;
    EXPECT_EQ(error.rfind("read_idx: expected ", 0), 0u) << m.name << ": " << error;
    EXPECT_NE(error.find(" in digits at byte "), std::string::npos) << m.name << ": " << error;
  }
}

TEST(Idx, MessagesSayWhere) {
  EXPECT_EQ(error_of(bytes({0, 0, 8, 1, 0, 0})),
            "read_idx: expected 4 bytes of dimension, got 2 in digits at byte 4");
  EXPECT_EQ(error_of(kThree + zeros(1)),
            "read_idx: expected the end of the data, got more bytes in digits at byte 11");
}

TEST(Idx, RefusesEveryTruncationAndSurvivesEveryFlippedBit) {
  for (const Bytes& whole : {kThree, gzip(kThree)})
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(error_of(without_last(whole, whole.size() - size)), "no error") << size;
      for (int bit = 0; bit < 8; ++bit)
        error_of(with_byte(whole, size, std::to_integer<int>(whole[size]) ^ (1 << bit)));
    }
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
  std::ifstream stream(folder / "file", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(text, std::string("\0\0\x0C\1\0\0\0\1\1\2\3\4", 12));
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
