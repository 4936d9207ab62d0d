#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/report/trace/crc32c.h>
#include <halfgrad/report/trace/protobuf_message.h>
#include <halfgrad/report/trace/tensorboard_writer.h>
#include <halfgrad/tests/folder.h>

namespace halfgrad::report {
namespace {

std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <class T>
T read_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The payloads of a file's records. Throws if a check does not fit its bytes.
std::vector<std::string> records_of(const std::filesystem::path& file) {
  const std::string text = text_of_file(file);
  const std::string_view bytes = text;
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = read_at<std::uint64_t>(bytes, at);
    const std::string_view payload = bytes.substr(at + 12, length);
    if (read_at<std::uint32_t>(bytes, at + 8) != masked(crc32c(bytes.substr(at, 8))) ||
        read_at<std::uint32_t>(bytes, at + 12 + length) != masked(crc32c(payload))) {
      throw std::runtime_error("expected a check that fits");
    }
    records.emplace_back(payload);
    at += 12 + length + 4;
  }
  return records;
}

TEST(Crc32c, MatchesPublishedValues) {
  // RFC 3720, appendix B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(ProtobufMessage, EncodesTheExamplesOfTheSpecification) {
  // https://protobuf.dev/programming-guides/encoding
  EXPECT_EQ(ProtobufMessage().integer(1, 150).bytes(), "\x08\x96\x01");
  EXPECT_EQ(ProtobufMessage().text(2, "testing").bytes(), "\x12\x07testing");
  const auto inner = ProtobufMessage().integer(1, 150);
  EXPECT_EQ(ProtobufMessage().message(3, inner).bytes(), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(ProtobufMessage().integer(1, -2).bytes(),
            "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(ProtobufMessage().float32(1, 1).bytes(), std::string("\x0d\0\0\x80\x3f", 5));
  EXPECT_EQ(ProtobufMessage().float64(1, 1).bytes(), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
}

TEST(TensorBoardWriter, WritesRecordsWithChecks) {
  const tests::Folder folder;
  TensorBoardWriter board(folder / "runs/first");
  board.add_scalar("loss", 0.5, 7);
  const std::vector<std::string> records = records_of(board.file());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_NE(records[0].find("brain.Event:2"), std::string::npos);
  // step 7; a summary with one value: tag "loss", simple_value 0.5
  EXPECT_EQ(records[1].substr(9),
            std::string("\x10\x07\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 17));
}

TEST(TensorBoardWriter, EachWriterHasAFileOfItsOwn) {
  const tests::Folder folder;
  const TensorBoardWriter one(folder / "runs"), other(folder / "runs");
  EXPECT_NE(one.file(), other.file());
}

TEST(TensorBoardWriter, RefusesAFolderThatCannotBeWritten) {
  const tests::Folder folder;
  std::ofstream(folder / "file") << "text";
  EXPECT_THROW(TensorBoardWriter(folder / "file"), files::WriteError);
}

TEST(TensorBoardWriter, RefusesEventsAfterClose) {
  const tests::Folder folder;
  TensorBoardWriter board(folder / "runs");
  board.close();
  board.close();
  EXPECT_THROW(board.add_scalar("loss", 1, 0), std::logic_error);
}

TEST(TensorBoardWriter, RefusesHistogramsOfIntegers) {
  const tests::Folder folder;
  TensorBoardWriter board(folder / "runs");
  EXPECT_THROW(board.add_histogram("x", Array::full({2}, 1, kInt64, kCPU), 0),
               std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::report
