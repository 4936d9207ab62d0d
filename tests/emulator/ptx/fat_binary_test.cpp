#include <halfgrad/emulator/ptx/fat_binary.h>

#include <cstring>
#include <stdexcept>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

using Compression = FatBinaryEntry::Compression;
using EntryKind = FatBinaryEntry::Kind;

const std::string kText =
    ".version 8.0\n.target sm_80\n.address_size 64\n.version.version.version\n";
constexpr std::uint64_t kPlain = 0x11, kLz4 = 0x2011, kZstd = 0x8011;
constexpr unsigned char kTextByLz4[] = {
    0xf4, 0x1d, 0x2e, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x20, 0x38, 0x2e, 0x30, 0x0a,
    0x2e, 0x74, 0x61, 0x72, 0x67, 0x65, 0x74, 0x20, 0x73, 0x6d, 0x5f, 0x38, 0x30, 0x0a, 0x2e,
    0x61, 0x64, 0x64, 0x72, 0x65, 0x73, 0x73, 0x5f, 0x73, 0x69, 0x7a, 0x65, 0x20, 0x36, 0x34,
    0x0a, 0x2c, 0x00, 0x09, 0x08, 0x00, 0x50, 0x69, 0x6f, 0x6e, 0x0a, 0x00};
constexpr unsigned char kTextByZstd[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x46, 0xb5, 0x01, 0x00, 0xe2, 0xc2, 0x0a, 0x11, 0xb0, 0xeb, 0x20,
    0x24, 0xb3, 0x0b, 0x13, 0x78, 0x9f, 0xa4, 0x2e, 0x6c, 0x5c, 0x30, 0xf4, 0xbc, 0x05, 0xc0, 0x16,
    0x03, 0xf5, 0xa5, 0x97, 0x5f, 0xf7, 0x1c, 0x93, 0x0e, 0xa4, 0xa8, 0x63, 0x53, 0xb4, 0xa6, 0xa5,
    0x43, 0x12, 0x5c, 0x2c, 0x7d, 0xd5, 0x65, 0x02, 0x00, 0x2b, 0x08, 0xf0, 0x11, 0xaa, 0x0c};

/// Fat binaries, field by field as nvcc 13.0 wrote them.
class Writer {
 public:
  void add(std::uint16_t kind, unsigned architecture, std::uint64_t flags, std::string_view payload,
           std::uint64_t text_bytes = 0) {
    const std::size_t padded = (payload.size() + 7) / 8 * 8;
    put<std::uint16_t>(kind);
    put<std::uint16_t>(0x101);
    put<std::uint32_t>(64);
    put<std::uint64_t>(padded);
    put<std::uint32_t>(flags == kPlain ? 0 : static_cast<std::uint32_t>(payload.size()));
    put<std::uint32_t>(0);
    put<std::uint16_t>(0);
    put<std::uint16_t>(9);
    put<std::uint32_t>(architecture);
    put<std::uint64_t>(0);
    put<std::uint64_t>(flags);
    put<std::uint64_t>(0);
    put<std::uint64_t>(text_bytes);
    bytes_ += payload;
    bytes_.append(padded - payload.size(), '\0');
  }

  std::string finish() const {
    std::string head("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
    const std::uint64_t size = bytes_.size();
    head.append(reinterpret_cast<const char*>(&size), sizeof(size));
    return head + bytes_;
  }

 private:
  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  std::string bytes_;
};

template <std::size_t n>
std::string_view view(const unsigned char (&bytes)[n]) {
  return {reinterpret_cast<const char*>(bytes), n};
}

std::string reading_error_of(std::span<const FatBinaryEntry> entries, unsigned most) {
  try {
    best_ptx(entries, most);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(FatBinary, PlainAndCompressedText) {
  Writer writer;
  writer.add(2, 90, kPlain,
             "\x7f"
             "ELF");
  writer.add(1, 80, kPlain, kText);
  writer.add(1, 86, kLz4, view(kTextByLz4), kText.size() + 1);
  writer.add(1, 90, kZstd, view(kTextByZstd), kText.size() + 1);
  const std::string bytes = writer.finish();
  const auto found = entries(bytes.data());
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].kind, EntryKind::machine_code);
  EXPECT_EQ(found[0].architecture, 90u);
  EXPECT_EQ(found[1].compression, Compression::none);
  EXPECT_EQ(found[2].compression, Compression::lz4);
  EXPECT_EQ(found[3].compression, Compression::zstd);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(ptx(found[i]), kText) << i;
}

TEST(FatBinary, TheBestTextIsTheHighestThatTheGpuRuns) {
  Writer writer;
  for (const unsigned architecture : {70, 90, 80}) {
    writer.add(1, architecture, kPlain, "sm_" + std::to_string(architecture));
  }
  const std::string bytes = writer.finish();
  const auto found = entries(bytes.data());
  EXPECT_EQ(best_ptx(found, 89), "sm_80");
  EXPECT_EQ(best_ptx(found, 120), "sm_90");
  EXPECT_EQ(best_ptx(found, 70), "sm_70");
  EXPECT_EQ(reading_error_of(found, 60),
            "the program has no PTX for sm_60 or below; build it with nvcc -cudart shared -gencode "
            "arch=compute_80,code=compute_80");
}

TEST(FatBinary, AFileWithSeveral) {
  Writer first, second;
  first.add(1, 80, kPlain, "a");
  second.add(1, 80, kPlain, "b");
  const std::string magic("\x50\xed\x55\xba", 4);
  const std::string file = "ELF" + magic + first.finish() + magic + "xx" + second.finish() + magic;
  const auto found = entries_in_file(file);  // entries point into the file
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(ptx(found[0]), "a");
  EXPECT_EQ(ptx(found[1]), "b");
}

TEST(FatBinary, BytesThatAreNone) {
  EXPECT_THROW(entries("0123456789abcdef"), std::runtime_error);
  EXPECT_TRUE(entries_in_file("").empty());

  Writer writer;
  writer.add(1, 80, kPlain, kText);
  std::string bytes = writer.finish();
  bytes[16 + 4] = 1;  // a header of one byte
  EXPECT_THROW(entries(bytes.data()), std::runtime_error);
  bytes = writer.finish();
  bytes[16 + 8] = '\xff';  // a payload that ends after the file
  EXPECT_THROW(entries(bytes.data()), std::runtime_error);
}

TEST(FatBinary, CompressedBytesThatAreDamaged) {
  Writer writer;
  writer.add(1, 80, kLz4, view(kTextByLz4).substr(0, 40), kText.size() + 1);
  writer.add(1, 80, kZstd, view(kTextByZstd).substr(0, 40), kText.size() + 1);
  writer.add(1, 80, kZstd, view(kTextByZstd), kText.size());
  writer.add(1, 80, 0x1011, kText, kText.size());
  const std::string bytes = writer.finish();
  for (const FatBinaryEntry& entry : entries(bytes.data())) {
    EXPECT_THROW(ptx(entry), std::runtime_error);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
